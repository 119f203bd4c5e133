// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "stepwell/context.hpp"
#include "stepwell/export.hpp"
#include "stepwell/factor.hpp"
#include "stepwell/map.hpp"
#include "stepwell/progress.hpp"
#include "stepwell/times.hpp"
#include "stepwell/view.hpp"

/// Products and solves of large matrices at the rungs of a precision map, for those who build
/// blocked methods of their own. Answers are as accurate as the rungs, not refined.
namespace stepwell {

struct Level3Options {
  PrecisionMap map;       ///< of C's tiles; rungs by level, not adaptive. trsm: the factor's own
  std::int64_t tile = 0;  ///< order of a tile, a multiple of 32; 0: 512. trsm: the factor's own
  Context* context = nullptr;    ///< null: the shared one, with as many workers as allowed
  Progress* progress = nullptr;  ///< null: nobody watches
};

struct Level3Report {
  bool cancelled = false;  ///< the output is partly written
  PhaseTimes times;
  std::int64_t peak_bytes = 0;  ///< of the memory the call worked in
};

/// C <- beta C + alpha A A', the lower triangle (Carrica et al., Algorithm 3). A: n x k; C: n x n,
/// its strict upper triangle is neither read nor written; with beta = 0, C is not read. A's numbers
/// are scaled by one power of two where they would leave a format's range. An infinity or NaN in A
/// is one in C.
/// Cost n^2 k products at the map's rungs; memory 2 n k bytes per plane (4 n k for fp32, none for
/// fp64) and a row block of A. Throws Error for misuse and lack of memory.
STEPWELL_API Level3Report syrk(double alpha, MatrixView<const double> a, double beta,
                               MatrixView<double> c, const Level3Options& options = {});

/// B <- B L^-T with the factor of A = L L' (Carrica et al., Algorithm 2). B: m x n. Products are at
/// the rungs of the factor's tiles.
/// Cost m n^2; memory as a factor's tiles of m x n and about two block columns. Throws Error for
/// misuse, lack of memory and a factor that is not ok().
STEPWELL_API Level3Report trsm(const Factor& l, MatrixView<double> b,
                               const Level3Options& options = {});

}  // namespace stepwell
