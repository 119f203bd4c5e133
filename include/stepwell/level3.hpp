// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "stepwell/export.hpp"
#include "stepwell/factor.hpp"
#include "stepwell/map.hpp"
#include "stepwell/options.hpp"
#include "stepwell/progress.hpp"
#include "stepwell/view.hpp"

/// Level 3 operations on large matrices at the rungs of a precision map, building blocks for other
/// blocked methods. Results are as accurate as the rungs; they are not refined.
namespace stepwell {

/// Options of syrk() and trsm().
struct Level3Options {
  PrecisionMap map;       ///< syrk: rungs of the tiles of C, by level, not adaptive, or int8x14.
                          ///< trsm: unused
  std::int64_t tile = 0;  ///< syrk: order of a tile, a multiple of 32; 0: as in
                          ///< cholesky(). trsm: unused
  EngineOptions engine;
};

/// The result of syrk() and trsm(). Plain data.
struct [[nodiscard]] Level3Report {
  bool cancelled = false;  ///< the call was cancelled: the output is partly written
  PhaseTimes times;
  std::int64_t peak_bytes = 0;  ///< workspace of the call
};

/// C <- beta C + alpha A A' on the lower triangle (Carrica et al., Algorithm 3).
/// Entry: A is n x k, C is n x n; with beta = 0, C is not read.
/// Exit: the lower triangle of C is updated; its strict upper triangle is neither read nor written.
/// A is scaled by one power of two if its elements would exceed the range of a format. An infinity
/// or NaN in A leads to infinities or NaNs in C. Throws Error for misuse and lack of memory.
/// At int8x14 sums are exact: the error of c_ij is about u ||a_i|| ||a_j|| for rows of any size (a
/// row with a norm above 2^1020 counts as one with a NaN), and the bits are the same on every
/// machine. It is faster than dsyrk only on AMX. Cost: n^2 k flop at the rungs of the map.
/// Workspace: 2 n k bytes per plane (4 n k for fp32, none for fp64) and a block row of A; int8x14:
/// 15 bytes for each of at most 2048 x 8192 elements, and 40 MB a thread.
STEPWELL_API Level3Report syrk(double alpha, MatrixView<const double> a, double beta,
                               MatrixView<double> c, const Level3Options& options = {});

/// B <- B L^-T with the factor of A = L L' (Carrica et al., Algorithm 2).
/// Entry: l is ok() and has no permutation (FactorOptions::spread); B is m x n. Rungs and tiles
/// are those of the factor. Exit: B is overwritten. Throws Error for misuse and lack of memory.
/// Cost: m n^2 flop. Workspace: an m x n matrix stored in tiles like the factor, and about two
/// block columns.
STEPWELL_API Level3Report trsm(const Factor& l, MatrixView<double> b,
                               const Level3Options& options = {});

}  // namespace stepwell
