// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "kernels/kernels.hpp"
#include "kernels/recursive.hpp"

namespace stepwell::kernels {
namespace {

/// Sets the elements of a packed matrix above its diagonal blocks of order kPanel to zero.
void clear_upper(PackedOut l) {
  for (std::int64_t p = 0; p + 1 < l.panels(); ++p) {
    std::fill(l.at(p, p + 1), l.at(p, l.depth_blocks()), std::uint16_t{0});
  }
}

/// Rounds L to the rung and packs it.
void store(const Table& t, Rung rung, MatrixView<const float> l, Shape shape, Rounding rounding,
           PackedOut out, std::byte* scratch) {
  if (rounding == Rounding::nearest) return pack(t, rung, l, out, shape);
  const auto truncated = view(reinterpret_cast<float*>(scratch), l.rows, l.cols);
  for (std::int64_t j = 0; j < l.cols; ++j) {
    const std::int64_t first = shape == Shape::lower ? j : 0;
    std::copy(l.column(j) + first, l.column(j) + l.rows, truncated.column(j) + first);
  }
  truncate(truncated, rung, shape);
  pack(t, rung, truncated, out, shape);
}

/// Rows that a core takes at a time when several share a block column.
constexpr std::int64_t kSharedRows = 128;

}  // namespace

Pivot packed_potrf(const Table& t, Rung rung, MatrixView<float> a, Rounding rounding, PackedOut l,
                   PackedOut rows, std::byte* scratch, const PieceRunner& share) {
  const core::FpScope fp;
  const std::int64_t n = a.rows;
  clear_upper(l);
  // A truncated copy has to be in the caller's part of the scratch memory.
  const bool shared = share && rounding == Rounding::nearest;
  for (std::int64_t k = 0; k < n; k += kLeaf) {
    const std::int64_t width = std::min(kLeaf, n - k), below = n - k - width;
    const auto update_rows = [&](std::int64_t r, std::int64_t m, Shape shape) {
      if (k == 0) return;
      update(t, rung, l.block(r, 0, m, k), rows.block(k, 0, width, k), a.block(r, k, m, width),
             shape);
    };
    update_rows(k, shared ? width : n - k, Shape::lower);
    const MatrixView<float> diagonal = a.block(k, k, width, width);
    Pivot pivot = t.potrf_fp32.run(diagonal);
    if (!pivot.ok()) {
      pivot.index += k;
      return pivot;
    }
    store(t, rung, diagonal, Shape::lower, rounding, l.block(k, k, width, width), scratch);
    const auto finish_rows = [&](std::int64_t r, std::int64_t m) {
      t.trsm_fp32.run(diagonal, a.block(r, k, m, width));
      store(t, rung, a.block(r, k, m, width), Shape::full, rounding, l.block(r, k, m, width),
            scratch);
      reorder(t, l.block(r, k, m, width), rows.block(r, k, m, width));
    };
    if (!shared) {
      if (below > 0) finish_rows(k + width, below);
      continue;
    }
    core::run_pieces(share, (below + kSharedRows - 1) / kSharedRows, scratch,
                     [&](std::int64_t piece, std::byte*) {
                       const std::int64_t r = k + width + piece * kSharedRows;
                       const std::int64_t m = std::min(kSharedRows, n - r);
                       update_rows(r, m, Shape::full);
                       finish_rows(r, m);
                     });
  }
  return {};
}

}  // namespace stepwell::kernels
