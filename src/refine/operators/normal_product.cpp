// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "refine/operators/normal_product.hpp"

#include <algorithm>
#include <cmath>

#include "core/machine/fp_scope.hpp"
#include "core/numeric/double_double.hpp"
#include "core/numeric/roundoff.hpp"
#include "kernels/kernels.hpp"

namespace stepwell::refine {
namespace {

/// Maximum number of slabs of rows, each processed by one thread: enough for many cores.
constexpr std::int64_t kSlabs = 32;
/// Elements of a block of rows: 1 MiB, half of L2.
constexpr std::int64_t kBlock = 1 << 17;
/// Elements that are requested from the caller's function at once.
constexpr std::int64_t kRead = 1 << 20;

std::int64_t block_rows(std::int64_t n) {
  return std::clamp<std::int64_t>(kBlock / n / 16 * 16, 16, SplitScale::kMostRows);
}

std::int64_t slab_rows(std::int64_t m, std::int64_t n) {
  return core::round_up(std::max<std::int64_t>((m + kSlabs - 1) / kSlabs, 1), block_rows(n));
}

std::int64_t slabs_of(std::int64_t m, std::int64_t n) {
  return (m + slab_rows(m, n) - 1) / slab_rows(m, n);
}

/// Rows that are read at once: some blocks of a slab.
std::int64_t read_rows(std::int64_t m, std::int64_t n) {
  const std::int64_t some = std::max<std::int64_t>(1, kRead / n / block_rows(n)) * block_rows(n);
  return std::min(some, slab_rows(m, n));
}

std::vector<double> largest_of(const std::vector<kernels::Scan>& columns) {
  std::vector<double> largest;
  for (const kernels::Scan& column : columns) largest.push_back(column.max_abs);
  return largest;
}

}  // namespace

NormalProduct::NormalProduct(engine::ThreadPool& pool, core::RowReader& a,
                             const std::vector<double>& power, const std::vector<double>& tail,
                             const std::vector<kernels::Scan>& read)
    : pool_(pool),
      a_(a),
      power_(power),
      tail_(tail),
      scale_(largest_of(read)),
      expected_(static_cast<std::int64_t>(read.size())) {
  for (std::size_t j = 0; j < read.size(); ++j) {
    largest_ = std::hypot(largest_, 2 * read[j].max_abs * power[j]);
    expected_.add(static_cast<std::int64_t>(j), read[j].checksum);
  }
}

std::int64_t NormalProduct::workspace_bytes(std::int64_t m, std::int64_t n, std::int64_t columns) {
  return core::size_product(slabs_of(m, n) + 6, n, 16 * columns, "sums of slabs");
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

/// ||b|| <= ||r|| + ||H|| ||x||, and the norms of |H| |x| and |H|' |r| are at most ||H||_F ||x||
/// and ||H||_F ||r||. FP64: the error of a sum of k products is at most (k + 1) u times the sum of
/// their magnitudes, in any order (Higham 2002, 3.1). Double-double: the factor is 2 (k + 2)^2 u^2
/// (ExactProducts), with n terms for each vector, or one term per row for r and for its low part.
/// An error in r is multiplied by H'. Careful: the factor is 2 (k + 2)^3 u^3 (Ogita, Rump & Oishi
/// 2005, Proposition 5.11), plus u^2 r for storing r.
///
/// Split: apart from the exact part, the FP64 sum for y has the terms head x.rest and rest x. With
/// |a_ij| <= 2^e_j and S the sum of 2^e_j |x_j|, these are at most 2^-30 S and 2^-23 2^e_j |x_j|
/// (SplitScale::split_x). S is at most ||x|| times the norm of the vector of the 2^e_j, and each of
/// the m rows has such terms. For z the terms are at most 2^e_j 2^-23 max |r| over a block, and
/// 2^-23 2^e_j |r_i|; over the blocks, of at most kMostRows rows, the former add up to at most
/// sqrt(kMostRows m) ||r||, the latter to sqrt(m) ||r||. Everything else that is added to the low
/// parts is at most u times the high parts, as in double-double.
Rounding NormalProduct::rounding(Sums sums, double norm, double r, double x,
                                 bool triple_sums) const {
  using core::kUnit;
  constexpr double kUnderflow = 0x1p-500;
  const auto plain = [&](std::int64_t terms) {
    return 1.01 * kUnit * static_cast<double>(terms + 4);
  };
  const auto twice = [&](std::int64_t terms) { return 2 * std::pow(plain(terms), 2); };
  const std::int64_t m = a_.rows(), n = a_.cols(), slab = slab_rows(m, n);
  const double root = std::sqrt(static_cast<double>(m)), sizes = r + 2 * norm * x;
  double of_r = kUnderflow, of_g = kUnderflow;
  if (sums == Sums::fp64) {
    of_r += plain(n) * sizes;
    of_g += plain(m + n) * norm * (r + of_r);
  } else {
    // Slabs and the tail are added one by one.
    of_r += triple_sums ? 2 * std::pow(plain(6 * n), 3) * sizes + 2 * kUnit * kUnit * r
                        : twice(3 * n) * sizes;
    of_g += twice(2 * (slab + kSlabs)) * norm * (r + of_r);
  }
  if (sums == Sums::split) {
    of_r += plain(2 * n + 16) * (static_cast<double>(n) * 0x1p-30 + 0x1p-23) * root * largest_ * x;
    of_g += plain(3 * slab + 16) * 17 * 0x1p-23 * root * largest_ * (r + of_r);
  }
  return {of_r, norm * of_r + of_g};
}

/// Data of a pass: x and the base vectors that it is added to, and the sums of all slabs.
struct NormalProduct::Pass {
  const RightHandSides* right;
  Sums sums;
  double sign;  ///< sign of the products with x
  std::int64_t columns, slabs;
  std::vector<std::vector<const double*>> from;  ///< columns of the base vectors and of x
  core::Buffer<double> scaled;
  std::vector<MatrixView<const double>> x;  ///< scaled for A; if split: x, its head and its rest
  std::int64_t parts;  ///< parts of a slab's sums: 1 (high) or 2 (high and low)
  core::Buffer<double> z, squares;
  Checksums of_y, of_z;

  bool checked() const { return sums != Sums::fp64 || right == nullptr; }
  double* part(std::int64_t n, std::int64_t slab, std::int64_t p) {
    return z.data() + (slab * parts + p) * n * columns;
  }
};

void NormalProduct::set_vectors(Pass& p, MatrixView<const double> x) const {
  const std::int64_t n = a_.cols(), k = p.columns;
  if (p.right != nullptr) p.from = p.right->base;
  // Base vectors, and split sums without an x, are supported in double-double only.
  if (!p.from.empty() || (p.sums == Sums::split && x.empty())) p.sums = Sums::double_double;
  if (!x.empty()) p.from.emplace_back();
  for (std::int64_t c = 0; c < k && !x.empty(); ++c) p.from.back().push_back(x.column(c));
  const bool split = p.sums == Sums::split;
  p.scaled = core::Buffer<double>(n * k * (split ? 3 : static_cast<std::int64_t>(p.from.size())),
                                  core::Contents::any);
  double* to = p.scaled.data();
  for (const std::vector<const double*>& columns : p.from) {
    p.x.push_back(view<const double>(to, n, k));
    for (const double* const v : columns) {
      for (std::int64_t j = 0; j < n; ++j)
        *to++ = p.sign * power_[static_cast<std::size_t>(j)] * v[j];
    }
  }
  if (!split) return;
  for (std::int64_t c = 0; c < k; ++c) {
    scale_.split_x(p.x[0].column(c), to + c * n, to + (k + c) * n);
  }
  p.x.push_back(view<const double>(to, n, k));
  p.x.push_back(view<const double>(to + n * k, n, k));
}

/// Adds the blocks of slab s. room: workspace for a block's y, for split sums and for the rows that
/// are read.
void NormalProduct::add_slab(Pass& p, std::int64_t s, double* room) {
  const std::int64_t m = a_.rows(), n = a_.cols(), k = p.columns;
  const std::int64_t block = block_rows(n), read = read_rows(m, n);
  NormalSlab slab{p.right,
                  p.x,
                  view(room, block, k),
                  view(room + block * k, block, k),
                  view(p.part(n, s, 0), n, k),
                  view(p.part(n, s, p.parts - 1), n, k),
                  p.squares.data() + s * k,
                  p.of_y,
                  p.of_z,
                  {}};
  double* const of_split = room + 2 * block * k;
  double* const rows = of_split + (p.sums == Sums::split ? split_room(n, k) : 0);
  const std::int64_t end = std::min(m, (s + 1) * slab_rows(m, n));
  for (std::int64_t first = s * slab_rows(m, n); first < end; first += read) {
    const std::int64_t count = std::min(read, end - first);
    const core::RowBlock all = a_.read(first, count, rows);
    for (std::int64_t i = 0; i < count; i += block) {
      const core::RowBlock now = all.block(i, 0, std::min(block, count - i), n);
      const std::int64_t after = i + block;
      slab.next =
          after < count ? all.block(after, 0, std::min(block, count - after), n) : core::RowBlock{};
      if (p.sums == Sums::split) {
        add_block_split(slab, now, first + i, scale_, of_split);
      } else if (p.sums == Sums::fp64) {
        add_block(slab, now, first + i);
        if (p.checked()) add_checksums(slab, now);
      } else {
        add_block_exactly(slab, now, first + i);
      }
    }
  }
}

/// Computes g of column c from the sums of the slabs; returns ||b - H x||^2 + x'Tx of the column.
double NormalProduct::add_up(Pass& p, std::int64_t c, double* g) const {
  const std::int64_t n = a_.cols();
  std::vector<double> low(static_cast<std::size_t>(n));
  std::fill_n(g, n, 0.0);
  double square = 0;
  for (std::int64_t s = 0; s < p.slabs; ++s) {
    const double* const high_part = p.part(n, s, 0) + c * n;
    const double* const low_part = p.part(n, s, p.parts - 1) + c * n;
    square += p.squares[s * p.columns + c];
    if (p.parts == 1) {
      for (std::int64_t j = 0; j < n; ++j) g[j] += high_part[j];
      continue;
    }
    for (std::int64_t j = 0; j < n; ++j) {
      const core::DoubleDouble sum = core::two_sum(g[j], high_part[j]);
      g[j] = sum.hi;
      low[static_cast<std::size_t>(j)] += sum.lo + low_part[j];
    }
  }
  for (std::int64_t j = 0; j < n; ++j) {
    const auto e = static_cast<std::size_t>(j);
    core::DoubleDouble sum = core::two_sum(g[j] * power_[e], low[e] * power_[e]), at{0, 0};
    for (std::size_t v = 0; v < p.from.size() && !tail_.empty(); ++v) {
      at = at + core::DoubleDouble{p.from[v][static_cast<std::size_t>(c)][j], 0};
    }
    if (at.hi != 0) {
      square += tail_[e] * at.hi * at.hi;
      sum = sum + core::two_product(p.sign * tail_[e], at.hi) +
            core::two_product(p.sign * tail_[e], at.lo);
    }
    g[j] = sum.value();
  }
  return square;
}

void NormalProduct::pass(const RightHandSides* right, MatrixView<const double> x,
                         MatrixView<double> g, std::vector<double>* squares, Sums sums) {
  const std::int64_t m = a_.rows(), n = a_.cols(), k = g.cols;
  Pass p{right,
         sums,
         right == nullptr ? 1.0 : -1.0,
         k,
         slabs_of(m, n),
         {},
         {},
         {},
         1,
         {},
         {},
         Checksums(n),
         Checksums(n)};
  set_vectors(p, x);
  p.parts = p.sums == Sums::fp64 ? 1 : 2;
  p.z = core::Buffer<double>(core::size_product(p.slabs, n, p.parts * k, "sums of slabs"));
  p.squares = core::Buffer<double>(p.slabs * k);
  const std::int64_t room = a_.scratch(read_rows(m, n)) + 2 * block_rows(n) * k +
                            (p.sums == Sums::split ? split_room(n, k) : 0);
  std::vector<core::Buffer<double>> memory;
  for (int t = 0; t < pool_.size(); ++t) memory.emplace_back(room, core::Contents::any);
  std::atomic<std::int64_t> next{0};
  pool_.run([&](int thread) {
    const core::FpScope fp;
    double* const own = memory[static_cast<std::size_t>(thread)].data();
    for (std::int64_t s = next++; s < p.slabs; s = next++) add_slab(p, s, own);
  });
  for (const Checksums* const found : {&p.of_y, &p.of_z}) {
    if (!p.checked() || changed_column_ >= 0 || a_.failed()) break;
    changed_column_ = expected_.first_difference(*found);
  }
  pool_.for_each(k, [&](std::int64_t c) {
    const core::FpScope fp;
    const double square = add_up(p, c, g.column(c));
    if (squares != nullptr) (*squares)[static_cast<std::size_t>(c)] = square;
  });
}

}  // namespace stepwell::refine
