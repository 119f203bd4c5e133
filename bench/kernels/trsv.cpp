// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "bench/harness/data.hpp"
#include "bench/kernels/kernel.hpp"
#include "core/buffer.hpp"
#include "core/numeric/split.hpp"
#include "engine/threads/thread_pool.hpp"
#include "factor/triangular/substitution_order.hpp"
#include "kernels/kernels.hpp"
#include "kernels/recursive.hpp"
#include "options/requirements.hpp"

/// trsv: x <- L^-1 x or L^-T x with the lower tiles of a factor, by a thread pool. The bottleneck
/// is reading L, so the rate counts the bytes of the tiles that the solve needs.
namespace stepwell::bench {
namespace {

using engine::ThreadPool;

constexpr std::int64_t kTile = 512;

/// The lower tiles of L at a rung, column by column: packed, or plain fp32.
class Factor {
 public:
  Factor(const kernels::Table& t, std::int64_t n, Rung rung, ThreadPool& pool)
      : n_(n), rung_(rung) {
    const std::int64_t tiles = count() * (count() + 1) / 2;
    const std::int64_t numbers = core::size_product(tiles, tile_words(), "factor");
    tool::require_memory(core::size_product(numbers, 2, "factor"));
    words_ = core::Buffer<std::uint16_t>(numbers);
    pool.for_each(count(), [&](std::int64_t i) {
      core::Buffer<float> memory(kTile * kTile);
      for (std::int64_t j = 0; j <= i; ++j) fill(t, i, j, memory.data());
    });
  }

  std::int64_t order() const { return n_; }
  Rung rung() const { return rung_; }
  std::int64_t count() const { return (n_ + kTile - 1) / kTile; }
  std::int64_t height(std::int64_t i) const { return std::min(kTile, n_ - i * kTile); }

  kernels::PackedOut packed(std::int64_t i, std::int64_t j) const {
    return kernels::packed(words_.data() + offset(i, j), height(i), height(j), rung_,
                           kernels::Order::pairs);
  }
  MatrixView<float> plain(std::int64_t i, std::int64_t j) const {
    return view(reinterpret_cast<float*>(words_.data() + offset(i, j)), height(i), height(j),
                kTile);
  }

  /// Element (i, j) as the rung holds it.
  double element(std::int64_t i, std::int64_t j) const {
    const auto value = static_cast<float>(entry(i, j));
    return rung_ == Rung::fp32 ? value : core::join(core::split(value, rung_));
  }

  /// Calls f(pointer, 64-bit words) for the parts of tile (i, j) that hold elements of L.
  template <class F>
  void for_each_span(std::int64_t i, std::int64_t j, F f) const {
    if (rung_ == Rung::fp32) {
      const MatrixView<float> l = plain(i, j);
      if (i != j && l.rows == l.ld) return f(l.data, l.rows * l.cols / 2);
      for (std::int64_t c = 0; c < l.cols; ++c) {
        const std::int64_t first = i == j ? c / 2 * 2 : 0;
        f(l.column(c) + first, (l.rows - first) / 2);
      }
      return;
    }
    const kernels::PackedOut l = packed(i, j);
    for (std::int64_t p = 0; p < l.panels(); ++p) {
      const std::int64_t blocks = i == j ? p + 1 : l.depth_blocks();
      f(l.at(p, 0), blocks * l.planes * kernels::kPlaneElements / 4);
    }
  }

 private:
  /// The diagonal has about unit size and the rest norm about one half, so that solves neither grow
  /// nor shrink vectors.
  double entry(std::int64_t i, std::int64_t j) const {
    const double x = noise(static_cast<std::uint64_t>(i + j * n_));
    return i == j ? 1.5 + 0.25 * x : x / std::sqrt(static_cast<double>(n_));
  }

  std::int64_t tile_words() const {
    return rung_ == Rung::fp32 ? kTile * kTile * 2
                               : kernels::packed_elements(kTile, kTile, info(rung_).planes);
  }
  std::int64_t offset(std::int64_t i, std::int64_t j) const {
    return (j * count() - j * (j - 1) / 2 + i - j) * tile_words();
  }

  void fill(const kernels::Table& t, std::int64_t i, std::int64_t j, float* memory) {
    const auto shape = i == j ? kernels::Shape::lower : kernels::Shape::full;
    const MatrixView<float> l =
        rung_ == Rung::fp32 ? plain(i, j) : view(memory, height(i), height(j), kTile);
    for (std::int64_t c = 0; c < l.cols; ++c) {
      for (std::int64_t r = i == j ? c : 0; r < l.rows; ++r) {
        l(r, c) = static_cast<float>(entry(i * kTile + r, j * kTile + c));
      }
    }
    if (rung_ != Rung::fp32) {
      kernels::pack(t, rung_, MatrixView<const float>(l), packed(i, j), shape);
    }
  }

  std::int64_t n_;
  Rung rung_;
  core::Buffer<std::uint16_t> words_;
};

/// The solve, in the library's order.
template <class V>
struct Solve {
  Solve(const kernels::Table& t, const KernelCase& c)
      : table(t),
        pool(c.threads),
        l(t, c.size, c.rung, pool),
        transposed(c.transposed),
        b(c.size),
        x(c.size),
        sums(static_cast<std::size_t>(l.count())) {
    fill_noise(view(b.data(), c.size, 1), 7);
  }

  /// The block that is solved in step s.
  std::int64_t block(std::int64_t s) const { return transposed ? l.count() - 1 - s : s; }
  MatrixView<V> part(std::int64_t i) const { return view(x.data() + i * kTile, l.height(i), 1); }

  void apply(std::int64_t done, std::int64_t to) const {
    const std::int64_t i = transposed ? done : to;
    const std::int64_t j = transposed ? to : done;
    const MatrixView<const V> from = part(done);
    if (l.rung() == Rung::fp32) {
      const MatrixView<const float> tile = l.plain(i, j);
      kernels::tile_product(table, tile, transposed, from, part(to));
    } else {
      kernels::packed_product(table, l.packed(i, j), transposed, from, part(to));
    }
  }

  void solve_diagonal(std::int64_t i) const {
    const core::FpScope fp;
    if (l.rung() == Rung::fp32) {
      kernels::tile_trsv<V>(table, MatrixView<const float>(l.plain(i, i)), transposed, part(i));
    } else {
      kernels::tile_trsv<V>(table, l.packed(i, i), transposed, part(i));
    }
  }

  void run() {
    factor::SubstitutionOrder order(l.count(), 1);
    order.run(
        pool, [&](std::int64_t step) { solve_diagonal(block(step)); },
        [&](std::int64_t done, std::int64_t to, auto) { apply(block(done), block(to)); },
        [](std::int64_t, std::int64_t, auto) {});
  }

  void sum() {
    pool.for_each(l.count(), [&](std::int64_t i) {
      std::uint64_t total = 0;
      for (std::int64_t j = 0; j <= i; ++j) {
        l.for_each_span(i, j, [&](const void* data, std::int64_t words) {
          total += sum_words(static_cast<const std::uint64_t*>(data), words);
        });
      }
      sums[static_cast<std::size_t>(i)] = total;
    });
    keep(sums);
  }

  double bytes() const {
    std::int64_t words = 0;
    for (std::int64_t j = 0; j < l.count(); ++j) {
      for (std::int64_t i = j; i < l.count(); ++i) {
        l.for_each_span(i, j, [&](const void*, std::int64_t w) { words += w; });
      }
    }
    return 8 * static_cast<double>(words);
  }

  /// Checks rows of |b - L x|, or of |b - L' x|.
  std::string check() const {
    Verdict verdict;
    const double u = info(sizeof(V) == 4 ? Format::fp32 : Format::fp64).unit_roundoff;
    for (const std::int64_t i : sample(l.order())) {
      double total = 0;
      double size = 0;
      for (std::int64_t j = transposed ? i : 0; j < (transposed ? l.order() : i + 1); ++j) {
        const double term = (transposed ? l.element(j, i) : l.element(i, j)) * x[j];
        total += term;
        size += std::abs(term);
      }
      verdict.expect(total, b[i], 2 * static_cast<double>(l.order() + 2) * u * size, i, 0);
    }
    return verdict.text();
  }

  const kernels::Table& table;
  ThreadPool pool;
  Factor l;
  bool transposed;
  core::Buffer<V> b, x;
  std::vector<std::uint64_t> sums;  ///< by block row
};

template <class V>
Bench trsv_bench(const KernelCase& c) {
  const kernels::Table& t = kernels::table();
  const auto s = std::make_shared<Solve<V>>(t, c);
  constexpr bool single = std::is_same_v<V, float>;
  Bench bench;
  bench.contest.rate_unit = "GB/s";
  bench.contest.clock = c.threads > 1 ? Clock::wall : Clock::thread_cpu;
  Side& candidate = bench.contest.candidate;
  if constexpr (single) {
    candidate = c.rung == Rung::fp32 ? our_side(t.tile_product_fp32, c.threads)
                                     : our_side(t.packed_product_fp32, c.threads);
  } else {
    candidate = c.rung == Rung::fp32 ? our_side(t.tile_product_fp64, c.threads)
                                     : our_side(t.packed_product_fp64, c.threads);
  }
  candidate.prepare = [s] { std::copy(s->b.begin(), s->b.end(), s->x.begin()); };
  candidate.run = [s] { s->run(); };
  bench.check = [s, candidate] {
    candidate.prepare();
    candidate.run();
    return s->check();
  };
  Side& baseline = bench.contest.baseline;
  baseline = yardstick("sum of the tiles", c.threads);
  baseline.run = [s] { s->sum(); };
  candidate.work = baseline.work = s->bytes();
  return bench;
}

}  // namespace

Bench make_trsv(const KernelCase& c) {
  return c.vector == Format::fp64 ? trsv_bench<double>(c) : trsv_bench<float>(c);
}

}  // namespace stepwell::bench
