// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "refine/normal_product.hpp"

#include <algorithm>
#include <cmath>

#include "core/double_double.hpp"
#include "core/fp_scope.hpp"
#include "kernels/kernels.hpp"
#include "refine/careful_sums.hpp"

namespace stepwell::refine {
namespace {

/// Slabs of rows, each one job: enough for many cores.
constexpr std::int64_t kSlabs = 32;
/// Numbers of a block of rows: 1 MiB, half of L2.
constexpr std::int64_t kBlock = 1 << 17;
/// Numbers that a function is asked for at once.
constexpr std::int64_t kRead = 1 << 20;

std::int64_t block_rows(std::int64_t n) {
  return std::clamp<std::int64_t>(kBlock / n / 16 * 16, 16, 512);
}

std::int64_t slab_rows(std::int64_t m, std::int64_t n) {
  return core::round_up(std::max<std::int64_t>((m + kSlabs - 1) / kSlabs, 1), block_rows(n));
}

std::int64_t slabs_of(std::int64_t m, std::int64_t n) {
  return (m + slab_rows(m, n) - 1) / slab_rows(m, n);
}

/// Rows that are read at once: blocks of a slab.
std::int64_t read_rows(std::int64_t m, std::int64_t n) {
  const std::int64_t some = std::max<std::int64_t>(1, kRead / n / block_rows(n)) * block_rows(n);
  return std::min(some, slab_rows(m, n));
}

/// Memory that a product will read soon.
void fetch(const core::RowBlock& rows) {
  const MatrixView<const double> a = rows.stored;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; i += 8) __builtin_prefetch(a.column(j) + i, 0, 2);
  }
}

}  // namespace

RightHandSides RightHandSides::part(const std::vector<std::size_t>& which) const {
  RightHandSides some{b, {}, {}, {}, careful, {}, {}};
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

/// What a slab works with; y, z and their low parts are its own.
struct NormalProduct::Slab {
  const RightHandSides* right;
  const std::vector<MatrixView<const double>>& x;  ///< -power x, or power x where there is no b
  MatrixView<double> y, y_low;
  MatrixView<double> z, z_low;
  double* squares;
  core::RowBlock next;  ///< the block after this one, to be fetched meanwhile
};

NormalProduct::NormalProduct(engine::Team& team, core::RowReader& a,
                             const std::vector<double>& power, const std::vector<double>& tail,
                             Checksums expected)
    : team_(team), a_(a), power_(power), tail_(tail), expected_(std::move(expected)) {}

std::int64_t NormalProduct::workspace_bytes(std::int64_t m, std::int64_t n, std::int64_t columns) {
  return core::size_product(slabs_of(m, n) + 3, n, 16 * columns, "sums of slabs");
}

void NormalProduct::apply(MatrixView<const double> x, MatrixView<double> y, Sums sums) {
  pass(nullptr, x, y, nullptr, sums);
}

void NormalProduct::residual(const RightHandSides& right, MatrixView<const double> x,
                             MatrixView<double> g, std::vector<double>& squares, Sums sums) {
  if (right.gradient.empty()) return pass(&right, x, g, &squares, sums);
  apply(x, g, sums);
  for (std::size_t k = 0; k < squares.size(); ++k) {
    const auto c = static_cast<std::int64_t>(k);
    squares[k] = right.squares[k];
    for (std::int64_t j = 0; j < g.rows; ++j) {
      g(j, c) = right.gradient[k][j] - g(j, c);
      squares[k] -= x(j, c) * (right.gradient[k][j] + g(j, c));
    }
  }
}

/// ||b|| <= ||r|| + ||H|| ||x||, and the rows of |H| |x|, or the columns of |H|' |r|, have together
/// at most the norm ||H||_F ||x||, or ||H||_F ||r||. FP64: a sum of k products errs by k + 1 u of
/// their sizes in any order (Higham 2002, 3.1). Double-double: by 2 (k + 2)^2 u^2 (ExactProducts),
/// of n terms for each vector, or of as many as rows for r and for its low part. An error in r goes
/// through H'. Careful: by 2 (k + 2)^3 u^3 (their Proposition 5.11), and by u^2 r as it is kept.
Rounding NormalProduct::rounding(Sums sums, double norm, double r, double x, bool careful) const {
  constexpr double kU = 0x1p-53;
  constexpr double kUnderflow = 0x1p-500;
  const auto bound = [&](std::int64_t terms) {
    const auto k = static_cast<double>(terms + 4);
    return sums == Sums::fp64 ? 1.01 * k * kU : 2 * k * k * kU * kU;
  };
  const std::int64_t m = a_.rows(), n = a_.cols();
  const bool plain = sums == Sums::fp64;
  const double cube = std::pow(static_cast<double>(6 * n + 4) * kU, 3);
  const double terms_of_r = plain ? bound(n) : careful ? 2 * cube : bound(3 * n);
  const double of_r =
      terms_of_r * (r + 2 * norm * x) + (careful ? 2 * kU * kU * r : 0) + kUnderflow;
  // In double-double slabs and the tail are added one by one.
  const std::int64_t terms = plain ? m + n : 2 * (slab_rows(m, n) + kSlabs);
  return {of_r, norm * of_r + bound(terms) * norm * (r + of_r) + kUnderflow};
}

/// One block of rows: y = b - H x, then z += A'y.
void NormalProduct::multiply(const Slab& s, const core::RowBlock& block, std::int64_t first) const {
  constexpr std::int64_t kPiece = 64;  // columns between two looks at what comes next
  const std::int64_t rows = block.rows();
  const std::int64_t n = block.cols();
  const std::int64_t k = s.z.cols;
  const kernels::Table& t = kernels::table();
  const MatrixView<double> y = s.y.block(0, 0, rows, k);
  for (std::int64_t c = 0; c < k; ++c) {
    if (s.right == nullptr) {
      std::fill_n(y.column(c), rows, 0.0);
    } else {
      const auto e = static_cast<std::size_t>(c);
      const double* const b = s.right->b.column(s.right->column[e]) + first;
      for (std::int64_t i = 0; i < rows; ++i) y(i, c) = b[i] * s.right->factor[e];
    }
  }
  // By rows a piece is some rows, by columns some columns.
  const std::int64_t across = block.by_rows ? rows : n;
  const std::int64_t step = block.by_rows ? std::max<std::int64_t>(1, kPiece * 64 / n) : kPiece;
  const auto piece = [&](const core::RowBlock& of, std::int64_t p) {
    const std::int64_t w = std::min(step, across - p);
    if (!of.by_rows) return of.block(0, p, of.rows(), w);
    const std::int64_t from = std::min(p, of.rows());  // the last block has fewer
    return of.block(from, 0, std::min(w, of.rows() - from), n);
  };
  // The next block is fetched in two parts: beside the later pieces of A x the first, beside the
  // later pieces of A'y the second. Earlier, and there are too many lines on their way.
  const std::int64_t half = across / 2 / step * step;
  const auto fetch_beside = [&](std::int64_t p, std::int64_t part) {
    if (s.next.stored.data != nullptr && p >= half) fetch(piece(s.next, part));
  };
  for (std::int64_t p = 0; p < across && !s.x.empty(); p += step) {
    fetch_beside(p, p - half);
    const core::RowBlock some = piece(block, p);
    kernels::Products q;
    if (block.by_rows) {
      q.w = s.x[0];
      q.z = y.block(p, 0, some.rows(), k);
    } else {
      q.x = s.x[0].block(p, 0, some.cols(), k);
      q.y = y;
    }
    kernels::product(t, some.stored, q);
  }
  for (std::int64_t c = 0; c < k; ++c) {
    double sum = 0;
    for (std::int64_t i = 0; i < rows; ++i) sum += y(i, c) * y(i, c);
    s.squares[c] += sum;
  }
  for (std::int64_t p = 0; p < across; p += step) {
    fetch_beside(p, p);
    const core::RowBlock some = piece(block, p);
    kernels::Products q;
    if (block.by_rows) {
      q.x = y.block(p, 0, some.rows(), k);
      q.y = s.z;
    } else {
      q.w = y;
      q.z = s.z.block(p, 0, some.cols(), k);
    }
    kernels::product(t, some.stored, q);
  }
}

/// The same in double-double; the low part of y is multiplied in FP64.
void NormalProduct::multiply_exactly(const Slab& s, const core::RowBlock& block,
                                     std::int64_t first) const {
  const std::int64_t rows = block.rows();
  const kernels::Table& t = kernels::table();
  for (std::int64_t c = 0; c < s.z.cols; ++c) {
    double* const y = s.y.column(c);
    double* const low = s.y_low.column(c);
    const auto e = static_cast<std::size_t>(c);
    for (std::int64_t i = 0; i < rows; ++i) {
      y[i] =
          s.right == nullptr ? 0 : s.right->b(first + i, s.right->column[e]) * s.right->factor[e];
      low[i] = 0;
    }
    const bool careful = s.right != nullptr && s.right->careful;
    if (careful) add_carefully(block, s.x, c, y, low);
    for (std::size_t v = 0; v < s.x.size() && !careful; ++v) {
      const MatrixView<const double>& x = s.x[v];
      kernels::ExactProducts q;
      if (block.by_rows) {
        q.w = x.column(c);
        q.z = y;
        q.z_low = low;
      } else {
        q.x = x.column(c);
        q.y = y;
        q.y_low = low;
      }
      kernels::exact_product(t, block.stored, q);
    }
    for (std::int64_t i = 0; i < rows; ++i) {
      const core::DoubleDouble sum = core::two_sum(y[i], low[i]);
      y[i] = sum.hi;
      low[i] = sum.lo;
      s.squares[c] += y[i] * y[i];
    }
    kernels::ExactProducts q;
    if (block.by_rows) {
      q.x = y;
      q.y = s.z.column(c);
      q.y_low = s.z_low.column(c);
    } else {
      q.w = y;
      q.z = s.z.column(c);
      q.z_low = s.z_low.column(c);
    }
    kernels::exact_product(t, block.stored, q);
  }
  kernels::Products q;
  const MatrixView<double> low = s.y_low.block(0, 0, rows, s.z.cols);
  if (block.by_rows) {
    q.x = low;
    q.y = s.z_low;
  } else {
    q.w = low;
    q.z = s.z_low;
  }
  kernels::product(t, block.stored, q);
}

void NormalProduct::pass(const RightHandSides* right, MatrixView<const double> x,
                         MatrixView<double> g, std::vector<double>* squares, Sums sums) {
  const std::int64_t m = a_.rows();
  const std::int64_t n = a_.cols();
  const std::int64_t k = g.cols;
  const std::int64_t slabs = slabs_of(m, n);
  const std::int64_t block = block_rows(n);
  const std::int64_t read = read_rows(m, n);
  const double sign = right == nullptr ? 1 : -1;
  // x and the vectors that it is added to.
  std::vector<std::vector<const double*>> from;
  if (right != nullptr) from = right->base;
  const bool exact = !from.empty() || sums == Sums::double_double;
  if (!x.empty()) from.emplace_back();
  for (std::int64_t c = 0; c < k && !x.empty(); ++c) from.back().push_back(x.column(c));
  core::Buffer<double> scaled(n * k * static_cast<std::int64_t>(from.size()), core::Contents::any);
  std::vector<MatrixView<const double>> sx;
  double* to = scaled.data();
  for (const std::vector<const double*>& vectors : from) {
    sx.push_back(view<const double>(to, n, k));
    for (const double* const v : vectors) {
      for (std::int64_t j = 0; j < n; ++j)
        *to++ = sign * power_[static_cast<std::size_t>(j)] * v[j];
    }
  }
  Checksums checksums(n);
  const auto add_checksums = [&](const core::RowBlock& rows) {
    for (std::int64_t j = 0; j < n; j += Checksums::kColumns) {
      const std::int64_t w = std::min(Checksums::kColumns, n - j);
      checksums.add(j,
                    kernels::checksum(kernels::table(), rows.block(0, j, rows.rows(), w).stored));
    }
  };
  // Sums of each slab, high and low, and its squares.
  core::Buffer<double> z(core::size_product(slabs, n, (exact ? 2 : 1) * k, "sums of slabs"));
  core::Buffer<double> squared(slabs * k);
  const std::int64_t scratch = a_.scratch(read) + 2 * block * k;
  std::vector<core::Buffer<double>> memory;
  for (int t = 0; t < team_.size(); ++t) memory.emplace_back(scratch, core::Contents::any);
  std::atomic<std::int64_t> next{0};
  team_.run([&](int thread) {
    const core::FpScope fp;
    double* const y = memory[static_cast<std::size_t>(thread)].data();
    double* const rows = y + 2 * block * k;
    for (std::int64_t s = next++; s < slabs; s = next++) {
      double* const sum = z.data() + s * n * (exact ? 2 : 1) * k;
      Slab slab{right,
                sx,
                view(y, block, k),
                view(y + block * k, block, k),
                view(sum, n, k),
                view(sum + n * k, n, k),
                squared.data() + s * k,
                {}};
      const std::int64_t end = std::min(m, (s + 1) * slab_rows(m, n));
      for (std::int64_t first = s * slab_rows(m, n); first < end; first += read) {
        const std::int64_t count = std::min(read, end - first);
        const core::RowBlock all = a_.read(first, count, rows);
        for (std::int64_t i = 0; i < count; i += block) {
          const core::RowBlock now = all.block(i, 0, std::min(block, count - i), n);
          slab.next = i + block < count
                          ? all.block(i + block, 0, std::min(block, count - i - block), n)
                          : core::RowBlock{};
          exact ? multiply_exactly(slab, now, first + i) : multiply(slab, now, first + i);
          add_checksums(now);  // which is in the cache
        }
      }
    }
  });
  if (changed_column_ < 0) changed_column_ = expected_.first_difference(checksums);
  for (std::int64_t c = 0; c < k; ++c) {
    double square = 0;
    for (std::int64_t s = 0; s < slabs; ++s) square += squared[s * k + c];
    for (std::int64_t j = 0; j < n; ++j) {
      core::DoubleDouble sum{0, 0};
      for (std::int64_t s = 0; s < slabs; ++s) {
        const double* const part = z.data() + s * n * (exact ? 2 : 1) * k + c * n + j;
        if (exact) {
          sum = sum + core::two_sum(part[0], part[n * k]);
        } else {
          sum.hi += part[0];
        }
      }
      const auto e = static_cast<std::size_t>(j);
      sum = {sum.hi * power_[e], sum.lo * power_[e]};
      core::DoubleDouble at{0, 0};
      for (std::size_t v = 0; v < from.size() && !tail_.empty(); ++v) {
        at = at + core::DoubleDouble{from[v][static_cast<std::size_t>(c)][j], 0};
      }
      if (at.hi != 0) {
        square += tail_[e] * at.hi * at.hi;
        sum = sum + core::two_product(sign * tail_[e], at.hi) +
              core::two_product(sign * tail_[e], at.lo);
      }
      g(j, c) = sum.value();
    }
    if (squares != nullptr) (*squares)[static_cast<std::size_t>(c)] = square;
  }
}

}  // namespace stepwell::refine
