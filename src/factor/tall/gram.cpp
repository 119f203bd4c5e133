// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/tall/gram.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/machine/fp_scope.hpp"
#include "factor/tall/gram_chunks.hpp"
#include "kernels/kernels.hpp"

/// A'A by chunks of rows. For each chunk, groups of columns are narrowed into operands of the
/// matrix engine (limited by memory bandwidth), then tiles of C are updated (limited by the
/// engine). The threads take the two kinds of jobs alternately, so that the next chunk is narrowed
/// while this chunk is multiplied: there are two buffers, and a job that comes too early waits.
namespace stepwell::factor {
namespace {

using engine::Counter;
using kernels::Order;
using kernels::Shape;

class GramPass {
 public:
  GramPass(engine::ThreadPool& pool, core::RowReader& a, Rung rung, MatrixView<const double> b,
           Gram& out, Progress* progress)
      : pool_(pool),
        a_(a),
        rung_(rung),
        out_(out),
        progress_(progress),
        chunks_(a, rung, b, out),
        s_(chunks_.shapes()),
        group_done_(std::make_unique<Counter[]>(static_cast<std::size_t>(s_.groups()))),
        tile_done_(std::make_unique<Counter[]>(static_cast<std::size_t>(s_.tile_jobs()))) {
    out.c = core::Buffer<double>(core::size_product(s_.n, s_.n, "the Gram matrix"));
    for (std::int64_t t = 0; t < pool.size(); ++t) {
      scratch_.emplace_back(s_.scratch(), core::Contents::any);
    }
  }

  void run() {
    if (progress_ != nullptr) progress_->enter(Phase::factor, s_.chunks());
    // Jobs in order: the groups of chunk 0, then the tiles of each chunk mixed with the groups of
    // the next.
    const std::int64_t g = s_.groups();
    const std::int64_t t = s_.tile_jobs();
    const std::int64_t per_chunk = g + t;
    std::atomic<std::int64_t> next{0};
    pool_.run([&](int thread) {
      const core::FpScope fp;
      for (std::int64_t i = next++; i < s_.chunks() * per_chunk; i = next++) {
        if (i < g) {
          narrow(0, i, thread);
          continue;
        }
        const std::int64_t chunk = (i - g) / per_chunk;
        const std::int64_t k = (i - g) % per_chunk;
        if (chunk + 1 == s_.chunks()) {  // nothing is left to narrow
          multiply(chunk, k, thread);
          continue;
        }
        // Groups and tiles are evenly mixed.
        const std::int64_t before = k * g / per_chunk;
        if ((k + 1) * g / per_chunk > before) {
          narrow(chunk + 1, before, thread);
        } else {
          multiply(chunk, k - before, thread);
        }
      }
    });
    out_.cancelled = stopped();
    for (std::int64_t j = 0; j < s_.n; ++j) {
      const double power = out_.power[static_cast<std::size_t>(j)];
      for (std::int64_t k = j; k < out_.ab.size(); k += s_.n) out_.ab[k] *= power;
    }
  }

 private:
  bool stopped() const { return a_.failed() || (progress_ != nullptr && progress_->cancel); }
  std::byte* scratch(int thread) const { return scratch_[static_cast<std::size_t>(thread)].data(); }
  Counter& narrowed(std::int64_t chunk) { return narrowed_[static_cast<std::size_t>(chunk % 2)]; }
  Counter& multiplied(std::int64_t chunk) {
    return multiplied_[static_cast<std::size_t>(chunk % 2)];
  }

  void narrow(std::int64_t chunk, std::int64_t group, int thread) {
    Counter& turn = group_done_[static_cast<std::size_t>(group)];
    // The buffer's last readers were the tiles of chunk - 2; the group's last writer was chunk - 1.
    // Tiles are counted for each buffer separately: those of chunk - 1 may be done before the last
    // of chunk - 2.
    multiplied(chunk).wait_for(chunk / 2 * s_.tile_jobs());
    turn.wait_for(chunk);
    if (stopped()) {
      chunks_.give_up(group);
    } else {
      chunks_.narrow(chunk, group, reinterpret_cast<double*>(scratch(thread)));
    }
    turn.add();
    narrowed(chunk).add();
  }

  /// C(i, j) += the chunk's product.
  void multiply(std::int64_t chunk, std::int64_t job, int thread) {
    narrowed(chunk).wait_for((chunk / 2 + 1) * s_.groups());
    if (!stopped()) {
      std::int64_t j = 0;
      std::int64_t i = job;
      for (; i >= s_.tiles() - j; ++j) i -= s_.tiles() - j;
      i += j;
      const std::int64_t i0 = i * s_.tile, j0 = j * s_.tile;
      const std::int64_t rows = std::min(s_.tile, s_.n - i0), cols = std::min(s_.tile, s_.n - j0);
      const Shape shape = i == j ? Shape::lower : Shape::full;
      std::byte* const memory = scratch(thread);
      const std::int64_t ld = kernels::sums_ld(rows);
      if (rung_ == Rung::fp64) {
        const MatrixView<double> sums = view(reinterpret_cast<double*>(memory), rows, cols, ld);
        update_plain<double>(chunk, i0, j0, sums, shape);
        wait_and_add<double>(chunk, job, i0, j0, sums, shape);
      } else {
        const MatrixView<float> sums = view(reinterpret_cast<float*>(memory), rows, cols, ld);
        if (s_.planes > 0) {
          const auto depth = chunks_.rows_in(chunk);
          kernels::update(kernels::table(), rung_,
                          chunks_.operand(chunk, Order::pairs).block(i0, 0, rows, depth),
                          chunks_.operand(chunk, Order::rows).block(j0, 0, cols, depth), sums,
                          shape, kernels::Write::assign);
        } else {
          update_plain<float>(chunk, i0, j0, sums, shape);
        }
        wait_and_add<float>(chunk, job, i0, j0, sums, shape);
      }
    }
    tile_done_[static_cast<std::size_t>(job)].add();
    const std::int64_t done = multiplied(chunk).add();
    if (progress_ != nullptr && done % s_.tile_jobs() == 0) ++progress_->done;
  }

  template <class T>
  void update_plain(std::int64_t chunk, std::int64_t i, std::int64_t j, MatrixView<T> sums,
                    Shape shape) {
    const MatrixView<const T> x = chunks_.plain<T>(chunk);
    kernels::update(kernels::table(), x.block(i, 0, sums.rows, x.cols),
                    x.block(j, 0, sums.cols, x.cols), sums, shape, kernels::Write::assign);
  }

  /// Adds the sums to C in the order of the chunks.
  template <class T>
  void wait_and_add(std::int64_t chunk, std::int64_t job, std::int64_t i0, std::int64_t j0,
                    MatrixView<const T> sums, Shape shape) {
    const std::vector<double>& ratio = chunks_.ratio(chunk);
    tile_done_[static_cast<std::size_t>(job)].wait_for(chunk);
    for (std::int64_t j = 0; j < sums.cols; ++j) {
      const double rj = ratio[static_cast<std::size_t>(j0 + j)];
      const double* const ri = ratio.data() + i0;
      const T* const from = sums.column(j);
      double* const to = out_.c.data() + (j0 + j) * s_.n + i0;
      for (std::int64_t i = shape == Shape::lower ? j : 0; i < sums.rows; ++i) {
        to[i] += static_cast<double>(from[i]) * ri[i] * rj;
      }
    }
  }

  engine::ThreadPool& pool_;
  core::RowReader& a_;
  Rung rung_;
  Gram& out_;
  Progress* progress_;
  GramChunks chunks_;
  const GramShapes& s_;
  std::vector<core::Buffer<std::byte>> scratch_;
  std::array<Counter, 2> narrowed_, multiplied_;       ///< groups and tiles done in each buffer
  std::unique_ptr<Counter[]> group_done_, tile_done_;  ///< chunks done of each group and tile
};

bool all_finite(const Gram& g) {
  const auto n = static_cast<std::int64_t>(g.column.size());
  for (std::int64_t j = 0; j < n; ++j) {
    if (g.column[static_cast<std::size_t>(j)].non_finite > 0)
      return true;  // another pass would not help
  }
  for (std::int64_t j = 0; j < n; ++j) {
    // ||a_j||^2 in the scale of C bounds row and column j; it may have lost all digits.
    const double d = g.c[j + j * n];
    const bool zero = g.column[static_cast<std::size_t>(j)].max_abs == 0;
    if (!zero && !(d > 0x1p-900 && d < 0x1p900)) return false;
  }
  return true;
}

}  // namespace

Gram gram(engine::ThreadPool& pool, core::RowReader& a, Rung rung, MatrixView<const double> b,
          Progress* progress) {
  Gram g;
  const core::FpScope fp;
  GramPass(pool, a, rung, b, g, progress).run();
  if (!g.cancelled && !all_finite(g)) {
    for (std::size_t j = 0; j < g.power.size(); ++j) {
      g.power[j] = inverse_power(g.column[j].max_abs);
    }
    GramPass(pool, a, rung, b, g, progress).run();
  }
  return g;
}

std::int64_t gram_bytes(std::int64_t m, std::int64_t n, std::int64_t columns, Rung rung,
                        bool in_memory) {
  const GramShapes s(m, n, rung);
  const std::int64_t read = in_memory ? 0 : core::size_product(s.rows, n, 16, "rows of A");
  return core::size_product(n, n, 8, "the Gram matrix") + core::size_product(n, columns, 8, "A'B") +
         2 * s.forms() * s.form() + read;
}

}  // namespace stepwell::factor
