// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/tall/qr.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "core/checked.hpp"
#include "core/machine/fp_scope.hpp"
#include "engine/runtime.hpp"
#include "kernels/blas/qr.hpp"

namespace stepwell::factor {
namespace {

constexpr std::int64_t kRead = 64;            ///< rows that are read and transposed at a time
constexpr std::int64_t kMostChains = 16;      ///< each chain holds an R until the end
constexpr std::int64_t kBlockRows = 512;      ///< rows of a block: at least so many, and at least n
constexpr std::int64_t kBlockSize = 1 << 15;  ///< elements of A in a block, at least (for small n)

/// How the rows are divided: this depends only on m and n, so that all sums are the same on any
/// thread.
struct Division {
  std::int64_t m, n, columns;
  std::int64_t height;  ///< rows of a block
  std::int64_t blocks;
  std::int64_t chains = 1;

  Division(std::int64_t rows, std::int64_t cols, std::int64_t rhs)
      : m(rows), n(cols), columns(rhs) {
    height = std::max({n, kBlockRows, kBlockSize / std::max<std::int64_t>(1, n)});
    blocks = (m + height - 1) / height;
    // Each join of two chains costs as much as n/3 rows: up to sqrt(m/n) chains cost little.
    while (chains < kMostChains && 2 * chains <= blocks && 4 * chains * chains <= m / n)
      chains *= 2;
  }
  std::int64_t width() const { return n + columns; }
  /// Rows of a block in memory: at least n, because it may hold a triangle.
  std::int64_t stored_rows() const { return std::max(n, std::min(height, m)); }
  std::int64_t first_block(std::int64_t chain) const {
    return core::size_product(chain, blocks, "blocks of rows") / chains;
  }
};

/// Per-thread workspace.
struct Workspace {
  core::Buffer<double> block, rows, scratch;

  Workspace(const Division& d, const core::RowReader& a)
      : block(core::size_product(d.stored_rows(), d.width(), "block of rows"), core::Contents::any),
        rows(a.scratch(kRead), core::Contents::any),
        scratch(kernels::qr_scratch(d.n, d.width()), core::Contents::any) {}
};

class Qr {
 public:
  Qr(engine::ThreadPool& pool, core::RowReader& a, const std::vector<double>& col,
     const std::vector<double>& tail, MatrixView<const double> b, Progress* progress)
      : pool_(pool),
        a_(a),
        col_(col),
        tail_(tail),
        b_(b),
        progress_(progress),
        d_(a.rows(), a.cols(), b.cols) {}

  TallQr run() {
    const std::int64_t threads = std::min<std::int64_t>(pool_.size(), d_.chains);
    for (std::int64_t t = 0; t < threads; ++t) work_.emplace_back(d_, a_);
    const std::int64_t size = core::size_product(d_.n, d_.width(), "triangle");
    for (std::int64_t c = 0; c < d_.chains; ++c) triangles_.emplace_back(size);
    if (progress_ != nullptr) {
      progress_->enter(Phase::factor, d_.blocks + d_.chains - 1 + (tail_.empty() ? 0 : 1));
    }
    for_each(d_.chains, [&](std::int64_t c, Workspace& w) { chain(c, w); });
    for (std::int64_t step = 1; step < d_.chains; step *= 2) {
      for_each(d_.chains / (2 * step), [&](std::int64_t i, Workspace& w) {
        const std::int64_t above = 2 * step * i;
        join(triangle(above), triangle(above + step), w);
      });
    }
    if (!tail_.empty()) add_tail(work_.front());
    a_.rethrow();
    TallQr result;
    result.cancelled = stopped();
    if (!result.cancelled) finish(result);
    return result;
  }

 private:
  bool stopped() const { return a_.failed() || (progress_ != nullptr && progress_->cancel); }
  void count() {
    if (progress_ != nullptr) ++progress_->done;
  }
  MatrixView<double> triangle(std::int64_t c) const {
    return view(triangles_[static_cast<std::size_t>(c)].data(), d_.n, d_.width());
  }

  /// body(i, workspace) for i = 0 .. count - 1 on as many threads as there are workspaces.
  template <class F>
  void for_each(std::int64_t count, const F& body) {
    std::atomic<std::int64_t> next{0};
    pool_.run([&](int thread) {
      const core::FpScope fp;
      const auto t = static_cast<std::size_t>(thread);
      if (t >= work_.size()) return;
      for (std::int64_t i = next++; i < count; i = next++) body(i, work_[t]);
    });
  }

  /// Factors the rows of one chain, block after block.
  void chain(std::int64_t c, Workspace& w) {
    const MatrixView<double> r = triangle(c);
    const std::int64_t begin = d_.first_block(c), end = d_.first_block(c + 1);
    for (std::int64_t k = begin; k < end && !stopped(); ++k) {
      const std::int64_t first = k * d_.height, rows = std::min(d_.height, d_.m - first);
      const MatrixView<double> block = load(first, rows, k == begin ? d_.n : 0, w);
      if (k == begin) {
        kernels::qr_block(block, d_.n, w.scratch.data());
        for (std::int64_t j = 0; j < d_.width(); ++j) {
          std::copy_n(block.column(j), std::min(d_.n, j + 1), r.column(j));
        }
      } else {
        kernels::qr_fold(r, block, kernels::Below::rectangle, w.scratch.data());
      }
      count();
    }
  }

  /// Loads rows of [A diag(col), B], stored by columns, with zeros below up to 'least' rows.
  MatrixView<double> load(std::int64_t first, std::int64_t rows, std::int64_t least, Workspace& w) {
    const MatrixView<double> out = view(w.block.data(), std::max(rows, least), d_.width());
    for (std::int64_t i = 0; i < rows; i += kRead) {
      const std::int64_t count = std::min(kRead, rows - i);
      const core::RowBlock in = a_.read(first + i, count, w.rows.data());
      for (std::int64_t j = 0; j < d_.n; ++j) {
        const double scale = col_[static_cast<std::size_t>(j)];
        double* const x = out.column(j) + i;
        for (std::int64_t k = 0; k < count; ++k) x[k] = in(k, j) * scale;
      }
    }
    for (std::int64_t j = 0; j < d_.columns; ++j) {
      std::copy_n(b_.column(j) + first, rows, out.column(d_.n + j));
    }
    for (std::int64_t j = 0; rows < out.rows && j < out.cols; ++j) {
      std::fill(out.column(j) + rows, out.column(j) + out.rows, 0.0);
    }
    return out;
  }

  void join(MatrixView<double> r, MatrixView<double> below, Workspace& w) {
    if (stopped()) return;
    kernels::qr_fold(r, below, kernels::Below::triangle, w.scratch.data());
    count();
  }

  void add_tail(Workspace& w) {
    const core::FpScope fp;
    const MatrixView<double> below = view(w.block.data(), d_.n, d_.width());
    std::fill_n(below.data, d_.n * d_.width(), 0.0);
    for (std::int64_t j = 0; j < d_.n; ++j) below(j, j) = tail_[static_cast<std::size_t>(j)];
    join(triangle(0), below, w);
  }

  void finish(TallQr& result) {
    const core::FpScope fp;
    const std::int64_t n = d_.n;
    const MatrixView<double> all = triangle(0);
    triangles_.resize(1);
    result.r = core::Buffer<double>(n * n);
    result.qb = core::Buffer<double>(n * d_.columns);
    const MatrixView<double> r = view(result.r.data(), n, n);
    const MatrixView<double> qb = view(result.qb.data(), n, d_.columns);
    for (std::int64_t j = 0; j < n; ++j) std::copy_n(all.column(j), j + 1, r.column(j));
    for (std::int64_t j = 0; j < d_.columns; ++j) std::copy_n(all.column(n + j), n, qb.column(j));
    const auto is_finite = [](double x) { return std::isfinite(x); };
    result.finite = std::all_of(result.r.begin(), result.r.end(), is_finite) &&
                    std::all_of(result.qb.begin(), result.qb.end(), is_finite);
    if (!result.finite) return;
    result.order.resize(static_cast<std::size_t>(n));
    std::iota(result.order.begin(), result.order.end(), 0);
    result.rank = n;
    if (!clearly_regular(r)) pivot(result, r, qb);
  }

  /// The smallest pivot is at least the smallest singular value, which is at least
  /// 1 / (sqrt(n) ||R^-1||_1); the first pivot is at most ||R||_1. dtrcon's estimate is hardly ever
  /// ten times too large. Pivoting takes as long as the QR of 4 n rows.
  bool clearly_regular(MatrixView<const double> r) {
    std::vector<int> iwork(static_cast<std::size_t>(d_.n));
    const double estimate =
        kernels::reciprocal_condition(r, work_.front().scratch.data(), iwork.data());
    return estimate > 10 * std::sqrt(static_cast<double>(d_.n)) * threshold();
  }

  void pivot(TallQr& result, MatrixView<double> r, MatrixView<double> qb) {
    std::vector<int> pivots(static_cast<std::size_t>(d_.n));
    kernels::pivoted_qr(r, pivots.data(), qb, work_.front().scratch.data());
    std::transform(pivots.begin(), pivots.end(), result.order.begin(), [](int p) { return p - 1; });
    const double least = std::abs(r(0, 0)) * threshold();
    result.rank = 0;
    while (result.rank < d_.n && std::abs(r(result.rank, result.rank)) > least) ++result.rank;
    result.dependent.assign(result.order.begin() + result.rank, result.order.end());
    std::sort(result.dependent.begin(), result.dependent.end());
  }

  double threshold() const {
    return 0x1p-52 * static_cast<double>(std::max({d_.m, d_.n, std::int64_t{8}}));
  }

  engine::ThreadPool& pool_;
  core::RowReader& a_;
  const std::vector<double>& col_;
  const std::vector<double>& tail_;
  MatrixView<const double> b_;
  Progress* progress_;
  Division d_;
  std::vector<Workspace> work_;
  std::vector<core::Buffer<double>> triangles_;
};

}  // namespace

TallQr tall_qr(engine::ThreadPool& pool, core::RowReader& a, const std::vector<double>& col,
               const std::vector<double>& tail, MatrixView<const double> b, Progress* progress) {
  if (a.cols() == 0) {
    TallQr nothing;
    nothing.finite = true;
    return nothing;
  }
  const engine::SingleThreadedBlas blas;
  return Qr(pool, a, col, tail, b, progress).run();
}

std::int64_t tall_qr_bytes(std::int64_t m, std::int64_t n, std::int64_t columns) {
  if (n == 0) return 0;
  const Division d(m, n, columns);
  const std::int64_t blocks =
      core::size_product(d.chains, d.stored_rows() + n, d.width(), "blocks of rows");
  const std::int64_t scratch =
      core::size_product(d.chains, kRead * n + kernels::qr_scratch(n, d.width()), "scratch");
  const std::int64_t result = core::size_product(n, d.width(), "triangle");
  return core::size_product(blocks, sizeof(double), "QR") +
         core::size_product(scratch, sizeof(double), "QR") +
         core::size_product(result, sizeof(double), "QR");
}

}  // namespace stepwell::factor
