// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "bench/harness/data.hpp"
#include "bench/kernels/kernel.hpp"
#include "core/buffer.hpp"
#include "engine/threads/thread_pool.hpp"
#include "kernels/kernels.hpp"
#include "options/requirements.hpp"

/// symv and gemv: FP64 products with one vector by a thread pool. The bottleneck is reading A, so
/// the rate counts the bytes of A that the product needs.
namespace stepwell::bench {
namespace {

using engine::ThreadPool;

/// Size of the blocks of A that a kernel is called with. 2048 rows of x and y are 32 KiB, which
/// stay in L1 while the columns are streamed.
constexpr std::int64_t kRows = 2048;
constexpr std::int64_t kColumns = 64;

struct Range {
  std::int64_t begin, end;
};

/// Splits [0, n) into parts of about equal cost, at multiples of kColumns. cost(c) is the cost of
/// the columns [0, c).
template <class Cost>
std::vector<Range> split(std::int64_t n, int parts, Cost cost) {
  std::vector<Range> ranges;
  std::int64_t begin = 0;
  for (int p = 1; p <= parts; ++p) {
    std::int64_t end = begin;
    while (end < n && (p == parts || cost(end) * parts < cost(n) * p)) {
      end = std::min(n, end + kColumns);
    }
    ranges.push_back({begin, end});
    begin = end;
  }
  return ranges;
}

/// A, the vectors, and the part of each thread.
struct Product {
  Product(std::int64_t order, int threads, bool lower_only)
      : n(order), lower(lower_only), pool(threads), memory(n * n), x(n), y(n) {
    a = view(memory.data(), n, n);
    const auto size = static_cast<double>(n);
    columns = split(n, threads, [&](std::int64_t c) {
      const auto d = static_cast<double>(c);
      return lower ? d * size - d * (d - 1) / 2 : d * size;
    });
    rows = split(n, threads, [](std::int64_t c) { return static_cast<double>(c); });
    for (int t = 0; t < threads; ++t) partial.emplace_back(n);
    sums.resize(static_cast<std::size_t>(threads));
    for_parts([&](std::size_t t) {
      for (std::int64_t j = columns[t].begin; j < columns[t].end; ++j) {
        for (std::int64_t i = lower ? j : 0; i < n; ++i) {
          a(i, j) = noise(static_cast<std::uint64_t>(i + j * n));
        }
      }
    });
    fill_noise(view(x.data(), n, 1), 7);
  }

  /// Calls body(part), one part for each thread.
  template <class Body>
  void for_parts(const Body& body) {
    pool.for_each(static_cast<std::int64_t>(columns.size()),
                  [&](std::int64_t part) { body(static_cast<std::size_t>(part)); });
  }

  double bytes() const {
    const auto d = static_cast<double>(n);
    return 8 * (lower ? d * (d + 1) / 2 : d * d);
  }

  void sum() {
    for_parts([&](std::size_t t) {
      double total = 0;
      for (std::int64_t j = columns[t].begin; j < columns[t].end; ++j) {
        const std::int64_t first = lower ? j : 0;
        total += sum_elements(a.column(j) + first, n - first);
      }
      sums[t] = total;
    });
    keep(sums);
  }

  std::int64_t n;
  bool lower;
  ThreadPool pool;
  core::Buffer<double> memory, x, y;
  MatrixView<double> a;
  std::vector<Range> columns, rows;
  std::vector<core::Buffer<double>> partial;  ///< y of each thread
  std::vector<double> sums;
};

/// Applies a thread's columns of the lower triangle; blocks below the diagonal are also applied
/// transposed.
void symmetric_part(const kernels::Table& t, const Product& p, Range columns, double* y_data) {
  const MatrixView<const double> x = view<const double>(p.x.data(), p.n, 1);
  const MatrixView<double> y = view(y_data, p.n, 1);
  std::fill(y_data, y_data + p.n, 0.0);
  for (std::int64_t c = columns.begin; c < columns.end; c += kColumns) {
    const std::int64_t width = std::min(kColumns, columns.end - c);
    kernels::symmetric_product(t, p.a.block(c, c, width, width), x.block(c, 0, width, 1),
                               y.block(c, 0, width, 1));
    for (std::int64_t r = c + width; r < p.n; r += kRows) {
      const std::int64_t height = std::min(kRows, p.n - r);
      kernels::product(t, p.a.block(r, c, height, width),
                       {x.block(c, 0, width, 1), y.block(r, 0, height, 1), x.block(r, 0, height, 1),
                        y.block(c, 0, width, 1)});
    }
  }
}

void symmetric(const kernels::Table& t, Product& p) {
  p.for_parts(
      [&](std::size_t part) { symmetric_part(t, p, p.columns[part], p.partial[part].data()); });
  p.for_parts([&](std::size_t part) {
    for (std::int64_t i = p.rows[part].begin; i < p.rows[part].end; ++i) {
      double sum = 0;
      for (const auto& y : p.partial) sum += y[i];
      p.y[i] = sum;
    }
  });
}

void general(const kernels::Table& t, Product& p) {
  p.for_parts([&](std::size_t part) {
    const MatrixView<const double> x = view<const double>(p.x.data(), p.n, 1);
    const MatrixView<double> y = view(p.y.data(), p.n, 1);
    for (std::int64_t r = p.rows[part].begin; r < p.rows[part].end; r += kRows) {
      const std::int64_t height = std::min(kRows, p.rows[part].end - r);
      std::fill(p.y.data() + r, p.y.data() + r + height, 0.0);
      for (std::int64_t c = 0; c < p.n; c += kColumns) {
        const std::int64_t width = std::min(kColumns, p.n - c);
        kernels::product(t, p.a.block(r, c, height, width),
                         {x.block(c, 0, width, 1), y.block(r, 0, height, 1), {}, {}});
      }
    }
  });
}

std::string check_vector(const Product& p) {
  Verdict verdict;
  for (const std::int64_t i : sample(p.n, 256)) {
    double sum = 0;
    double size = 0;
    for (std::int64_t j = 0; j < p.n; ++j) {
      const double term = (p.lower && i < j ? p.a(j, i) : p.a(i, j)) * p.x[j];
      sum += term;
      size += std::abs(term);
    }
    verdict.expect(p.y[i], sum, 2 * static_cast<double>(p.n + 1) * 0x1p-53 * size, i, 0);
  }
  return verdict.text();
}

Bench product_bench(const KernelCase& c, bool lower) {
  tool::require_memory(core::size_product(c.size, c.size, 8, "matrix"));
  const kernels::Table& t = kernels::table();
  const auto p = std::make_shared<Product>(c.size, c.threads, lower);
  Bench bench;
  bench.contest.rate_unit = "GB/s";
  bench.contest.clock = c.threads > 1 ? Clock::wall : Clock::thread_cpu;
  Side& candidate = bench.contest.candidate;
  candidate = our_side(t.product, c.threads);
  candidate.run = [&t, p] { p->lower ? symmetric(t, *p) : general(t, *p); };
  bench.check = [p, run = candidate.run] {
    run();
    return check_vector(*p);
  };
  Side& baseline = bench.contest.baseline;
  if (c.against == "cblas") {
    baseline = blas_side(lower ? "cblas_dsymv" : "cblas_dgemv", c.threads);
    baseline.run = [p] {
      const int n = static_cast<int>(p->n);
      if (p->lower) {
        cblas_dsymv(CblasColMajor, CblasLower, n, 1, p->a.data, n, p->x.data(), 1, 0, p->y.data(),
                    1);
      } else {
        cblas_dgemv(CblasColMajor, CblasNoTrans, n, n, 1, p->a.data, n, p->x.data(), 1, 0,
                    p->y.data(), 1);
      }
    };
  } else {
    baseline = yardstick(lower ? "sum of the triangle" : "sum of the matrix", c.threads);
    baseline.run = [p] { p->sum(); };
  }
  candidate.work = baseline.work = p->bytes();
  return bench;
}

}  // namespace

Bench make_symv(const KernelCase& c) {
  return product_bench(c, true);
}
Bench make_gemv(const KernelCase& c) {
  return product_bench(c, false);
}

}  // namespace stepwell::bench
