// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "bench/papers/paper.hpp"
#include "stepwell/certificate.hpp"

/// The performance model of Haidar et al. (2017), Sect. 4.4, with measured rates.
namespace stepwell::bench {

/// Seconds of the parts of a solve of order n. The paper's equations divide flops by rates:
///   (2)  2n^3 / 3P_getrf + k (2n^2 / P_gemv + 2n^2 / P_trsv)   with a low-precision factor
///   (3)  2n^3 / 3P_dgetrf + 2n^2 / P_dtrsv                     in FP64
/// and in (6) an iteration takes 1.4 times as long as its two parts.
struct LuModel {
  std::int64_t n = 0;
  double dgetrf = 0, dgetrs = 0;
  double gemv = 0;  ///< ours, FP64
  struct Rung {
    double factor = 0;  ///< lu() at this map
    double solve = 0;   ///< both triangles, one right-hand side
  };
  std::map<std::string, Rung> rungs;

  static constexpr double kOverhead = 1.4;

  /// Equation 2, with the overhead of equation 6, for each rung that the solve tried and its number
  /// of iterations; equation 3 for a rung that is not in 'rungs'.
  double seconds(const Certificate& c) const;
  nlohmann::ordered_json json() const;
};

double model_cost(const PaperRun& run, std::int64_t n);
LuModel measure_model(const PaperRun& run, std::int64_t n);

}  // namespace stepwell::bench
