// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/small_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include "directory.hpp"

namespace stepwell::core {
namespace {

class SmallFileTest : public testing::Test {
 protected:
  std::string file(const std::string& text) {
    std::ofstream(directory_ / "file", std::ios::binary) << text;
    return directory_ / "file";
  }
  static std::errc refusal(const std::string& path, std::size_t most = 100) {
    try {
      read_small_file(path, most);
    } catch (const std::system_error& e) {
      return static_cast<std::errc>(e.code().value());
    }
    return {};
  }
  test::Directory directory_;
};

TEST_F(SmallFileTest, ReadsAFileWhole) {
  for (const std::size_t size : {0, 1, 99, 100, 65536, 200'000}) {
    std::string text(size, 'x');
    if (size > 2) text[1] = '\0';
    EXPECT_EQ(read_small_file(file(text), size), text);
    EXPECT_EQ(refusal(file(text + "more"), size + 3), std::errc::file_too_large);
  }
}

TEST_F(SmallFileTest, RefusesNonFilesWithoutWaiting) {
  EXPECT_EQ(refusal(directory_ / "absent"), std::errc::no_such_file_or_directory);
  EXPECT_EQ(refusal(directory_.path()), std::errc::is_a_directory);
  const std::string pipe = directory_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(refusal(pipe), std::errc::invalid_argument);
  EXPECT_EQ(refusal("/dev/zero"), std::errc::invalid_argument);
  std::filesystem::create_symlink("/dev/zero", directory_ / "link");
  EXPECT_EQ(refusal(directory_ / "link"), std::errc::invalid_argument);
}

}  // namespace
}  // namespace stepwell::core
