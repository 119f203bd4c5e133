// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "batch_problem.hpp"

/// The sweep of the paper's section 6: every compiled variant, measured for an order.
namespace stepwell::tool {

/// A variant and the seconds of its runs.
struct VariantRuns {
  BatchTuning tuning;
  std::vector<double> seconds;

  double median() const;
};

struct OrderSweep {
  std::int64_t n = 0;
  Format format = Format::fp64;
  std::int64_t count = 0;  ///< systems of a run
  double flops = 0;        ///< of a run
  std::vector<VariantRuns> variants;

  /// Of those with the most runs, the fastest: what was dropped early is not in question.
  const VariantRuns& best() const;
  /// The one that nobody tuned.
  const VariantRuns& plain() const;
  double rate(const VariantRuns& v) const { return flops / v.median() * 1e-9; }
};

/// Systems whose matrices do not fit into the caches of the cores, at most 'most'.
std::int64_t sweep_count(std::int64_t n, Format format, std::int64_t most);

/// Runs of a variant: all of them, those of the better half, those of the best few.
struct SweepEffort {
  int all = 1;
  int half = 2;
  int few = 5;
};

/// All variants of factor-solve, in turn, fewer from stage to stage.
OrderSweep sweep_order(const BatchCase& c, const SweepEffort& effort = {});
/// The best few and the plain one again, at another time.
void sweep_again(const BatchCase& c, OrderSweep& sweep, const SweepEffort& effort = {});

}  // namespace stepwell::tool
