// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "bench/problems/batch_problem.hpp"

/// The sweep of the paper's section 6: every compiled variant, measured for an order.
namespace stepwell::bench {

/// A variant and the seconds of its runs.
struct VariantRuns {
  BatchTuning tuning;
  std::vector<double> seconds;

  double median() const;
};

struct OrderSweep {
  std::int64_t n = 0;
  Format format = Format::fp64;
  std::int64_t count = 0;  ///< systems per run
  double flops = 0;        ///< per run
  std::vector<VariantRuns> variants;

  /// The fastest of the variants with the most runs. Variants that were dropped early are not
  /// considered.
  const VariantRuns& best() const;
  /// The untuned variant.
  const VariantRuns& plain() const;
  double rate(const VariantRuns& v) const { return flops / v.median() * 1e-9; }
};

/// Number of systems, at most 'most', whose matrices do not fit into the caches of the cores.
std::int64_t sweep_count(std::int64_t n, Format format, std::int64_t most);

/// Number of runs of all variants, of the better half, and of the best few.
struct SweepEffort {
  int all = 1;
  int half = 2;
  int few = 5;
};

/// Measures all variants of factor-solve in turn, with fewer variants from stage to stage.
OrderSweep sweep_order(const BatchCase& c, const SweepEffort& effort = {});
/// Measures the best few and the plain variant again, at another time.
void sweep_again(const BatchCase& c, OrderSweep& sweep, const SweepEffort& effort = {});

}  // namespace stepwell::bench
