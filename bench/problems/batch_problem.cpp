// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/problems/batch_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/harness/data.hpp"
#include "bench/problems/batch_data.hpp"
#include "core/checked.hpp"
#include "kernels/table.hpp"
#include "stepwell/error.hpp"

namespace stepwell::bench {
namespace {

constexpr std::int64_t kLine = 64;            ///< bytes of a cache line
constexpr std::int64_t kChunk = 256;          ///< matrices
constexpr std::int64_t kCheckedFactors = 64;  ///< checked after cholesky: each product takes n^3

/// Number of cache lines that hold a triangle of the n x n matrix at byte 'base' with elements of
/// 'size' bytes.
std::int64_t triangle_lines(std::int64_t base, std::int64_t n, std::int64_t size, bool lower) {
  std::int64_t lines = 0, last = -1;
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t first_row = lower ? j : 0, last_row = lower ? n - 1 : j;
    const std::int64_t first = (base + (j * n + first_row) * size) / kLine;
    const std::int64_t end = (base + (j * n + last_row + 1) * size - 1) / kLine;
    lines += end - std::max(first, last + 1) + 1;
    last = end;
  }
  return lines;
}

/// Written so that a NaN is kept.
template <class S>
void keep_larger(double& kept, S value) {
  if (!(static_cast<double>(value) <= kept)) kept = static_cast<double>(value);
}

template <class T>
class TypedBench : public BatchBench {
  using Sum = std::conditional_t<std::is_same_v<T, double>, long double, double>;

 public:
  explicit TypedBench(const BatchCase& c) : d_(std::make_shared<BatchData<T>>(c)) {}

  Side ours(int threads, BatchOptions options) override {
    constexpr const char* names[] = {"batch_cholesky", "batch_solve", "batch_factor_solve",
                                     "batch_substitute"};
    const BatchCase& c = d_->c;
    Side side = with_memory(
        our_side(names[static_cast<unsigned>(c.operation)], kernels::table().cap, threads));
    options.triangle = c.triangle;
    options.both_triangles = options.both_triangles || c.both_triangles;
    options.mixed = options.mixed || c.mixed;
    options.fast = options.fast || c.fast;
    // The call that is measured would otherwise run alone: the other sides' pool keeps the
    // process's threads.
    side.prepare = [d = d_] {
      d->restore();
      d->pool.release();
    };
    const auto context = std::make_shared<Context>(threads);
    side.run = [d = d_, options, context, threads, fewest = fewest_threads_]() mutable {
      options.engine.context = context.get();
      const BatchReport report = run(*d, options);
      if (threads == d->c.threads) *fewest = std::min(*fewest, report.threads);
      if (!report.ok()) {
        throw Error(ErrorCode::internal,
                    fmt::format("{} of the test systems were not solved", report.failures.size()));
      }
    };
    return side;
  }

  Side baseline(const std::string& against) override {
    if (d_->c.both_triangles) {
      throw Error(ErrorCode::unsupported,
                  "LAPACK and oneMKL write only one triangle of the factor; omit --both-triangles");
    }
    return with_memory(against == "lapack-loop" ? lapack_loop(d_)
                       : against == "mkl-loop"  ? mkl_loop(d_)
                                                : mkl_compact_side(d_));
  }

  Side copy() override {
    Side side = yardstick_side("copy");
    const std::int64_t half = memory_.size() / 2;
    side.run = [this, half] {
      pass([&](double* x, std::int64_t first, std::int64_t count) {
        copy_elements(x + first, x + half + first, count);
      });
      pass([&](double* x, std::int64_t first, std::int64_t count) {
        copy_elements(x + half + first, x + first, count);
      });
      read_rest();
    };
    return side;
  }

  Side in_place() override {
    Side side = yardstick_side("in place");
    const std::int64_t half = memory_.size() / 2;
    side.run = [this, half] {
      for (const std::int64_t offset : {std::int64_t{0}, half}) {
        pass([&](double* x, std::int64_t first, std::int64_t count) {
          negate_elements(x + offset + first, count);
        });
      }
      read_rest();
    };
    return side;
  }

  double error(const Side& side) override {
    if (side.prepare) side.prepare();
    side.run();
    const double u = info(d_->c.format).unit_roundoff;
    return (d_->c.operation == BatchOperation::cholesky ? factor_error() : backward_error()) / u;
  }

  int fewest_threads() const override { return *fewest_threads_; }

  BatchBytes bytes() const override {
    const BatchCase& c = d_->c;
    const auto size = static_cast<std::int64_t>(sizeof(T)) * std::max<std::int64_t>(1, d_->lanes);
    const std::int64_t blocks = d_->a.size() / (c.n * c.n) / std::max<std::int64_t>(1, d_->lanes);
    std::int64_t triangle = 0;
    for (std::int64_t k = 0; k < blocks; ++k) {
      triangle += triangle_lines(k * c.n * c.n * size, c.n, size, c.triangle == Triangle::lower);
    }
    triangle *= kLine;
    const auto all = d_->a.size() * static_cast<std::int64_t>(sizeof(T));
    const auto vectors = d_->b.size() * static_cast<std::int64_t>(sizeof(T));
    const bool writes_a =
        c.operation == BatchOperation::cholesky || c.operation == BatchOperation::factor_solve;
    const std::int64_t b = c.operation == BatchOperation::cholesky ? 0 : vectors;
    return {triangle + b, (writes_a ? (c.both_triangles ? all : triangle) : 0) + b};
  }

  double flops() const override {
    const auto n = static_cast<double>(d_->c.n), columns = static_cast<double>(d_->c.columns);
    const bool factor = d_->c.operation != BatchOperation::substitute;
    const bool substitute = d_->c.operation != BatchOperation::cholesky;
    return static_cast<double>(d_->c.count) * ((factor ? n * n * n / 3 + n * n / 2 + n / 6 : 0) +
                                               (substitute ? 2 * n * n * columns : 0));
  }

 private:
  static BatchReport run(BatchData<T>& d, const BatchOptions& options) {
    switch (d.c.operation) {
      case BatchOperation::cholesky:
        return batch_cholesky(d.matrices(), options);
      case BatchOperation::solve:
        return batch_solve(d.matrices(), d.columns(), options);
      case BatchOperation::factor_solve:
        return batch_factor_solve(d.matrices(), d.columns(), options);
      case BatchOperation::substitute:
        break;
    }
    return batch_substitute(d.matrices(), d.columns(), options);
  }

  Side with_memory(Side side) {
    side.work = flops();
    side.prepare = [d = d_] { d->restore(); };
    return side;
  }

  Side yardstick_side(const char* name) {
    const BatchBytes moved = bytes();
    if (memory_.size() == 0) {
      memory_ = core::Buffer<double>(core::round_up(moved.written / 8, 2));
      rest_ = core::Buffer<double>(std::max<std::int64_t>(0, moved.read - moved.written) / 8);
      for (double& x : memory_) x = 1;
      for (double& x : rest_) x = 1;
    }
    Side side = yardstick(name, d_->c.threads);
    side.work = static_cast<double>(moved.read + moved.written);
    return side;
  }

  /// Calls 'body' for half of the elements, one part per thread.
  template <class Body>
  void pass(const Body& body) {
    const std::int64_t half = memory_.size() / 2, threads = d_->pool.size();
    d_->pool.for_each(threads, [&](std::int64_t t) {
      const std::int64_t first = half * t / threads, last = half * (t + 1) / threads;
      body(memory_.data(), first, last - first);
    });
  }

  /// Reads as many bytes as the operation reads but does not write.
  void read_rest() {
    if (rest_.size() == 0) return;
    const std::int64_t size = rest_.size(), threads = d_->pool.size();
    d_->pool.for_each(threads, [&](std::int64_t t) {
      const std::int64_t first = size * t / threads, last = size * (t + 1) / threads;
      keep(sum_elements(rest_.data() + first, last - first));
    });
  }

  double backward_error() const {
    BatchData<T>& d = *d_;
    const std::int64_t n = d.c.n, columns = d.c.columns;
    const std::int64_t chunks = (d.c.count + kChunk - 1) / kChunk;
    std::vector<double> worst(static_cast<std::size_t>(chunks));
    d.in_chunks(kChunk, [&](std::int64_t first, std::int64_t last) {
      std::vector<Sum> r(static_cast<std::size_t>(n));
      for (std::int64_t m = first; m < last; ++m) {
        for (std::int64_t c = 0; c < columns; ++c) {
          Sum norm_a = 0, norm_x = 0, norm_b = 0, norm_r = 0;
          for (std::int64_t i = 0; i < n; ++i) {
            Sum sum = 0, row = 0;
            for (std::int64_t j = 0; j < n; ++j) {
              const Sum e = d.a0[d.at(m, i, j, n)];
              sum += e * d.b[d.at(m, j, c, columns)];
              row += std::abs(e);
            }
            const Sum b = d.b0[d.at(m, i, c, columns)];
            norm_a = std::max(norm_a, row);
            norm_b = std::max(norm_b, std::abs(b));
            norm_x = std::max(norm_x, std::abs(Sum{d.b[d.at(m, i, c, columns)]}));
            if (!(std::abs(b - sum) <= norm_r)) norm_r = std::abs(b - sum);
          }
          keep_larger(worst[static_cast<std::size_t>(first / kChunk)],
                      norm_r / (norm_a * norm_x + norm_b));
        }
      }
    });
    double all = 0;
    for (const double w : worst) keep_larger(all, w);
    return all;
  }

  double factor_error() const {
    const BatchData<T>& d = *d_;
    const std::int64_t n = d.c.n;
    const bool lower = d.c.triangle == Triangle::lower;
    double worst = 0;
    for (const std::int64_t m : sample(d.c.count, kCheckedFactors)) {
      const auto l = [&](std::int64_t i, std::int64_t k) -> Sum {
        return d.a[lower ? d.at(m, i, k, n) : d.at(m, k, i, n)];
      };
      Sum off = 0, size = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = j; i < n; ++i) {
          Sum e = d.a0[d.at(m, i, j, n)];
          size = std::max(size, std::abs(e));
          for (std::int64_t k = 0; k <= j; ++k) e -= l(i, k) * l(j, k);
          if (!(std::abs(e) <= off)) off = std::abs(e);
        }
      }
      keep_larger(worst, off / size);
    }
    return worst;
  }

  std::shared_ptr<BatchData<T>> d_;
  std::shared_ptr<int> fewest_threads_ = std::make_shared<int>(d_->c.threads);
  core::Buffer<double> memory_;  ///< of the yardsticks: as many bytes as the operation writes
  core::Buffer<double> rest_;    ///< as many bytes as the operation only reads
};

}  // namespace

BatchOperation batch_operation(std::string_view name) {
  if (name == "cholesky") return BatchOperation::cholesky;
  if (name == "solve") return BatchOperation::solve;
  return name == "substitute" ? BatchOperation::substitute : BatchOperation::factor_solve;
}

BatchLayout batch_layout(std::string_view name) {
  if (name == "pointers") return BatchLayout::pointers;
  return name == "interleaved" ? BatchLayout::interleaved : BatchLayout::strided;
}

std::unique_ptr<BatchBench> make_batch_bench(const BatchCase& c) {
  if (c.format == Format::fp32) return std::make_unique<TypedBench<float>>(c);
  return std::make_unique<TypedBench<double>>(c);
}

}  // namespace stepwell::bench
