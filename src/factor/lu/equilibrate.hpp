// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/threads/thread_pool.hpp"
#include "factor/scaling.hpp"
#include "stepwell/view.hpp"

namespace stepwell::factor {

/// The scale of a square matrix: the largest element of each row of H = diag(row) A diag(col), and
/// then of each column, lies in [1/2, 1) or, where the rows of A differ little, in (1/32, 1). Zero
/// rows and columns are not scaled. H has the same bits for A and sA, s a power of two.
struct Equilibration {
  Scale scale;
  double max_abs = 0;     ///< largest |a_ij| among the finite elements
  std::int64_t row = -1;  ///< the first non-finite element in column order; -1: none
  std::int64_t col = -1;
};

/// The scale of a matrix that needs only one power of two, which brings max_abs below 1.
Scale even_scale(std::int64_t n, double max_abs);

/// Makes one pass over A, or two where its rows differ much. Cost n^2.
Equilibration equilibrate(MatrixView<const double> a, engine::ThreadPool& pool);

}  // namespace stepwell::factor
