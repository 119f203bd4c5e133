// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/matrix_file.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <clocale>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <locale>

#include "io/fixture.hpp"
#include "io/matrix_market.hpp"
#include "io/npy.hpp"
#include "io/sink.hpp"

namespace stepwell::io::test {
namespace {

const char* const kMarket = "%%MatrixMarket matrix array real general\n1 2\n3\n4\n";

ErrorCode code_of_path(const std::string& path) {
  return error_of([&] { read_matrix(path); }).first;
}

TEST(MatrixFile, KnowsFormatsByTheirFirstBytes) {
  const Directory directory;
  const std::vector<double> data = {3, 4};
  EXPECT_EQ(elements(read_matrix(directory.file("no-extension", kMarket))), data);
  write_npy(directory / "a", view(data.data(), 1, 2));
  EXPECT_EQ(elements(read_matrix(directory / "a")), data);
  // The format is determined by the first bytes, not by the name.
  std::filesystem::rename(directory / "a", directory / "a.mtx");
  EXPECT_EQ(elements(read_matrix(directory / "a.mtx")), data);
  EXPECT_EQ(code_of_path(directory.file("b", "1 2 3\n")), ErrorCode::malformed);
  EXPECT_EQ(code_of_path(directory.file("b.npy", "1 2 3\n")), ErrorCode::malformed);
  EXPECT_EQ(code_of_path(directory.file("b.mtx", "1 2 3\n")), ErrorCode::malformed);
  for (const char* name : {"c", "c.npy", "c.mtx"}) {
    EXPECT_EQ(code_of_path(directory.file(name, "")), ErrorCode::truncated) << name;
    const ErrorCode one_byte = code_of_path(directory.file(name, "%"));
    EXPECT_TRUE(one_byte == ErrorCode::malformed || one_byte == ErrorCode::truncated) << name;
  }
}

TEST(MatrixFile, WritesTheFormatOfTheName) {
  const Directory directory;
  const std::vector<double> data = {1, 2, 2, 5};
  for (const char* name : {"a.npy", "a.mtx", "a.mm"}) {
    write_matrix(directory / name, view(data.data(), 2, 2), true);
    const DenseMatrix back = read_matrix(directory / name);
    EXPECT_EQ(elements(back), data) << name;
    EXPECT_EQ(back.symmetric, std::string(name) != "a.npy") << name;
  }
  EXPECT_EQ(contents(directory / "a.npy")[0], '\x93');
  EXPECT_EQ(contents(directory / "a.mtx")[0], '%');
  for (const char* name : {"a", "a.txt", "npy"}) {
    EXPECT_EQ(error_of([&] { write_matrix(directory / name, view(data.data(), 2, 2)); }).first,
              ErrorCode::invalid_argument);
  }
  for (const char* name : {"a.npy", "a.mtx"}) {
    const MatrixView<const double> bad{data.data(), 2, 2, 1};
    EXPECT_EQ(error_of([&] { write_matrix(directory / name, bad); }).first,
              ErrorCode::invalid_argument);
  }
}

TEST(MatrixFile, RefusesWhatIsNotAFile) {
  const Directory directory;
  using namespace std::string_literals;
  std::filesystem::create_symlink("loop", directory / "loop");
  ASSERT_EQ(mkfifo((directory / "fifo").c_str(), 0600), 0);
  for (const std::string& path :
       {""s, directory / "absent", directory / ".", directory / "loop", directory / "fifo",
        "/dev/zero"s, directory / "nul\0.mtx"s, directory / std::string(300, 'x')}) {
    EXPECT_EQ(code_of_path(path), ErrorCode::cannot_open) << path;
  }
}

TEST(MatrixFile, KeepsControlCharactersOutOfMessages) {
  const Directory directory;
  const auto [code, text] = error_of([&] { read_matrix(directory / "a\n\x1b[31m.mtx"); });
  EXPECT_EQ(code, ErrorCode::cannot_open);
  EXPECT_NE(text.find("a\\x0a\\x1b[31m.mtx'"), std::string::npos) << text;
  EXPECT_EQ(in_quotes(std::string(1000, 'x')).size(), 205U);
}

TEST(MatrixFile, RejectsAHugeFileAtOnce) {
  const Directory directory;
  const std::clock_t start = std::clock();  // processor time: other programs do not count
  // The rest of each file is a hole, a GiB of NUL bytes.
  for (const char* name : {"a.mtx", "a.npy"}) {
    for (const char* contents :
         {kMarket, "%%MatrixMarket matrix array real general\n9999 9999\n", "\x93NUMPY\x01", "x"}) {
      const std::string path = directory.file(name, contents);
      std::filesystem::resize_file(path, std::uint64_t{1} << 30);
      const ErrorCode code = code_of_path(path);
      EXPECT_TRUE(code == ErrorCode::malformed) << name << " " << contents;
    }
  }
  EXPECT_LT(std::clock() - start, 1 * CLOCKS_PER_SEC);
}

TEST(MatrixFile, NoticesAFileThatShrinks) {
  const Directory directory;
  const std::string path = directory.file("a", std::string(100'000, 'x'));
  Source source(path);
  std::string bytes(100'000, ' ');
  EXPECT_EQ(source.read(bytes.data(), 50'000), 50'000);
  std::filesystem::resize_file(path, 60'000);
  EXPECT_EQ(source.read(bytes.data(), 50'000), 10'000);
  EXPECT_EQ(source.left(), 0);
  EXPECT_EQ(source.read(bytes.data(), 1), 0);
}

TEST(MatrixFile, DoesNotDependOnTheLocale) {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const Directory directory;
  const std::vector<double> data = {1234567.25, 0.5};
  const std::locale before = std::locale::global(std::locale(std::locale(), new Comma));
  const std::string c_before = std::setlocale(LC_ALL, nullptr);
  std::setlocale(LC_ALL, "de_DE.UTF-8");  // if it is installed
  write_matrix(directory / "a.mtx", view(data.data(), 2, 1));
  const DenseMatrix back = read_matrix(directory / "a.mtx");
  const DenseMatrix small = read_matrix(
      directory.file("b.mtx", "%%MatrixMarket matrix array real general\n1 1\n1.5e-400\n"));
  std::setlocale(LC_ALL, c_before.c_str());
  std::locale::global(before);
  EXPECT_EQ(elements(back), data);
  EXPECT_EQ(small.data[0], 0);
  EXPECT_NE(contents(directory / "a.mtx").find("\n1234567.25\n"), std::string::npos);
}

TEST(Sink, LeavesTheOldFileOrTheNewOneAndNothingElse) {
  const Directory directory;
  const std::string path = directory.file("a", "old");
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  {
    Sink sink(path);
    sink.write("half");
  }
  EXPECT_EQ(contents(path), "old");
  EXPECT_EQ(directory.list(), "a");
  {
    Sink sink(path);
    sink.write("new ");
    sink.write(std::string(1'000'000, 'x'));
    sink.write("!");
    EXPECT_EQ(contents(path), "old");
    sink.commit();
  }
  EXPECT_EQ(contents(path), "new " + std::string(1'000'000, 'x') + "!");
  EXPECT_EQ(directory.list(), "a");
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
}

TEST(Sink, RefusesWhatItCannotReplace) {
  const Directory directory;
  using namespace std::string_literals;
  std::filesystem::create_directory(directory / "folder");
  ASSERT_EQ(mkfifo((directory / "fifo").c_str(), 0600), 0);
  for (const std::string& path : {""s, directory / "absent/a", directory / "folder",
                                  directory / "fifo", "/dev/null"s, directory / "n\0ul"s}) {
    EXPECT_EQ(error_of([&] { Sink sink(path); }).first, ErrorCode::cannot_open) << path;
  }
  EXPECT_EQ(directory.list(), "fifo folder");
}

TEST(Sink, LeavesNothingWhenTheDiskIsFull) {
  const Directory directory;
  const std::string path = directory.file("a.npy", "old");
  const std::vector<double> data(100'000);
  struct rlimit before {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit limit = before;
  limit.rlim_cur = 100'000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto [code, text] = error_of([&] { write_npy(path, view(data.data(), 1000, 100)); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(code, ErrorCode::cannot_open) << text;
  EXPECT_EQ(contents(path), "old");
  EXPECT_EQ(directory.list(), "a.npy");
}

}  // namespace
}  // namespace stepwell::io::test
