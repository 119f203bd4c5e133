// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/certify/sketch.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "core/machine/fp_scope.hpp"
#include "core/numeric/double_double.hpp"
#include "core/numeric/exponent.hpp"
#include "core/numeric/hash.hpp"
#include "core/numeric/roundoff.hpp"
#include "kernels/blas/lapack.hpp"
#include "kernels/kernels.hpp"
#include "refine/vectors.hpp"

namespace stepwell::solvers {
namespace {

using core::kUnit;

constexpr std::int64_t kBlock = 256;  // three parts of a block of A fit into L2
constexpr int kProbeBits = 15;        // the elements of W are odd integers below 2^15
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

int log2_up(std::int64_t n) {
  return std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1)) - 1);
}

/// The bits of a part that is multiplied by probes and added up n times without rounding.
int bits_with_probes(std::int64_t n) {
  return 53 - kProbeBits - log2_up(n);
}

/// The bits of two parts that are multiplied with each other, where two such sums are added.
int bits_with_parts(std::int64_t n) {
  return (52 - log2_up(n)) / 2;
}

/// An exponent that no element of this size reaches.
int above(double size) {
  return size > 0 ? core::exponent_of(size) + 1 : 0;
}

/// Splits numbers below 1 into two parts of 'bits' bits and the rest.
struct Splitter {
  /// The numbers are first multiplied by 2^-exponent.
  Splitter(int exponent, int bits)
      : half(core::power_of_two(-(exponent / 2))),
        other_half(core::power_of_two(-(exponent - exponent / 2))),
        first(1.5 * core::power_of_two(52 - bits)),
        second(1.5 * core::power_of_two(52 - 2 * bits - 1)) {}

  double half, other_half;  // 2^-exponent may not be a normal number
  double first, second;
};

/// Three matrices of the same size.
struct Parts {
  Parts(std::int64_t rows, std::int64_t cols)
      : memory(3 * rows * cols, core::Contents::any), rows_(rows), cols_(cols) {}
  MatrixView<double> operator[](int k) const {
    return view(memory.data() + k * rows_ * cols_, rows_, cols_);
  }
  void set_zero() { std::fill(memory.begin(), memory.end(), 0.0); }
  core::Buffer<double> memory;

 private:
  std::int64_t rows_, cols_;
};

/// Splits a column into column j of the parts.
void split(const double* x, std::int64_t rows, const Splitter& splitter, const Parts& to,
           std::int64_t j) {
  double* const first = to[0].column(j);
  double* const second = to[1].column(j);
  double* const third = to[2].column(j);
  for (std::int64_t i = 0; i < rows; ++i) {
    const double scaled = x[i] * splitter.half * splitter.other_half;
    const double leading = (scaled + splitter.first) - splitter.first;
    const double rest = scaled - leading;
    const double next = (rest + splitter.second) - splitter.second;
    first[i] = leading;
    second[i] = next;
    third[i] = rest - next;
  }
}

/// Splits a block of rows, each column by its own exponent.
void split_rows(MatrixView<const double> x, std::int64_t row, std::int64_t rows,
                const std::vector<double>& sizes, int bits, const Parts& parts) {
  for (std::int64_t c = 0; c < x.cols; ++c) {
    const double size = sizes[static_cast<std::size_t>(c)];
    const Splitter splitter(std::isfinite(size) ? above(size) : 0, bits);
    split(x.column(c) + row, rows, splitter, parts, c);
  }
}

void add_checksums(MatrixView<const double> block, std::int64_t col, refine::Checksums& sums) {
  constexpr std::int64_t kColumns = refine::Checksums::kColumns;
  for (std::int64_t c = 0; c < block.cols; c += kColumns) {
    const std::int64_t width = std::min(kColumns, block.cols - c);
    sums.add(col + c, kernels::checksum(kernels::table(), block.block(0, c, block.rows, width)));
  }
}

/// Copies the lower triangle of a diagonal block; zeros above add nothing to a checksum.
void copy_lower(MatrixView<const double> a, MatrixView<double> out) {
  for (std::int64_t j = 0; j < a.cols; ++j) {
    std::fill_n(out.column(j), j, 0.0);
    std::copy(a.column(j) + j, a.column(j) + a.rows, out.column(j) + j);
  }
}

void fill_upper(MatrixView<double> a) {
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < j; ++i) a(i, j) = a(j, i);
  }
}

}  // namespace

Sketch::Sketch(engine::ThreadPool& pool, const SketchedMatrix& of, std::uint64_t seed,
               refine::Checksums& checksums)
    : n_(of.a.rows), exponent_(above(of.max_abs)), w_(kProbes * n_, core::Contents::any) {
  for (core::Buffer<double>& part : v_) {
    part = core::Buffer<double>(kProbes * n_, core::Contents::any);
  }
  const std::int64_t blocks = (n_ + kBlock - 1) / kBlock;
  pool.for_each(blocks, [&](std::int64_t block) {
    const std::int64_t end = std::min(n_, (block + 1) * kBlock) * kProbes;
    for (std::int64_t k = block * kBlock * kProbes; k < end; ++k) {
      const std::uint64_t bits =
          core::hash(seed + static_cast<std::uint64_t>(k)) >> (64 - kProbeBits);
      w_.data()[k] = static_cast<double>(2 * static_cast<std::int64_t>(bits) + 1 -
                                         (std::int64_t{1} << kProbeBits));
    }
  });
  const int bits = bits_with_probes(n_);
  const Splitter splitter(exponent_, bits);
  const auto n = static_cast<double>(n_);
  v_error_ = 4 * (n + 8) * kUnit * n * std::ldexp(1.0, kProbeBits - 2 * bits);
  const MatrixView<const double> w = view<const double>(w_.data(), kProbes, n_);
  // Block i of the result takes the blocks (j, i) of A, or of A' the blocks (i, j) of A.
  pool.for_each(blocks, [&](std::int64_t i) {
    const core::FpScope fp;
    const std::int64_t col = i * kBlock;
    const std::int64_t cols = std::min(kBlock, n_ - col);
    Parts sums(kProbes, cols);
    sums.set_zero();
    const Parts parts(kBlock, kBlock);
    const core::Buffer<double> diagonal(kBlock * kBlock, core::Contents::any);
    for (std::int64_t j = 0; j < blocks; ++j) {
      const std::int64_t row = j * kBlock;
      const std::int64_t rows = std::min(kBlock, n_ - row);
      const bool across = of.symmetric ? j < i : of.transposed;
      MatrixView<const double> a =
          across ? of.a.block(col, row, cols, rows) : of.a.block(row, col, rows, cols);
      if (of.symmetric && i == j) {
        const MatrixView<double> full = view(diagonal.data(), rows, rows);
        copy_lower(a, full);
        add_checksums(full, col, checksums);
        fill_upper(full);
        a = full;
      } else if (!of.symmetric || !across) {
        add_checksums(a, across ? row : col, checksums);
      }
      for (std::int64_t c = 0; c < a.cols; ++c) split(a.column(c), a.rows, splitter, parts, c);
      for (int k = 0; k < 3; ++k) {
        kernels::subtract_product(w.block(0, row, kProbes, rows),
                                  parts[k].block(0, 0, a.rows, a.cols), sums[k], {false, across});
      }
    }
    for (int k = 0; k < 3; ++k) {
      std::copy_n(sums[k].data, kProbes * cols, v_[k].data() + kProbes * col);
    }
  });
  // The sums of the leading parts are exact: v = v_[0] + v_[1] + v_[2]. They are now split again,
  // for products with X, and keep their scale.
  for (std::int64_t k = 0; k < kProbes * n_; ++k) {
    vmax_ = std::max(vmax_, std::abs(v_[0].data()[k] + v_[1].data()[k]));
  }
  const int parts = bits_with_parts(n_);
  const double first = 1.5 * core::power_of_two(52 + above(vmax_) + 1 - parts);
  const double second = 1.5 * core::power_of_two(52 + above(vmax_) - 2 * parts);
  for (std::int64_t k = 0; k < kProbes * n_; ++k) {
    const core::DoubleDouble sum = core::two_sum(v_[0].data()[k], v_[1].data()[k]);
    const double leading = (sum.hi + first) - first;
    const double rest = sum.hi - leading;
    const double next = (rest + second) - second;
    v_[0].data()[k] = leading;
    v_[1].data()[k] = next;
    v_[2].data()[k] = (rest - next) + (sum.lo + v_[2].data()[k]);
  }
}

void Sketch::bound(MatrixView<const double> b, MatrixView<const double> x, Bound* bounds) const {
  const std::int64_t columns = x.cols;
  const int bits = bits_with_parts(n_);
  std::vector<double> b_sizes, x_sizes;
  for (std::int64_t c = 0; c < columns; ++c) {
    b_sizes.push_back(refine::max_abs(n_, b.column(c)));
    x_sizes.push_back(refine::max_abs(n_, x.column(c)));
  }
  const Parts parts(kBlock, columns);
  Parts of_b(kProbes, columns), of_x(kProbes, columns);
  of_b.set_zero();
  of_x.set_zero();
  const core::Buffer<double> sums(2 * kBlock * columns);
  const MatrixView<double> later = view(sums.data(), kBlock, columns);
  const MatrixView<double> all = view(sums.data() + kBlock * columns, kBlock, columns);
  for (std::int64_t row = 0; row < n_; row += kBlock) {
    const std::int64_t rows = std::min(kBlock, n_ - row);
    const auto part = [&](int k) { return parts[k].block(0, 0, rows, columns); };
    const auto v = [&](int k) {
      return view<const double>(v_[k].data() + row * kProbes, kProbes, rows);
    };
    const auto w = view<const double>(w_.data() + row * kProbes, kProbes, rows);
    split_rows(b, row, rows, b_sizes, bits_with_probes(n_), parts);
    for (int k = 0; k < 3; ++k) kernels::subtract_product(w, part(k), of_b[k]);
    // v x = v1 x1 + (v1 x2 + v2 x1) + (v1 x3 + v2 (x2 + x3) + v3 x): the first two sums are exact.
    split_rows(x, row, rows, x_sizes, bits, parts);
    for (std::int64_t k = 0; k < kBlock * columns; ++k) {
      later.data[k] = parts[1].data[k] + parts[2].data[k];
      all.data[k] = parts[0].data[k] + later.data[k];
    }
    kernels::subtract_product(v(0), part(0), of_x[0]);
    kernels::subtract_product(v(0), part(1), of_x[1]);
    kernels::subtract_product(v(1), part(0), of_x[1]);
    kernels::subtract_product(v(0), part(2), of_x[2]);
    kernels::subtract_product(v(1), later.block(0, 0, rows, columns), of_x[2]);
    kernels::subtract_product(v(2), all.block(0, 0, rows, columns), of_x[2]);
  }
  // The standard deviation of an odd integer between -2^15 and 2^15.
  static const double sigma = std::sqrt((std::ldexp(1.0, 2 * kProbeBits) - 1) / 3);
  const auto n = static_cast<double>(n_);
  // What the sums that are not exact may be off by: n products of size 2^(1 - 2 bits).
  const double inexact = 4 * (n + 8) * kUnit * n * std::ldexp(1.0, 2 - 2 * bits);
  for (std::int64_t c = 0; c < columns; ++c) {
    const double b_size = b_sizes[static_cast<std::size_t>(c)];
    const double x_size = x_sizes[static_cast<std::size_t>(c)];
    if (!std::isfinite(b_size) || !std::isfinite(x_size)) {
      bounds[c] = {{b_size, x_size, kNaN}, 0};
      continue;
    }
    // Sums with b have the scale 2^b_power, those with A x 2^x_power. The larger one is the
    // bound's.
    constexpr int kNone = -10000;  // of a column of zeros
    const int b_power = b_size > 0 ? above(b_size) : kNone;
    const int x_power = x_size > 0 ? above(x_size) + exponent_ : kNone;
    const int power = std::max(b_power, x_power);
    const double b_scale = std::ldexp(1.0, b_power - power);
    const double x_scale = std::ldexp(1.0, x_power - power);
    double squares = 0;
    for (std::int64_t k = 0; k < kProbes; ++k) {
      // -W'b + W'A x: v_ holds -W'A, and subtract_product() subtracts.
      core::DoubleDouble sum{0, 0};
      for (int p = 0; p < 3; ++p) {
        sum = sum + core::DoubleDouble{of_b[p](k, c) * b_scale, 0};
        sum = sum + core::DoubleDouble{of_x[p](k, c) * x_scale, 0};
      }
      squares += sum.hi * sum.hi;
    }
    const double estimate = std::sqrt(squares / static_cast<double>(kProbes)) / sigma;
    const double rounding =
        (inexact * (vmax_ * x_scale + std::ldexp(b_scale, kProbeBits)) + n * v_error_ * x_scale) /
        sigma;
    const int exponent = power == kNone ? 0 : power;
    bounds[c] = {
        {core::times_power_of_two(b_size, -exponent), core::times_power_of_two(x_size, -exponent),
         kSlack * (estimate * (1 + 0x1p-40) + rounding)},
        exponent};
  }
}

}  // namespace stepwell::solvers
