// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/simulation.hpp"

#include <gtest/gtest.h>

#include "factor/cholesky/graph.hpp"
#include "factor/cholesky/workspace.hpp"
#include "factor/lu/graph.hpp"
#include "tiles/rung_map.hpp"

/// The simulation replays the tasks of the real factorizations.
namespace stepwell::factor::test {
namespace {

class Simulation : public ::testing::TestWithParam<Factorization> {
 protected:
  static std::int64_t tasks_of(const SimulatedFactor& f, int workers) {
    const tiles::RungMap map({f.n, tile_of(f)}, uniform(f.rung));
    if (f.kind == Factorization::lu) return lu_task_count(map);
    return task_count(map, {}, schedule_for(map, {}, Windows::by_memory, workers), 0);
  }
  static engine::SimulatedTimes on(int workers, const SimulatedFactor& f,
                                   const engine::TaskTimes& times) {
    engine::SimulatedMachine machine;
    machine.workers = workers;
    return simulate(f, machine, times);
  }
};
INSTANTIATE_TEST_SUITE_P(Factor, Simulation,
                         ::testing::Values(Factorization::cholesky, Factorization::lu),
                         [](const auto& p) {
                           return p.param == Factorization::lu ? "lu" : "cholesky";
                         });

TEST_P(Simulation, TakesTheWorkOfOneWorkerAndTheChainOfMany) {
  SimulatedFactor f{GetParam(), Rung::bf16, 0, 32};
  const engine::TaskTimes times = measure_tasks(f);
  for (const std::int64_t n : {32, 100, 1000, 2048}) {
    f.n = n;
    const engine::SimulatedTimes one = on(1, f, times);
    EXPECT_EQ(one.tasks, tasks_of(f, 1));
    EXPECT_GT(one.work, 0);
    EXPECT_GE(one.seconds, one.work * (1 - 1e-12));
    EXPECT_LE(one.seconds, (one.work + one.insertion) * (1 + 1e-12));
    for (const int workers : {2, 16, 256}) {
      const engine::SimulatedTimes many = on(workers, f, times);
      EXPECT_EQ(many.tasks, tasks_of(f, workers));
      EXPECT_GE(many.seconds, many.chain * (1 - 1e-12));
      EXPECT_GE(many.seconds, many.work / workers * (1 - 1e-12));
    }
  }
}

TEST_P(Simulation, RefusesMoreTasksThanMemoryHolds) {
  SimulatedFactor f{GetParam(), Rung::bf16, 0, 512};
  f.n = largest_simulated(f) + 1;
  try {
    on(64, f, {});
    ADD_FAILURE() << "n = " << f.n << " was simulated";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::too_large);
    EXPECT_NE(std::string(e.what()).find(std::to_string(f.n - 1)), std::string::npos) << e.what();
  }
}

// Neither A nor the factor is touched: a matrix that this machine could not hold takes no memory.
TEST_P(Simulation, NeedsNoMatrix) {
  const SimulatedFactor f{GetParam(), Rung::bf16, 65536, 2048};
  engine::TaskTimes times;
  EXPECT_EQ(on(64, f, times).tasks, tasks_of(f, 64));
}

}  // namespace
}  // namespace stepwell::factor::test
