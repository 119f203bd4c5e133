// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>

#include "engine/threads/thread_pool.hpp"
#include "factor/triangular/substitution.hpp"
#include "stepwell/view.hpp"
#include "tiles/tile_matrix.hpp"

namespace stepwell::factor {

/// Columns [first, first + x.cols) of L^-1, or with both triangles of (L L')^-1, of which x has the
/// rows from 'first' on: those above are zero, or known by symmetry.
struct InverseStrip {
  std::int64_t first = 0;
  MatrixView<double> x;
};

/// Computes the inverse strip by strip, for a factor L at fp64, in a buffer. use(strip) says
/// whether to go on. Each column is a substitution from its first row that is not zero on, so that
/// all take n^3/3 per triangle. The BLAS must be set to one thread. The bits are the same for any
/// number of threads.
void inverse_strips(engine::ThreadPool& pool, const tiles::TileMatrix& l, Triangles triangles,
                    const std::function<bool(const InverseStrip&)>& use);

/// The number of strips, and the workspace.
std::int64_t strip_count(const tiles::Grid& grid);
std::int64_t inverse_strips_bytes(const tiles::Grid& grid, int threads);

}  // namespace stepwell::factor
