// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/block_source.hpp"

namespace stepwell::factor {

/// In another order the block is copied in two passes, because only the lower triangle of A may be
/// read; each pass runs down columns of A.
MatrixView<const double> StoredBlocks::block(const Block& at, double* scratch) const {
  if (order_.empty()) return a_.block(at.row, at.col, at.rows, at.cols);
  const MatrixView<double> out = view(scratch, at.rows, at.cols);
  const std::int64_t* const rows = order_.data() + at.row;
  const std::int64_t* const cols = order_.data() + at.col;
  for (std::int64_t c = 0; c < out.cols; ++c) {
    const double* const column = a_.column(cols[c]);
    for (std::int64_t r = 0; r < out.rows; ++r) {
      if (rows[r] >= cols[c]) out(r, c) = column[rows[r]];
    }
  }
  for (std::int64_t r = 0; r < out.rows; ++r) {
    const double* const column = a_.column(rows[r]);
    for (std::int64_t c = 0; c < out.cols; ++c) {
      if (rows[r] < cols[c]) out(r, c) = column[cols[c]];
    }
  }
  return out;
}

MatrixView<const double> FilledBlocks::block(const Block& at, double* scratch) const {
  const MatrixView<double> out = view(scratch, at.rows, at.cols);
  fill_(at.row, at.col, out);
  return out;
}

}  // namespace stepwell::factor
