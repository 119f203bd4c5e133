// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "factor/cholesky/workspace.hpp"
#include "tiles/distribution.hpp"

/// Properties of every replay, however long it takes.
namespace stepwell::bench::scaling {
namespace {

using tiles::Distribution;

Platform platform(int workers, double bandwidth) {
  Platform p;
  p.name = "test";
  p.workers = workers;
  p.bandwidth = bandwidth;
  p.latency = 1e-6;
  p.task_seconds = 1e-5;
  Rates r;
  r.product = 1e12;
  r.diagonal = 2e11;
  r.solve = 5e11;
  r.load = 1e9;
  r.reorder = 3e9;
  p.rates = {r};
  return p;
}

/// The input of a replay.
struct Case {
  tiles::RungMap map;
  Distribution distribution;
  factor::Schedule schedule;
  Work work;

  Case(std::int64_t tiles, const Distribution& d, std::int64_t window = 0, std::int64_t ring = 6)
      : map({512 * tiles, 512}, uniform(Rung::bf16)),
        distribution(d),
        schedule(factor::schedule_for(map, d, factor::Windows::always)),
        work(map, distribution, with_window(window), ring) {}
  Case(const Case&) = delete;

  std::int64_t model() const {
    return tiles::bytes_to_send(map, distribution, inverse_message(map, 0));
  }
  Replayed events(const Platform& p, const Sending& sending = {}) {
    return replay(work, p, *event_machine(p, distribution.ranks()), sending);
  }

 private:
  const factor::Schedule& with_window(std::int64_t window) {
    if (window > 0) schedule.window = window;
    return schedule;
  }
};

double all_work(const Work& work, const Platform& p) {
  double seconds = 0;
  for (const Task& task : work.tasks()) seconds += work.seconds(task, p);
  return seconds;
}

// A replay runs every task, sends the bytes that the model predicts, and takes no less time than
// the lower bounds.
TEST(Replay, SendsWhatTheModelSaysAndDoesEverything) {
  const Platform p = platform(2, 1e10);
  for (const Distribution& d :
       {Distribution(), Distribution::grid(1, 2), Distribution::grid(3, 2),
        Distribution::symmetric(3), Distribution::symmetric(6), Distribution::grid(4, 4)}) {
    for (const std::int64_t tiles : {1, 2, 3, 9, 20, 33}) {
      for (const std::int64_t window : {0, 1, 3, 17}) {
        for (const FanOut fan_out : {FanOut::direct, FanOut::tree}) {
          Case c(tiles, d, window, 1 + tiles % 4);
          const double work = all_work(c.work, p);
          const auto tasks = std::ssize(c.work.tasks());
          const Bounds least = bounds(c.work, p);
          const Replayed did = c.events(p, {fan_out, tiles % 2 == 0});
          const std::string what =
              d.name() + ", " + std::to_string(tiles) + " tiles, window " + std::to_string(window);
          EXPECT_EQ(did.bytes, c.model()) << what;
          EXPECT_EQ(did.tasks, tasks) << what;
          EXPECT_NEAR(did.busy, work, 1e-12 * work * static_cast<double>(tasks)) << what;
          const double most = std::max({least.compute, least.network, least.panel});
          EXPECT_GE(did.seconds, most * (1 - 1e-12 * static_cast<double>(tasks))) << what;
        }
      }
    }
  }
}

// A single worker takes the sum of the times of all tasks.
TEST(Replay, OneWorkerTakesTheSumOfTheWork) {
  const Platform p = platform(1, 1e10);
  Case c(20, Distribution());
  const double work = all_work(c.work, p);
  EXPECT_NEAR(c.events(p).seconds, work, 1e-12 * work);
}

// With a free network, and much more work than the chain of panels, more nodes take less time.
TEST(Replay, MoreNodesAreFaster) {
  const Platform p = platform(1, 1e18);
  double before = 0;
  for (const Distribution& d : {Distribution(), Distribution::grid(1, 2), Distribution::grid(2, 2),
                                Distribution::grid(2, 4), Distribution::grid(4, 4)}) {
    Case c(64, d);
    const double seconds = c.events(p).seconds;
    if (before > 0) {
      EXPECT_LT(seconds, before) << d.name();
    }
    before = seconds;
  }
}

// With more ranks each stores less of L, and only several ranks need memory for received tiles.
TEST(Replay, MemoryIsThatOfTheTiles) {
  Case alone(12, Distribution());
  EXPECT_EQ(memory(alone.work, 1).received, 0);
  std::int64_t before = memory(alone.work, 1).factor;
  for (const Distribution& d : {Distribution::grid(2, 2), Distribution::grid(4, 4)}) {
    Case c(12, d);
    EXPECT_LT(memory(c.work, 1).factor, before);
    EXPECT_GT(memory(c.work, 1).received, 0);
    before = memory(c.work, 1).factor;
  }
}

// With a network that is never saturated, SimGrid and the event loop give the same time, also where
// the ranks of one host share its cores. A process can have only one SimGrid run.
TEST(Replay, SimGridAgrees) {
  const Platform p = platform(2, 1e18);
  Case one(24, Distribution::grid(2, 2));
  Case other(24, Distribution::grid(2, 2));
  const double seconds = one.events(p).seconds;
  Platform shared = p;
  shared.ranks_per_host = 4;
  shared.cores = 8;
  const Replayed did = replay(other.work, shared, *simgrid_machine(shared, 4, 2), {});
  EXPECT_EQ(did.bytes, other.model());
  EXPECT_EQ(did.tasks, std::ssize(other.work.tasks()));
  EXPECT_NEAR(did.seconds, seconds, 0.01 * seconds);
}

}  // namespace
}  // namespace stepwell::bench::scaling
