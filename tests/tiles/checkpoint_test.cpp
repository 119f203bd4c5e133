// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tiles/checkpoint/checkpoint.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "directory.hpp"
#include "stepwell/error.hpp"

/// A checkpoint is read as it was written, and anything else is rejected.
namespace stepwell::tiles::test {
namespace {

using stepwell::test::contents;
using stepwell::test::Directory;

const Facts kFacts = {{"order", "1000"}, {"tile", "32"}, {"map", "bf16"}};

/// Memory that a rank saves, in pieces of different sizes.
class State {
 public:
  explicit State(unsigned char first, std::vector<std::size_t> sizes = {100, 1, 0, 64}) {
    for (const std::size_t size : sizes) {
      memory_.emplace_back(size);
      for (std::byte& b : memory_.back()) b = std::byte{first++};
    }
  }
  std::vector<SavedPiece> pieces() {
    std::vector<SavedPiece> list;
    for (auto& m : memory_) list.push_back({10 + std::ssize(list), m});
    return list;
  }
  bool operator==(const State&) const = default;

 private:
  std::vector<std::vector<std::byte>> memory_;
};

void overwrite(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

template <class F>
std::string error_of(F&& call, ErrorCode code) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(CheckpointTest, ReadsWhatWasWritten) {
  const Directory directory;
  const Checkpoints c(directory / "new", 2, 4, kFacts);
  c.open();
  EXPECT_EQ(c.newest(), 0);
  State state(1);
  c.write({7, 12}, state.pieces());
  State again(77);
  EXPECT_EQ(c.verify({7, 12}, again.pieces()), "");
  EXPECT_EQ(again, State(77)) << "only looked at";
  c.read({7, 12}, again.pieces());
  EXPECT_EQ(again, state);
  EXPECT_EQ(c.newest(), 7);

  struct stat status {};
  ASSERT_EQ(stat(c.path(7).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
  EXPECT_EQ(status.st_size,
            checkpoint_file_bytes(
                {{"order", "1000"}, {"tile", "32"}, {"map", "bf16"}, {"ranks", "4"}, {"rank", "2"}},
                state.pieces()));
  ASSERT_EQ(stat((directory / "new").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700U);
}

TEST(CheckpointTest, RefusesEveryFlippedByte) {
  const Directory directory;
  const Checkpoints c(directory.path(), 0, 1, kFacts);
  State state(1);
  c.write({1, 3}, state.pieces());
  const std::string whole = contents(c.path(1));
  ASSERT_GT(whole.size(), 200U);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << at % 8));
    overwrite(c.path(1), bytes);
    State again(77);
    EXPECT_NE(c.verify({1, 3}, again.pieces()), "") << at;
    EXPECT_EQ(again, State(77));
    error_of([&] { c.read({1, 3}, again.pieces()); }, ErrorCode::malformed);
  }
  overwrite(c.path(1), whole);
  EXPECT_EQ(c.verify({1, 3}, state.pieces()), "");
}

TEST(CheckpointTest, RefusesEveryOtherLength) {
  const Directory directory;
  const Checkpoints c(directory.path(), 0, 1, kFacts);
  State state(1);
  c.write({1, 3}, state.pieces());
  const std::string whole = contents(c.path(1));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    overwrite(c.path(1), whole.substr(0, length));
    EXPECT_NE(c.verify({1, 3}, state.pieces()), "") << length;
  }
  overwrite(c.path(1), whole + '\0');
  EXPECT_EQ(c.verify({1, 3}, state.pieces()), "does not have the length that its header states");
  overwrite(c.path(1), whole + whole);
  EXPECT_NE(c.verify({1, 3}, state.pieces()), "");
}

TEST(CheckpointTest, SaysWhichFactDiffers) {
  const Directory directory;
  const auto file = directory / "file";
  State state(1);
  write_checkpoint_file(file, file + "-unfinished", kFacts, {1, 3}, state.pieces());
  for (std::size_t k = 0; k < kFacts.size(); ++k) {
    Facts other = kFacts;
    other[k].value = "9";
    EXPECT_EQ(verify_checkpoint_file(file, other, {1, 3}, state.pieces()),
              "belongs to another run: its " + kFacts[k].name + " differs; this run's is 9");
  }
  Facts more = kFacts;
  more.push_back({"shift", "0"});
  EXPECT_NE(verify_checkpoint_file(file, more, {1, 3}, state.pieces()), "");
  EXPECT_NE(verify_checkpoint_file(file, {kFacts[0], kFacts[1]}, {1, 3}, state.pieces()), "");
  EXPECT_EQ(verify_checkpoint_file(file, kFacts, {1, 3}, state.pieces()), "");
}

TEST(CheckpointTest, RefusesOtherPieces) {
  const Directory directory;
  const Checkpoints c(directory.path(), 0, 1, kFacts);
  State state(1);
  c.write({1, 3}, state.pieces());
  const char* const part = "does not hold the expected part of the factor";
  auto pieces = state.pieces();
  std::swap(pieces[0], pieces[1]);
  EXPECT_EQ(c.verify({1, 3}, pieces), part);
  std::swap(pieces[0], pieces[1]);
  pieces[3].id = 99;
  EXPECT_EQ(c.verify({1, 3}, pieces), part);
  pieces.pop_back();
  EXPECT_EQ(c.verify({1, 3}, pieces), part);
  EXPECT_EQ(c.verify({1, 4}, state.pieces()), "belongs to another generation or another column");
}

TEST(CheckpointTest, CountsAGenerationThatIsDeclaredComplete) {
  const Directory directory;
  const Checkpoints zero(directory.path(), 0, 2, kFacts);
  const Checkpoints one(directory.path(), 1, 2, kFacts);
  State state(1);
  for (const std::int64_t g : {1, 2, 10}) {
    zero.write({g, g}, state.pieces());
    one.write({g, g}, state.pieces());
    if (g < 10) zero.declare_complete({g, g});
  }
  const std::vector<Milestone> expected = {{2, 2}, {1, 1}};
  EXPECT_EQ(zero.complete(), expected);
  EXPECT_EQ(one.complete(), expected);
  EXPECT_EQ(one.newest(), 10) << "its number is not given twice";

  zero.remove_before(2);
  one.remove_before(2);
  EXPECT_EQ(zero.complete(), (std::vector<Milestone>{{2, 2}}));
  EXPECT_EQ(one.verify({1, 1}, state.pieces()), "does not exist");
  EXPECT_EQ(one.verify({2, 2}, state.pieces()), "");
  one.remove(true);
  zero.remove(true);
  EXPECT_EQ(directory.list(), "");
}

TEST(CheckpointTest, DoesNotMixGenerationsRanksOrRuns) {
  const Directory directory;
  const Checkpoints c(directory.path(), 0, 2, kFacts);
  State state(1);
  c.write({1, 3}, state.pieces());
  c.write({2, 6}, state.pieces());
  c.declare_complete({1, 3});
  c.declare_complete({2, 6});
  const auto copy = [](const std::string& from, const std::string& to) {
    std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
  };
  copy(c.path(1), c.path(2));
  EXPECT_EQ(c.verify({2, 6}, state.pieces()), "belongs to another generation or another column");
  EXPECT_EQ(c.verify({1, 3}, state.pieces()), "");
  const Checkpoints other_rank(directory.path(), 1, 2, kFacts);
  copy(c.path(1), other_rank.path(1));
  EXPECT_EQ(other_rank.verify({1, 3}, state.pieces()),
            "belongs to another run: its rank differs; this run's is 1");
  Facts facts = kFacts;
  facts[2].value = "fp32";
  const Checkpoints other_run(directory.path(), 0, 2, facts);
  EXPECT_TRUE(other_run.complete().empty());
  EXPECT_EQ(other_run.difference_to_others(),
            "belongs to another run: its map differs; this run's is fp32");
  EXPECT_EQ(c.difference_to_others(), "");
  copy(c.path(1), other_run.path(1));
  EXPECT_NE(other_run.verify({1, 3}, state.pieces()), "");

  // A file named "complete" is not trusted more than the others.
  const std::string name = c.path(1).substr(0, c.path(1).size() - 8);  // without "1-rank-0"
  copy(name + "1-complete", name + "5-complete");
  overwrite(name + "6-complete", "");
  overwrite(name + "99999999999999999999-complete", "");
  overwrite(name + "-7-complete", "");
  overwrite(name + "-complete", "");
  EXPECT_EQ(c.complete(), (std::vector<Milestone>{{2, 6}, {1, 3}}));
}

TEST(CheckpointTest, RemovesWhatAKilledWriterHasLeft) {
  const Directory directory;
  const Checkpoints c(directory.path(), 3, 4, kFacts);
  State state(1);
  c.write({1, 3}, state.pieces());
  const std::string name = c.path(1).substr(0, c.path(1).size() - 8);
  overwrite(name + "state-rank-3-unfinished", contents(c.path(1)));
  overwrite(name + "state-rank-2-unfinished", "another rank's");
  EXPECT_EQ(c.verify({1, 3}, state.pieces()), "");
  EXPECT_EQ(c.newest(), 1);
  c.open();
  EXPECT_FALSE(std::filesystem::exists(name + "state-rank-3-unfinished"));
  EXPECT_TRUE(std::filesystem::exists(name + "state-rank-2-unfinished"));
  EXPECT_EQ(c.verify({1, 3}, state.pieces()), "");
  // Without open() the next writer replaces the file.
  overwrite(name + "state-rank-3-unfinished", "rubbish");
  c.write({2, 4}, state.pieces());
  EXPECT_EQ(c.verify({2, 4}, state.pieces()), "");
  EXPECT_FALSE(std::filesystem::exists(name + "state-rank-3-unfinished"));
}

TEST(CheckpointTest, DoesNotFollowLinks) {
  const Directory directory;
  const std::string treasure = directory.file("treasure", "gold");
  const Checkpoints c(directory.path(), 0, 1, kFacts);
  const std::string name = c.path(1).substr(0, c.path(1).size() - 8);
  State state(1);
  std::filesystem::create_symlink(treasure, name + "state-rank-0-unfinished");
  std::filesystem::create_symlink(treasure, c.path(1));
  EXPECT_EQ(c.verify({1, 3}, state.pieces()), "is a symbolic link");
  c.write({1, 3}, state.pieces());
  EXPECT_EQ(contents(treasure), "gold");
  EXPECT_EQ(c.verify({1, 3}, state.pieces()), "");
  EXPECT_FALSE(std::filesystem::is_symlink(c.path(1)));
  std::filesystem::rename(c.path(1), directory / "elsewhere");
  std::filesystem::create_symlink(directory / "elsewhere", c.path(1));
  EXPECT_EQ(c.verify({1, 3}, state.pieces()), "is a symbolic link");
}

TEST(CheckpointTest, NeverWaitsForAPipe) {
  const Directory directory;
  const Checkpoints c(directory.path(), 0, 1, kFacts);
  State state(1);
  ASSERT_EQ(mkfifo(c.path(1).c_str(), 0600), 0);
  EXPECT_EQ(c.verify({1, 3}, state.pieces()), "is not a regular file");
  std::filesystem::create_directory(c.path(2));
  EXPECT_EQ(c.verify({2, 3}, state.pieces()), "is not a regular file");
}

TEST(CheckpointTest, NeedsADirectoryThatCanBeWritten) {
  const Directory directory;
  const std::string file = directory.file("file", "");
  for (const std::string& bad : {directory / "no/such", file, std::string("/proc")}) {
    const Checkpoints c(bad, 0, 1, kFacts);
    const std::string text = error_of([&] { c.open(); }, ErrorCode::cannot_open);
    EXPECT_NE(text.find(bad), std::string::npos) << text;
    EXPECT_TRUE(c.complete().empty());
    EXPECT_EQ(c.newest(), 0);
  }
  error_of([] { Checkpoints("", 0, 1, kFacts).open(); }, ErrorCode::invalid_argument);
}

TEST(CheckpointTest, LeavesNothingWhenTheDiskIsFull) {
  const Directory directory;
  const Checkpoints c(directory.path(), 0, 1, kFacts);
  State small(1);
  c.write({1, 3}, small.pieces());
  State large(1, {5000, 5000});
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  for (const rlim_t most : {10, 100, 4000, 8000, 10050}) {
    const auto handler = signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{most, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const std::string text = error_of(
        [&] {
          c.write({2, 4}, large.pieces());
        },
        ErrorCode::cannot_open);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    EXPECT_NE(text.find(c.path(2)), std::string::npos) << text;
    EXPECT_NE(text.find("can't be written"), std::string::npos) << text;
    EXPECT_EQ(directory / directory.list(), c.path(1));
    EXPECT_EQ(c.verify({1, 3}, small.pieces()), "");
  }
}

TEST(CheckpointTest, AVerdictIsReadAgain) {
  const Directory directory;
  const Checkpoints zero(directory.path(), 0, 2, kFacts);
  const Checkpoints one(directory.path(), 1, 2, kFacts);
  std::int64_t pivot = 0;
  const auto memory = std::as_writable_bytes(std::span(&pivot, 1));
  EXPECT_FALSE(zero.read_verdict(memory));
  pivot = 41;
  zero.write_verdict(memory);
  pivot = 0;
  EXPECT_TRUE(one.read_verdict(memory));
  EXPECT_EQ(pivot, 41);
  one.remove(true);
  zero.remove(false);
  EXPECT_TRUE(one.read_verdict(memory));
  EXPECT_FALSE(Checkpoints(directory.path(), 0, 3, kFacts).read_verdict(memory));
  zero.remove(true);
  EXPECT_EQ(directory.list(), "");
}

}  // namespace
}  // namespace stepwell::tiles::test
