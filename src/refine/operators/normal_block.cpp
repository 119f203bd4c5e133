// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "refine/operators/normal_block.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <limits>

#include "core/numeric/double_double.hpp"
#include "kernels/kernels.hpp"
#include "refine/operators/triple_sums.hpp"
#include "refine/vectors.hpp"

namespace stepwell::refine {

RightHandSides RightHandSides::part(const std::vector<std::size_t>& which) const {
  RightHandSides some{b, {}, {}, {}, triple_sums, {}, {}};
  for (const std::size_t k : which) {
    some.column.push_back(column[k]);
    some.factor.push_back(factor[k]);
    if (gradient.empty()) continue;
    some.gradient.push_back(gradient[k]);
    some.squares.push_back(squares[k]);
  }
  for (const std::vector<const double*>& vectors : base) {
    std::vector<const double*>& to = some.base.emplace_back();
    for (const std::size_t k : which) to.push_back(vectors[k]);
  }
  return some;
}

namespace {

/// Prefetches memory that a product will read soon.
void fetch(const core::RowBlock& rows) {
  const MatrixView<const double> a = rows.stored;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; i += 8) __builtin_prefetch(a.column(j) + i, 0, 2);
  }
}

/// Part of a block: some of its columns or, if it is stored by rows, some of its rows.
struct Piece {
  core::RowBlock of;
  std::int64_t row, col;  ///< its position in the block
};

enum class Walk : unsigned char { first, second };

/// Calls f(piece) for all pieces, in the first or the second product with the block. The next block
/// is prefetched in two halves: the first during the later pieces of the first product, the second
/// during those of the second product. Earlier prefetches would put too many cache lines in flight.
template <class F>
void for_pieces(const NormalSlab& s, const core::RowBlock& block, Walk walk, F f) {
  // Columns of a piece, or its elements if it is stored by rows: y, or z, stays in L1.
  constexpr std::int64_t kColumns = 16, kElements = 4096;
  const std::int64_t n = block.cols(), across = block.by_rows ? block.rows() : n;
  const std::int64_t step = block.by_rows ? std::max<std::int64_t>(1, kElements / n) : kColumns;
  const auto piece = [&](const core::RowBlock& of, std::int64_t p) -> Piece {
    const std::int64_t w = std::min(step, across - p);
    if (!of.by_rows) return {of.block(0, p, of.rows(), w), 0, p};
    const std::int64_t from = std::min(p, of.rows());  // the last block has fewer rows
    return {of.block(from, 0, std::min(w, of.rows() - from), n), from, 0};
  };
  const std::int64_t half = across / 2 / step * step;
  for (std::int64_t p = 0; p < across; p += step) {
    if (s.next.stored.data != nullptr && p >= half) {
      fetch(piece(s.next, walk == Walk::first ? p - half : p).of);
    }
    f(piece(block, p));
  }
}

/// y = the block's rows of column c of b, scaled by the column's factor.
void take_b(const NormalSlab& s, std::int64_t first, std::int64_t rows, std::int64_t c, double* y) {
  if (s.right == nullptr) {
    std::fill_n(y, rows, 0.0);
    return;
  }
  const auto e = static_cast<std::size_t>(c);
  const double* const b = s.right->b.column(s.right->column[e]) + first;
  for (std::int64_t i = 0; i < rows; ++i) y[i] = b[i] * s.right->factor[e];
}

void add_square(const NormalSlab& s, std::int64_t rows, std::int64_t c) {
  double sum = 0;
  for (std::int64_t i = 0; i < rows; ++i) sum += s.y(i, c) * s.y(i, c);
  s.squares[c] += sum;
}

/// Rounds high + low to FP64 in 'high', with the remainder in 'low'.
void normalize(std::int64_t n, double* high, double* low) {
  for (std::int64_t i = 0; i < n; ++i) {
    const core::DoubleDouble sum = core::two_sum(high[i], low[i]);
    high[i] = sum.hi;
    low[i] = sum.lo;
  }
}

}  // namespace

void add_block(const NormalSlab& s, const core::RowBlock& block, std::int64_t first) {
  const std::int64_t rows = block.rows(), k = s.z.cols;
  const kernels::Table& t = kernels::table();
  for (std::int64_t c = 0; c < k; ++c) take_b(s, first, rows, c, s.y.column(c));
  if (!s.x.empty()) {
    for_pieces(s, block, Walk::first, [&](const Piece& p) {
      kernels::Products q;
      const auto x = s.x[0].block(p.col, 0, p.of.cols(), k);
      const auto y = s.y.block(p.row, 0, p.of.rows(), k);
      (block.by_rows ? q.w : q.x) = x;
      (block.by_rows ? q.z : q.y) = y;
      kernels::product(t, p.of.stored, q);
    });
  }
  for (std::int64_t c = 0; c < k; ++c) add_square(s, rows, c);
  for_pieces(s, block, Walk::second, [&](const Piece& p) {
    kernels::Products q;
    const auto y = s.y.block(p.row, 0, p.of.rows(), k);
    const auto z = s.z.block(p.col, 0, p.of.cols(), k);
    (block.by_rows ? q.x : q.w) = y;
    (block.by_rows ? q.y : q.z) = z;
    kernels::product(t, p.of.stored, q);
  });
}

void add_checksums(const NormalSlab& s, const core::RowBlock& block) {
  const std::int64_t n = block.cols();
  for (std::int64_t j = 0; j < n; j += Checksums::kColumns) {
    const std::int64_t w = std::min(Checksums::kColumns, n - j);
    const auto columns = block.block(0, j, block.rows(), w).stored;
    const std::uint64_t sum = kernels::checksum(kernels::table(), columns);
    s.of_y.add(j, sum);
    s.of_z.add(j, sum);
  }
}

void add_block_exactly(const NormalSlab& s, const core::RowBlock& block, std::int64_t first) {
  const std::int64_t rows = block.rows(), k = s.z.cols;
  const kernels::Table& t = kernels::table();
  const bool triple_sums = s.right != nullptr && s.right->triple_sums;
  // y + y_low += A x, or z + z_low += A'y; if stored by rows, the stored matrix is A'.
  const auto multiply = [&](bool transposed, const double* from, double* to, double* low) {
    kernels::ExactProducts q;
    const bool by_z = transposed != block.by_rows;
    (by_z ? q.w : q.x) = from;
    (by_z ? q.z : q.y) = to;
    (by_z ? q.z_low : q.y_low) = low;
    kernels::exact_product(t, block.stored, q);
  };
  for (std::int64_t c = 0; c < k; ++c) {
    double* const y = s.y.column(c);
    double* const low = s.y_low.column(c);
    take_b(s, first, rows, c, y);
    std::fill_n(low, rows, 0.0);
    if (triple_sums) add_in_triple_sums(block, s.x, c, y, low);
    for (std::size_t v = 0; v < s.x.size() && !triple_sums; ++v) {
      multiply(false, s.x[v].column(c), y, low);
    }
    normalize(rows, y, low);
    add_square(s, rows, c);
    multiply(true, y, s.z.column(c), s.z_low.column(c));
  }
  kernels::Products q;
  const MatrixView<double> low = s.y_low.block(0, 0, rows, k);
  (block.by_rows ? q.x : q.w) = low;
  (block.by_rows ? q.y : q.z) = s.z_low;
  kernels::product(t, block.stored, q);
  add_checksums(s, block);
}

namespace {

constexpr int kNone = INT_MIN;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The shift with which rounded() rounds to multiples of 2^exponent.
double shift_for(int exponent) {
  return std::ldexp(1.5, 52 + exponent);
}
double rounded(double a, double shift) {
  return (a + shift) - shift;
}

/// The exponent of the smallest power of two above 'size'; kNone for sizes so small that nothing is
/// lost without a head.
int exponent_above(double size) {
  return size > 0x1p-600 ? std::ilogb(size) + 1 : kNone;
}

/// Above this an exponent might overflow: heads are then NaN, so that nothing is proven.
constexpr double kLargest = 0x1p600;

}  // namespace

SplitScale::SplitScale(const std::vector<double>& largest) {
  for (const double size : largest) {
    const int e = exponent_above(std::min(size, kLargest));
    exponent.push_back(e);
    shift.push_back(e == kNone ? 0 : shift_for(e - kBitsOfA));
  }
}

/// Products of leading digits are multiples of 2^(above - 52). In this unit the magnitudes of all
/// terms sum up to at most 2^52, plus 2^21 for each term where x was rounded up.
void SplitScale::split_x(const double* x, double* head, double* rest) const {
  double size = 0;
  for (std::size_t j = 0; j < exponent.size(); ++j) {
    if (exponent[j] != kNone) size += std::ldexp(std::abs(x[j]), exponent[j]);
  }
  const bool bad = !(size < kLargest);
  const int above = bad ? 0 : exponent_above(size);
  for (std::size_t j = 0; j < exponent.size(); ++j) {
    const bool none = above == kNone || exponent[j] == kNone;
    const int grid = none ? 0 : above - 52 + kBitsOfA - exponent[j];
    head[j] = bad ? kNaN : none ? 0 : rounded(x[j], shift_for(grid));
    rest[j] = x[j] - head[j];
  }
}

std::int64_t split_room(std::int64_t n, std::int64_t columns) {
  return (n + 2 * SplitScale::kMostRows) * columns;
}

void add_block_split(const NormalSlab& s, const core::RowBlock& block, std::int64_t first,
                     const SplitScale& scale, double* room) {
  const std::int64_t rows = block.rows(), n = block.cols(), k = s.z.cols;
  const kernels::Table& t = kernels::table();
  const MatrixView<double> sums = view(room, n, k);
  const MatrixView<double> head = view(room + n * k, rows, k);
  const MatrixView<double> rest = view(room + (n + SplitScale::kMostRows) * k, rows, k);
  const auto part = [](const kernels::SplitVectors& v, std::int64_t i, std::int64_t count) {
    const std::int64_t columns = v.whole.cols;
    return kernels::SplitVectors{v.whole.block(i, 0, count, columns),
                                 v.head.block(i, 0, count, columns),
                                 v.rest.block(i, 0, count, columns)};
  };
  for (std::int64_t c = 0; c < k; ++c) {
    std::fill_n(s.y.column(c), rows, 0.0);
    std::fill_n(s.y_low.column(c), rows, 0.0);
  }
  for_pieces(s, block, Walk::first, [&](const Piece& p) {
    kernels::SplitProducts q;
    q.shift = scale.shift.data() + p.col;
    q.shift_of_rows = block.by_rows;
    (block.by_rows ? q.w : q.x) = part({s.x[0], s.x[1], s.x[2]}, p.col, p.of.cols());
    (block.by_rows ? q.z : q.y) = s.y.block(p.row, 0, p.of.rows(), k);
    (block.by_rows ? q.z_low : q.y_low) = s.y_low.block(p.row, 0, p.of.rows(), k);
    const std::uint64_t sum = kernels::split_product(t, p.of.stored, q);
    if (!block.by_rows) s.of_y.add(p.col, sum);
  });
  for (std::int64_t c = 0; c < k; ++c) {
    double* const y = s.y.column(c);
    double* const low = s.y_low.column(c);
    take_b(s, first, rows, c, head.column(c));
    for (std::int64_t i = 0; i < rows; ++i) {
      const core::DoubleDouble sum = core::two_sum(head(i, c), y[i]);
      y[i] = sum.hi;
      low[i] += sum.lo;
    }
    normalize(rows, y, low);
    add_square(s, rows, c);
    const double size = max_abs(rows, y);
    const bool bad = !(size < kLargest);
    const int above = bad ? kNone : exponent_above(size);
    const double shift = above == kNone ? 0 : shift_for(above - SplitScale::kBitsOfR);
    for (std::int64_t i = 0; i < rows; ++i) {
      head(i, c) = bad ? kNaN : above == kNone ? 0 : rounded(y[i], shift);
      rest(i, c) = (y[i] - head(i, c)) + low[i];
    }
  }
  std::fill_n(sums.data, n * k, 0.0);
  const kernels::SplitVectors r{s.y.block(0, 0, rows, k), head, rest};
  for_pieces(s, block, Walk::second, [&](const Piece& p) {
    kernels::SplitProducts q;
    q.shift = scale.shift.data() + p.col;
    q.shift_of_rows = block.by_rows;
    (block.by_rows ? q.x : q.w) = part(r, p.row, p.of.rows());
    (block.by_rows ? q.y : q.z) = sums.block(p.col, 0, p.of.cols(), k);
    (block.by_rows ? q.y_low : q.z_low) = s.z_low.block(p.col, 0, p.of.cols(), k);
    const std::uint64_t sum = kernels::split_product(t, p.of.stored, q);
    if (!block.by_rows) s.of_z.add(p.col, sum);
  });
  for (std::int64_t c = 0; c < k; ++c) {
    for (std::int64_t j = 0; j < n; ++j) {
      const core::DoubleDouble sum = core::two_sum(s.z(j, c), sums(j, c));
      s.z(j, c) = sum.hi;
      s.z_low(j, c) += sum.lo;
    }
  }
  // If stored by rows, a product's checksum covers all columns at once.
  if (block.by_rows) add_checksums(s, block);
}

}  // namespace stepwell::refine
