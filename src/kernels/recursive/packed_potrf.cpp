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
void store(const Table& t, Rung rung, MatrixView<const float> l, Rounding rounding, PackedOut out,
           std::byte* scratch) {
  if (rounding == Rounding::nearest) return pack(t, rung, l, out, Shape::lower);
  const auto truncated = view(reinterpret_cast<float*>(scratch), l.rows, l.cols);
  for (std::int64_t j = 0; j < l.cols; ++j) {
    std::copy(l.column(j) + j, l.column(j) + l.rows, truncated.column(j) + j);
  }
  truncate(truncated, rung, Shape::lower);
  pack(t, rung, truncated, out, Shape::lower);
}

}  // namespace

Pivot packed_potrf(const Table& t, Rung rung, MatrixView<float> a, Rounding rounding, PackedOut l,
                   PackedOut rows, std::byte* scratch) {
  const core::FpScope fp;
  const std::int64_t n = a.rows;
  clear_upper(l);
  for (std::int64_t k = 0; k < n; k += kLeaf) {
    const std::int64_t width = std::min(kLeaf, n - k);
    const std::int64_t below = n - k - width;
    const MatrixView<float> column = a.block(k, k, n - k, width);
    if (k > 0) {
      update(t, rung, l.block(k, 0, n - k, k), rows.block(k, 0, width, k), column, Shape::lower);
    }
    const MatrixView<float> diagonal = column.block(0, 0, width, width);
    Pivot pivot = t.potrf_fp32.run(diagonal);
    if (!pivot.ok()) {
      pivot.index += k;
      return pivot;
    }
    if (below > 0) t.trsm_fp32.run(diagonal, column.block(width, 0, below, width));
    store(t, rung, column, rounding, l.block(k, k, n - k, width), scratch);
    if (below == 0) break;
    reorder(t, l.block(k + width, k, below, width), rows.block(k + width, k, below, width));
  }
  return {};
}

}  // namespace stepwell::kernels
