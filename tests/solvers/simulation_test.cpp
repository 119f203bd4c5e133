// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "solvers/simulation/simulated_solve.hpp"

/// Analysis and refinement on a simulated machine: shared by the cores, until memory or the chain
/// of substitution limits them.
namespace stepwell::solvers::test {
namespace {

/// A system of order 1024 in two tiles, one second for analysis, two for an iteration.
SolveCosts costs() {
  SolveCosts c;
  c.n = 1024;
  c.analysis = 1;
  c.iteration = 2;
  return c;
}

engine::SimulatedMachine machine(int workers) {
  engine::SimulatedMachine m;
  m.workers = workers;
  m.insert = m.insert_use = m.take = m.share = 0;
  return m;
}

const factor::SimulatedFactor kSpd{Factorization::cholesky, Rung::bf16, 1024, 512};

TEST(SimulatedSolve, CoresShareTheWork) {
  for (const int workers : {1, 2, 64}) {
    const SimulatedSolve s = simulate_solve(kSpd, machine(workers), {}, costs());
    EXPECT_DOUBLE_EQ(s.analysis, 1.0 / workers);
    EXPECT_DOUBLE_EQ(s.iteration, 2.0 / workers);
    EXPECT_DOUBLE_EQ(s.seconds(8), s.factor.seconds + 17.0 / workers);
  }
}

TEST(SimulatedSolve, WorkGrowsWithTheSquareOfTheOrder) {
  factor::SimulatedFactor larger = kSpd;
  larger.n = 4096;
  const SimulatedSolve s = simulate_solve(larger, machine(1), {}, costs());
  EXPECT_DOUBLE_EQ(s.analysis, 16);
  EXPECT_DOUBLE_EQ(s.iteration, 32);
}

TEST(SimulatedSolve, MemoryLimitsIt) {
  engine::SimulatedMachine m = machine(1'000'000);
  m.bandwidth = 1 << 20;  // a second for one byte of each element
  // Without pivoting or a copy: 8 bytes of A, 2 of the two factors.
  const factor::SimulatedFactor general{Factorization::lu, Rung::bf16, 1024, 512};
  SimulatedSolve s = simulate_solve(general, m, {}, costs());
  EXPECT_NEAR(s.analysis, 8, 1e-3);
  EXPECT_NEAR(s.iteration, 10, 1e-3);
  // Half of A and both triangles of the factor; or A's copy in fp32, where there is one.
  s = simulate_solve(kSpd, m, {}, costs());
  EXPECT_NEAR(s.analysis, 4, 1e-3);
  EXPECT_TRUE(std::abs(s.iteration - 6) < 1e-3 || std::abs(s.iteration - 4) < 1e-3) << s.iteration;
  m.cache = 1e9;  // everything is in it
  s = simulate_solve(kSpd, m, {}, costs());
  EXPECT_LT(s.iteration, 1e-3);
}

TEST(SimulatedSolve, TheChainOfSubstitutionDoesNotShrink) {
  SolveCosts c = costs();
  c.solve_tile = 3;
  c.apply_part = 1;
  factor::SimulatedFactor five = kSpd;
  five.n = 5 * 512;
  EXPECT_EQ(simulate_solve(five, machine(1), {}, c).chain, 0);
  const SimulatedSolve s = simulate_solve(five, machine(1'000'000), {}, c);
  EXPECT_NEAR(s.chain, 2 * 4 * 4, 1e-4);  // forward and backward, four steps
  EXPECT_NEAR(s.iteration, s.chain, 1e-3);
}

}  // namespace
}  // namespace stepwell::solvers::test
