// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "hostile_files.hpp"
#include "run_command.hpp"
#include "sanitized.hpp"

/// `stepwell solve` with invalid files gives a documented exit code and one line that says why,
/// leaves no x and no other file, and ends at once.
namespace stepwell::tool {
namespace {

const std::string kGoodA = market("array real symmetric", "2 2\n2\n1\n2\n");
const std::string kGoodB = market("array real general", "2 1\n1\n2\n");

std::string put(const Directory& directory, const std::string& name, std::string_view bytes) {
  std::ofstream(directory / name, std::ios::binary) << bytes;
  return directory / name;
}

std::string quoted(const std::string& path) {
  std::string word = "'";
  for (const char c : path) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

/// Processor time of all finished child processes, in seconds.
double time_of_children() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Solves with these files in 'directory', where nothing may change. The command must end at once,
/// measured in processor time, because the wall clock of a busy machine says nothing about the
/// command.
Outcome solve_in(const Directory& directory, const std::string& a, const std::string& b,
                 const std::string& out = "x.npy", const std::string& options = "") {
  const std::string before = directory.list();
  const double start = time_of_children();
  Outcome o =
      run("solve " + quoted(a) + " " + quoted(b) + " -o " + quoted(directory / out) + options,
          "timeout 60");
  const double time = time_of_children() - start;
  EXPECT_LT(time, 5) << "seconds";
  EXPECT_EQ(directory.list(), before);
  ::testing::Test::RecordProperty("milliseconds", static_cast<int>(1000 * time));
  return o;
}

void expect_refused(const HostileFile& file, const std::string& ending) {
  const Directory directory;
  const std::string a = put(directory, "bad" + ending, file.bytes);
  const std::string b =
      file.b.empty() ? put(directory, "b.mtx", kGoodB) : put(directory, "b" + ending, file.b);
  Outcome o = solve_in(directory, a, b, "x.npy", file.options);
  EXPECT_EQ(o.out.empty(), !file.certificate) << o.out;
  if (file.certificate) o.out.clear();
  expect_error(o, file.code, file.word);
  EXPECT_NE(o.err.find(file.b.empty() ? a : directory.path()), std::string::npos) << o.err;
}

std::string name_of(const ::testing::TestParamInfo<HostileFile>& info) {
  return info.param.name;
}

class HostileMatrixMarket : public ::testing::TestWithParam<HostileFile> {};
INSTANTIATE_TEST_SUITE_P(Solve, HostileMatrixMarket, ::testing::ValuesIn(hostile_matrix_market()),
                         name_of);
TEST_P(HostileMatrixMarket, IsRefused) {
  expect_refused(GetParam(), ".mtx");
}

class HostileNpy : public ::testing::TestWithParam<HostileFile> {};
INSTANTIATE_TEST_SUITE_P(Solve, HostileNpy, ::testing::ValuesIn(hostile_npy()), name_of);
TEST_P(HostileNpy, IsRefused) {
  expect_refused(GetParam(), ".npy");
}

TEST(Hostile, ThingsThatAreNoFilesCannotBeOpened) {
  const Directory directory;
  const std::string b = put(directory, "b.mtx", kGoodB);
  const auto path = [&](const char* name) { return directory / name; };
  std::filesystem::create_directory(path("directory.npy"));
  ASSERT_EQ(mkfifo(path("fifo.npy").c_str(), 0600), 0);
  ASSERT_EQ(symlink("loop.npy", path("loop.npy").c_str()), 0);
  ASSERT_EQ(symlink("nothing", path("dangling.npy").c_str()), 0);
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path("socket.npy").size(), sizeof address.sun_path);
  std::strcpy(address.sun_path, path("socket.npy").c_str());
  ASSERT_EQ(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  close(listener);
  for (const char* name : {"directory.npy", "fifo.npy", "loop.npy", "dangling.npy", "socket.npy",
                           "missing.npy", "b.mtx/inside.npy", "two\nlines.npy"}) {
    SCOPED_TRACE(name);
    expect_error(solve_in(directory, path(name), b), 10, "'");
    expect_error(solve_in(directory, put(directory, "a.mtx", kGoodA), path(name)), 10, "'");
    std::filesystem::remove(path("a.mtx"));
  }
  for (const char* name : {"/dev/zero", "/dev/null", ""}) {
    SCOPED_TRACE(name);
    expect_error(solve_in(directory, name, b), 10, "'");
  }
  expect_error(solve_in(directory, path(std::string(5000, 'n').c_str()), b), 10, "long");
}

TEST(Hostile, AFileOfNeitherFormatIsRefused) {
  const Directory directory;
  const std::string b = put(directory, "b.mtx", kGoodB);
  expect_error(solve_in(directory, put(directory, "a.txt", "1 2\n3 4\n"), b), 11, "neither");
  expect_error(solve_in(directory, put(directory, "a.txt", ""), b), 12, "empty");
  expect_error(solve_in(directory, put(directory, "a.npz", "PK\3\4"), b), 11, "neither");
}

TEST(Hostile, AWrongRightHandSideIsRefused) {
  const Directory directory;
  const std::string a = put(directory, "a.mtx", kGoodA);
  const auto with_b = [&](const std::string& name, const std::string& bytes) {
    return solve_in(directory, a, put(directory, name, bytes));
  };
  expect_error(with_b("b.mtx", market("array real general", "3 1\n1\n2\n3\n")), 16, "2 rows");
  expect_error(with_b("b.mtx", market("array real general", "1 2\n1\n2\n")), 16, "2 rows");
  expect_error(with_b("b.mtx", market("array real general", "2 1\n1\n")), 12, "b.mtx");
  expect_error(with_b("b.mtx", market("array real general", "2 1\n1\nx\n")), 11, "b.mtx");
  expect_error(with_b("b.mtx", market("coordinate real general", "2 1000000000000 0\n")), 30,
               "b and x");
  expect_error(with_b("b.mtx", market("coordinate real general", "2 4000000000000000000 0\n")), 13,
               "b and x");
  Outcome nan = with_b("b.mtx", market("array real general", "2 1\n1\nnan\n"));
  EXPECT_NE(nan.out, "");
  nan.out.clear();
  expect_error(nan, 15, "NaN");
  expect_error(with_b("b.npy", npy(dictionary("'>f8'", "False", "(2,)"), doubles({1, 2}))), 14,
               "b.npy");
}

TEST(Hostile, AWrongPlaceForXIsRefusedBeforeTheWork) {
  const Directory directory;
  const std::string a = put(directory, "a.mtx", kGoodA), b = put(directory, "b.mtx", kGoodB);
  expect_error(solve_in(directory, a, b, "x.txt"), 2, ".npy");
  expect_error(solve_in(directory, a, b, "missing/x.npy"), 10, "x.npy");
  std::filesystem::create_directory(directory / "taken.npy");
  expect_error(solve_in(directory, a, b, "taken.npy"), 10, "taken.npy");
}

/// Every prefix of a valid file; only some under the sanitizers, where the tests of the readers
/// cover all of them.
void expect_truncations_refused(const std::string& name, const std::string& whole) {
  constexpr std::size_t step = stepwell::test::kSanitized ? 13 : 1;
  const Directory directory;
  const std::string b = put(directory, "b.mtx", kGoodB);
  for (std::size_t length = 0; length < whole.size(); length += step) {
    SCOPED_TRACE(length);
    expect_error(solve_in(directory, put(directory, name, whole.substr(0, length)), b), 12, name);
  }
  const std::string a = put(directory, name, whole);
  put(directory, "x.npy", "");
  EXPECT_EQ(solve_in(directory, a, b).code, 0);
}

TEST(Hostile, TruncationAtEveryByteIsRefused) {
  expect_truncations_refused("bad.mtx", kGoodA);
  expect_truncations_refused("bad.npy",
                             npy(dictionary("'<f8'", "True", "(2, 2)"), doubles({2, 1, 1, 2})));
}

}  // namespace
}  // namespace stepwell::tool
