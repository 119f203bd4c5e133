// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/block_source.hpp"

#include <algorithm>

#include "core/numeric/transpose.hpp"

namespace stepwell::factor {

MatrixView<const double> StoredBlocks::block_of_a(const Block& at, double* scratch) const {
  if (!upper_) return a_.block(at.row, at.col, at.rows, at.cols);
  const MatrixView<double> out = view(scratch, at.rows, at.cols);
  core::transpose(a_.block(at.col, at.row, at.cols, at.rows), out,
                  at.row == at.col ? core::Part::lower : core::Part::all);
  return out;
}

/// In another order the block is copied in two passes, because only one triangle of A may be read;
/// each pass runs down columns of A.
MatrixView<const double> StoredBlocks::in_order(const Block& at, double* scratch) const {
  if (order_.empty()) return block_of_a(at, scratch);
  const MatrixView<double> out = view(scratch, at.rows, at.cols);
  const std::int64_t* const rows = order_.data() + at.row;
  const std::int64_t* const cols = order_.data() + at.col;
  const auto is_read = [this](std::int64_t i, std::int64_t j) { return upper_ ? i <= j : i >= j; };
  for (std::int64_t c = 0; c < out.cols; ++c) {
    const double* const column = a_.column(cols[c]);
    for (std::int64_t r = 0; r < out.rows; ++r) {
      if (is_read(rows[r], cols[c])) out(r, c) = column[rows[r]];
    }
  }
  for (std::int64_t r = 0; r < out.rows; ++r) {
    const double* const column = a_.column(rows[r]);
    for (std::int64_t c = 0; c < out.cols; ++c) {
      if (!is_read(rows[r], cols[c])) out(r, c) = column[cols[c]];
    }
  }
  return out;
}

MatrixView<const double> StoredBlocks::block(const Block& at, double* scratch) const {
  const MatrixView<const double> from = in_order(at, scratch);
  if (jitter_ == 0 || at.row >= at.col + at.cols || at.col >= at.row + at.rows) return from;
  const MatrixView<double> out = view(scratch, at.rows, at.cols);
  for (std::int64_t c = 0; c < out.cols; ++c) {
    if (from.data != out.data) std::copy_n(from.column(c), out.rows, out.column(c));
    const std::int64_t r = at.col + c - at.row;
    if (r >= 0 && r < out.rows) out(r, c) += jitter_;
  }
  return out;
}

MatrixView<const double> FilledBlocks::block(const Block& at, double* scratch) const {
  const MatrixView<double> out = view(scratch, at.rows, at.cols);
  fill_(at.row, at.col, out);
  return out;
}

}  // namespace stepwell::factor
