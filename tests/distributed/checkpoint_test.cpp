// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/buffer.hpp"
#include "directory.hpp"
#include "distributed/fixture.hpp"
#include "distributed/problem.hpp"
#include "factor/cholesky/checkpointing.hpp"
#include "factor/cholesky/factor_data.hpp"
#include "factor/distributed/cholesky.hpp"
#include "gallery/recipe.hpp"
#include "stepwell/distributed.hpp"
#include "stepwell/error.hpp"

/// Factorizations that are interrupted and resumed from a checkpoint.
namespace stepwell {
namespace {

using distributed::test::Problem;
using distributed::test::world;
using factor::Checkpointing;
using factor::ProcessContext;
using tiles::Distribution;

Distribution layout() {
  const int ranks = world().size();
  return ranks == 3 ? Distribution::symmetric(ranks) : Distribution::grid(1, ranks);
}

/// A temporary directory made by rank 0 and known to all ranks.
class SharedDirectory {
 public:
  SharedDirectory() {
    std::array<char, 4096> name{};
    if (world().rank() == 0) {
      own_.emplace();
      std::copy(own_->path().begin(), own_->path().end(), name.begin());
    }
    RanksData::of(world()).broadcast(std::as_writable_bytes(std::span(name)), 0);
    path_ = name.data();
  }
  ~SharedDirectory() { RanksData::of(world()).barrier(); }
  SharedDirectory(const SharedDirectory&) = delete;
  SharedDirectory& operator=(const SharedDirectory&) = delete;
  const std::string& path() const { return path_; }

  /// The files whose names have this ending, sorted by length and then by text: by generation.
  std::vector<std::string> files(const std::string& ending) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      if (entry.path().string().ends_with(ending)) names.push_back(entry.path().string());
    }
    std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
      return std::pair(a.size(), a) < std::pair(b.size(), b);
    });
    return names;
  }

 private:
  std::optional<test::Directory> own_;
  std::string path_;
};

FactorOptions options(const char* map, std::int64_t tile = 32) {
  FactorOptions f;
  f.map = parse_map(map);
  f.tile = tile;
  return f;
}

Checkpointing checkpoints(const std::string& directory, double share = 1e-9) {
  return {ProcessContext(RanksData::of(world()), layout()), directory, share, "test"};
}

Factor factor_with(Checkpointing* c, const Problem& problem, const FactorOptions& f) {
  return factor::distributed_cholesky(RanksData::of(world()), layout(), problem.a().rows,
                                      factor::FilledBlocks(problem.fill()), f, c);
}

/// Compares two tiles, except for the padding and the upper half of an unpacked diagonal tile.
bool same_tile(const tiles::Tile& a, const tiles::Tile& b, bool diagonal) {
  if (a.shape.is_packed()) {
    return std::memcmp(a.data, b.data, static_cast<std::size_t>(a.shape.bytes())) == 0;
  }
  const std::int64_t size = a.shape.rung == Rung::fp64 ? 8 : 4;
  for (std::int64_t j = 0; j < a.shape.cols; ++j) {
    const std::int64_t first = diagonal ? j : 0;
    const std::int64_t at = size * (j * a.shape.ld() + first);
    const auto bytes = static_cast<std::size_t>(size * (a.shape.rows - first));
    if (std::memcmp(a.data + at, b.data + at, bytes) != 0) return false;
  }
  return true;
}

void expect_same(const Factor& a, const Factor& b) {
  const tiles::TileMatrix& x = FactorData::of(a).l;
  const tiles::TileMatrix& y = FactorData::of(b).l;
  ASSERT_EQ(x.bytes(), y.bytes());
  std::int64_t differ = 0;
  for (std::int64_t j = 0; j < x.grid().tiles(); ++j) {
    for (std::int64_t i = j; i < x.grid().tiles(); ++i) {
      if (!x.owns(i, j)) continue;
      if (!same_tile(x.tile(i, j), y.tile(i, j), i == j)) ++differ;
    }
  }
  EXPECT_EQ(differ, 0);
  EXPECT_EQ(a.report().norm, b.report().norm);
  EXPECT_EQ(a.report().max_abs, b.report().max_abs);
  EXPECT_EQ(a.report().attempts.size(), b.report().attempts.size());
  EXPECT_EQ(a.report().shift, b.report().shift);
}

TEST(DistributedCheckpoint, ResumesFromAFinishedFactor) {
  const Problem problem(600);
  for (const char* const map : {"fp16", "adaptive:1e-5"}) {
    const SharedDirectory directory;
    const FactorOptions f = options(map);
    const Factor plain = factor_with(nullptr, problem, f);
    Checkpointing first = checkpoints(directory.path());
    expect_same(factor_with(&first, problem, f), plain);
    EXPECT_EQ(first.report().resumed, 0);
    EXPECT_GE(first.report().written, 1);
    EXPECT_GT(first.report().bytes, 0);
    Checkpointing again = checkpoints(directory.path());
    expect_same(factor_with(&again, problem, f), plain);
    EXPECT_EQ(again.report().resumed, 19) << map;
    EXPECT_EQ(again.report().written, 0) << map;
    again.remove();
    RanksData::of(world()).barrier();
    EXPECT_TRUE(directory.files("").empty());
  }
}

TEST(DistributedCheckpoint, ResumesFromTheSumsOfUnfinishedTiles) {
  if (world().size() == 1) GTEST_SKIP() << "one rank finishes all columns in one window";
  const Problem problem(600);
  for (const char* const map : {"bf16x2", "bf16,fp32,fp64"}) {
    const SharedDirectory directory;
    const FactorOptions f = options(map);
    const Factor plain = factor_with(nullptr, problem, f);
    Checkpointing first = checkpoints(directory.path());
    (void)factor_with(&first, problem, f);
    EXPECT_EQ(directory.files("-complete").size(), 2U);
    EXPECT_EQ(directory.files("-rank-0").size(), 2U);
    RanksData::of(world()).barrier();
    if (world().rank() == 0) std::filesystem::remove(directory.files("-complete").back());
    Checkpointing again = checkpoints(directory.path());
    expect_same(factor_with(&again, problem, f), plain);
    EXPECT_EQ(again.report().resumed, 16) << map;
    EXPECT_EQ(again.report().written, 1) << map;
  }
}

TEST(DistributedCheckpoint, ResumesWhatWasCancelled) {
  const Problem problem(900);
  const FactorOptions f = options("bf16");
  const Factor plain = factor_with(nullptr, problem, f);
  const SharedDirectory directory;
  for (const std::int64_t tasks : {50, 200, 800}) {  // tasks of the resumed run
    Progress progress;
    FactorOptions stopped = f;
    stopped.engine.progress = &progress;
    std::atomic<bool> ended{false};
    std::thread canceller([&] {
      while (!ended && progress.done < tasks) std::this_thread::yield();
      if (world().rank() == 0) progress.cancel = true;
    });
    Checkpointing c = checkpoints(directory.path());
    (void)factor_with(&c, problem, stopped);
    ended = true;
    canceller.join();
  }
  Checkpointing last = checkpoints(directory.path());
  expect_same(factor_with(&last, problem, f), plain);
}

TEST(DistributedCheckpoint, UsesTheOlderOneIfThatOfARankIsDamaged) {
  const Problem problem(600);
  const FactorOptions f = options("bf16");
  const Factor plain = factor_with(nullptr, problem, f);
  const std::string last = "-rank-" + std::to_string(world().size() - 1);
  for (const std::int64_t damaged : {1, 2}) {
    const SharedDirectory directory;
    Checkpointing first = checkpoints(directory.path());
    (void)factor_with(&first, problem, f);
    RanksData::of(world()).barrier();
    if (world().rank() == 0) {
      auto files = directory.files(last);
      for (std::int64_t k = 0; k < damaged && !files.empty(); ++k, files.pop_back()) {
        std::fstream file(files.back(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(5000);
        file.put('\x5a');
      }
    }
    RanksData::of(world()).barrier();
    Checkpointing again = checkpoints(directory.path());
    expect_same(factor_with(&again, problem, f), plain);
    EXPECT_EQ(again.report().resumed, damaged == 1 && world().size() > 1 ? 16 : 0);
    Checkpointing third = checkpoints(directory.path());
    expect_same(factor_with(&third, problem, f), plain);
    EXPECT_EQ(third.report().resumed, 19);
  }
}

TEST(DistributedCheckpoint, DoesNotRepeatAttemptsThatFailed) {
  const Problem problem(300, gallery::Kind::geometric, 1e6);
  const FactorOptions f = options("bf16");
  const Factor plain = factor_with(nullptr, problem, f);
  ASSERT_GT(plain.report().attempts.size(), 1U);
  const SharedDirectory directory;
  Checkpointing first = checkpoints(directory.path());
  expect_same(factor_with(&first, problem, f), plain);
  EXPECT_EQ(directory.files("-verdict").size(), plain.report().attempts.size() - 1);
  Checkpointing again = checkpoints(directory.path());
  const Factor resumed = factor_with(&again, problem, f);
  expect_same(resumed, plain);
  EXPECT_EQ(again.report().resumed, 10);
  for (std::size_t k = 0; k < plain.report().attempts.size(); ++k) {
    EXPECT_EQ(resumed.report().attempts[k].pivot, plain.report().attempts[k].pivot);
    EXPECT_EQ(resumed.report().attempts[k].pivot_value, plain.report().attempts[k].pivot_value);
  }
  again.remove();
  RanksData::of(world()).barrier();
  EXPECT_TRUE(directory.files("").empty());
}

TEST(DistributedCheckpoint, KnowsAnotherMatrixAndAnotherFactor) {
  const Problem problem(600);
  const SharedDirectory directory;
  Checkpointing first = checkpoints(directory.path());
  (void)factor_with(&first, problem, options("bf16"));
  const auto resumed = [&](const Problem& p, const FactorOptions& f) {
    Checkpointing c = checkpoints(directory.path(), 1);
    expect_same(factor_with(&c, p, f), factor_with(nullptr, p, f));
    return c.report().resumed;
  };
  EXPECT_EQ(resumed(problem, options("bf16x2")), 0);
  EXPECT_EQ(resumed(problem, options("bf16", 64)), 0);
  FactorOptions shifted = options("bf16");
  shifted.cholesky.shift = 1;
  EXPECT_EQ(resumed(problem, shifted), 0);
  Problem other(600);  // the diagonal is unchanged
  other.a()(599, 0) += 1e-9;
  EXPECT_EQ(resumed(other, options("bf16")), 0);
  EXPECT_EQ(resumed(problem, options("bf16")), 19);
}

TEST(DistributedCheckpoint, ThrowsOnAllWhatOneCannotWrite) {
  const Problem problem(300);
  const SharedDirectory directory;
  const bool last = world().rank() == world().size() - 1;
  Checkpointing c = checkpoints(last ? "/proc" : directory.path());
  try {
    (void)factor_with(&c, problem, options("bf16"));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::cannot_open);
    EXPECT_NE(std::string(e.what()).find("/proc"), std::string::npos) << e.what();
  }
  EXPECT_THROW(checkpoints(directory.path(), 0), Error);
}

}  // namespace
}  // namespace stepwell
