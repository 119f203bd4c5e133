// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "refine/normal_product.hpp"

#include <algorithm>
#include <cmath>

#include "core/double_double.hpp"
#include "core/fp_scope.hpp"
#include "kernels/kernels.hpp"

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

/// What a slab works with; y, z and their low parts are its own.
struct NormalProduct::Slab {
  const RightHandSides* right;
  MatrixView<const double> x;  ///< -power x, or power x where there is no b; may be empty
  MatrixView<double> y, y_low;
  MatrixView<double> z, z_low;
  double* squares;
  core::RowBlock next;  ///< the block after this one, to be fetched meanwhile
};

NormalProduct::NormalProduct(engine::Team& team, core::RowReader& a,
                             const std::vector<double>& power, const std::vector<double>& tail,
                             double max_abs)
    : team_(team), a_(a), power_(power), tail_(tail), lower_(max_abs > 0x1p880 ? 0x1p-128 : 1) {}

std::int64_t NormalProduct::workspace_bytes(std::int64_t m, std::int64_t n, std::int64_t columns) {
  return core::size_product(slabs_of(m, n) + 2, n, 16 * columns, "sums of slabs");
}

void NormalProduct::apply(MatrixView<const double> x, MatrixView<double> y, Sums sums) {
  pass(nullptr, x, y, nullptr, sums);
}

void NormalProduct::residual(const RightHandSides& right, MatrixView<const double> x,
                             MatrixView<double> g, std::vector<double>& squares, Sums sums) {
  pass(&right, x, g, &squares, sums);
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
      q.w = s.x;
      q.z = y.block(p, 0, some.rows(), k);
    } else {
      q.x = s.x.block(p, 0, some.cols(), k);
      q.y = y;
    }
    kernels::product(t, some.stored, q);
  }
  for (std::int64_t c = 0; c < k; ++c) {
    double sum = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
      sum += y(i, c) * y(i, c);
      y(i, c) *= lower_;
    }
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

/// The same in double-double; y is rounded to FP64 between the two products.
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
    kernels::ExactProducts q;
    if (!s.x.empty()) {
      if (block.by_rows) {
        q.w = s.x.column(c);
        q.z = y;
        q.z_low = low;
      } else {
        q.x = s.x.column(c);
        q.y = y;
        q.y_low = low;
      }
      kernels::exact_product(t, block.stored, q);
    }
    for (std::int64_t i = 0; i < rows; ++i) {
      y[i] += low[i];
      s.squares[c] += y[i] * y[i];
      y[i] *= lower_;
    }
    q = {};
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
}

void NormalProduct::pass(const RightHandSides* right, MatrixView<const double> x,
                         MatrixView<double> g, std::vector<double>* squares, Sums sums) {
  const std::int64_t m = a_.rows();
  const std::int64_t n = a_.cols();
  const std::int64_t k = g.cols;
  const std::int64_t slabs = slabs_of(m, n);
  const std::int64_t block = block_rows(n);
  const std::int64_t read = read_rows(m, n);
  const bool exact = sums == Sums::double_double;
  core::Buffer<double> scaled(x.empty() ? 0 : n * k, core::Contents::any);
  for (std::int64_t c = 0; c < k && !x.empty(); ++c) {
    const double sign = right == nullptr ? 1 : -1;
    for (std::int64_t j = 0; j < n; ++j) {
      scaled[j + c * n] = sign * power_[static_cast<std::size_t>(j)] * x(j, c);
    }
  }
  const MatrixView<const double> sx = view<const double>(scaled.data(), x.empty() ? 0 : n, k);
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
        }
      }
    }
  });
  for (std::int64_t c = 0; c < k; ++c) {
    double square = 0;
    for (std::int64_t s = 0; s < slabs; ++s) square += squared[s * k + c];
    for (std::int64_t j = 0; j < n; ++j) {
      core::DoubleDouble sum{0, 0};
      for (std::int64_t s = 0; s < slabs; ++s) {
        const double* const from = z.data() + s * n * (exact ? 2 : 1) * k + c * n + j;
        if (exact) {
          sum = sum + core::two_sum(from[0], from[n * k]);
        } else {
          sum.hi += from[0];
        }
      }
      const auto e = static_cast<std::size_t>(j);
      sum = {sum.hi * power_[e] / lower_, sum.lo * power_[e] / lower_};
      if (!tail_.empty() && !x.empty()) {
        const double tx = tail_[e] * x(j, c);
        const double sign = right == nullptr ? 1 : -1;
        square += tx * x(j, c);
        sum = sum + core::DoubleDouble{sign * tx, 0};
      }
      g(j, c) = sum.value();
    }
    if (squares != nullptr) (*squares)[static_cast<std::size_t>(c)] = square;
  }
}

}  // namespace stepwell::refine
