// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cblas.h>

#include <cmath>
#include <memory>

#include "bench/baselines/baseline_onednn.hpp"
#include "bench/harness/data.hpp"
#include "bench/kernels/kernel.hpp"
#include "core/buffer.hpp"
#include "core/numeric/split.hpp"
#include "engine/threads/thread_pool.hpp"
#include "kernels/kernels.hpp"

#if defined(__x86_64__)
#include "kernels/amx/amx.hpp"
#include "options/requirements.hpp"
#endif

/// update: C -= A B', all n x n; syrk: C -= A A', lower triangle. The rate counts the flops of the
/// product itself, not of the bf16 products that the rung computes for it.
namespace stepwell::bench {
namespace {

using kernels::Order;
using kernels::PackedOut;
using kernels::Shape;

template <class T>
struct Operands {
  explicit Operands(std::int64_t n, Shape s)
      : shape(s), memory_a(n * n), memory_b(n * n), memory_c(kernels::sums_ld(n) * n) {
    a = view(memory_a.data(), n, n);
    b = shape == Shape::lower ? a : view(memory_b.data(), n, n);
    c = view(memory_c.data(), n, n, kernels::sums_ld(n));
    fill_noise(a, 1);
    if (shape == Shape::full) fill_noise(b, 2);
  }
  Shape shape;
  core::Buffer<T> memory_a, memory_b, memory_c;
  MatrixView<T> a, b, c;
};

double flops(std::int64_t n, Shape shape) {
  const auto d = static_cast<double>(n);
  return shape == Shape::full ? 2 * d * d * d : d * d * (d + 1);
}

/// Sets the written part of C to zero before run(), so that -C is the product. represented(x) is
/// the value that the rung has for an operand's element.
template <class T, class Represented>
std::string check_product(const Operands<T>& o, const std::function<void()>& run, Rung rung,
                          Represented represented) {
  const bool lower = o.shape == Shape::lower;
  constexpr T above_diagonal = 7;
  for (std::int64_t j = 0; j < o.c.cols; ++j) {
    for (std::int64_t i = 0; i < o.c.rows; ++i) o.c(i, j) = lower && i < j ? above_diagonal : 0;
  }
  run();
  Verdict verdict;
  const std::int64_t k = o.a.cols;
  // Sums of k terms in fp32 or fp64 for each of the rung's products, doubled for the check's own
  // sum.
  const double sum_error = 2 * static_cast<double>(k * std::max(1, info(rung).products) + 1) *
                           info(rung == Rung::fp64 ? Format::fp64 : Format::fp32).unit_roundoff;
  for (const std::int64_t j : sample(o.c.cols)) {
    for (const std::int64_t i : sample(o.c.rows)) {
      if (lower && i < j) {
        verdict.expect(o.c(i, j), above_diagonal, 0, i, j);
        continue;
      }
      double sum = 0;
      double size = 0;
      for (std::int64_t l = 0; l < k; ++l) {
        const double p = represented(o.a(i, l)) * represented(o.b(j, l));
        sum += p;
        size += std::abs(p);
      }
      verdict.expect(-o.c(i, j), sum, (sum_error + info(rung).product_error) * size, i, j);
    }
  }
  return verdict.text();
}

Side cblas_product(std::shared_ptr<Operands<float>> o) {
  const auto n = static_cast<int>(o->c.cols);
  const auto ldc = static_cast<int>(o->c.ld);
  if (o->shape == Shape::lower) {
    Side side = blas_side("cblas_ssyrk", 1);
    side.run = [o, n, ldc] {
      cblas_ssyrk(CblasColMajor, CblasLower, CblasNoTrans, n, n, -1, o->a.data, n, 1, o->c.data,
                  ldc);
    };
    return side;
  }
  Side side = blas_side("cblas_sgemm", 1);
  side.run = [o, n, ldc] {
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasTrans, n, n, n, -1, o->a.data, n, o->b.data, n, 1,
                o->c.data, ldc);
  };
  return side;
}

Side cblas_product(std::shared_ptr<Operands<double>> o) {
  const auto n = static_cast<int>(o->c.cols);
  const auto ldc = static_cast<int>(o->c.ld);
  if (o->shape == Shape::lower) {
    Side side = blas_side("cblas_dsyrk", 1);
    side.run = [o, n, ldc] {
      cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, n, -1, o->a.data, n, 1, o->c.data,
                  ldc);
    };
    return side;
  }
  Side side = blas_side("cblas_dgemm", 1);
  side.run = [o, n, ldc] {
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, n, n, n, -1, o->a.data, n, o->b.data, n, 1,
                o->c.data, ldc);
  };
  return side;
}

/// Number of tile products in an update.
std::int64_t tile_products(std::int64_t n, Shape shape, Rung rung) {
  const std::int64_t blocks = (n + 15) / 16;
  const std::int64_t pairs = shape == Shape::full ? blocks * blocks : blocks * (blocks + 1) / 2;
  return pairs * ((n + 31) / 32) * info(rung).products;
}

Bench packed_bench(const KernelCase& c, Shape shape) {
  struct State : Operands<float> {
    State(std::int64_t n, Shape s, Rung rung)
        : Operands(n, s),
          memory_pa(kernels::packed_elements(n, n, info(rung).planes)),
          memory_pb(memory_pa.size()),
          pa(kernels::packed(memory_pa.data(), n, n, rung, Order::pairs)),
          pb(kernels::packed(memory_pb.data(), n, n, rung, Order::rows)) {}
    core::Buffer<std::uint16_t> memory_pa, memory_pb;
    PackedOut pa, pb;
  };
  const kernels::Table& t = kernels::table();
  const auto s = std::make_shared<State>(c.size, shape, c.rung);
  kernels::pack(t, c.rung, s->a, s->pa);
  kernels::pack(t, c.rung, s->b, s->pb);

  Bench bench;
  Side& candidate = bench.contest.candidate;
  candidate = our_side(t.update_at(c.rung));
  candidate.run = [&t, s, rung = c.rung, shape] {
    kernels::update(t, rung, s->pa, s->pb, s->c, shape);
  };
  bench.check = [s, rung = c.rung, run = candidate.run] {
    return check_product(*s, run, rung,
                         [rung](float x) { return core::join(core::split(x, rung)); });
  };
  if (c.against == "raw" || c.against == "fed") {
    bench.contest.baseline =
        engine_loop(tile_products(c.size, shape, c.rung), c.against == "fed", 1);
  } else if (c.against == "onednn") {
    bench.contest.baseline = onednn_matmul(c.size, c.size, c.size);
  } else {
    bench.contest.baseline = cblas_product(std::shared_ptr<Operands<float>>(s));
  }
  return bench;
}

template <class T>
Bench dense_bench(const KernelCase& c, Shape shape) {
  const kernels::Table& t = kernels::table();
  const auto s = std::make_shared<Operands<T>>(c.size, shape);
  Bench bench;
  Side& candidate = bench.contest.candidate;
  if constexpr (std::is_same_v<T, float>) {
    candidate = our_side(t.update_fp32);
  } else {
    candidate = our_side(t.update_fp64);
  }
  candidate.run = [&t, s, shape] {
    kernels::update(t, MatrixView<const T>(s->a), MatrixView<const T>(s->b), s->c, shape);
  };
  bench.check = [s, rung = c.rung, run = candidate.run] {
    return check_product(*s, run, rung, [](T x) { return static_cast<double>(x); });
  };
  bench.contest.baseline = cblas_product(s);
  return bench;
}

Bench any_bench(const KernelCase& c, Shape shape) {
  tool::require_memory(core::size_product(c.size, c.size, 32, "operands"));
  Bench bench = c.rung == Rung::fp64   ? dense_bench<double>(c, shape)
                : c.rung == Rung::fp32 ? dense_bench<float>(c, shape)
                                       : packed_bench(c, shape);
  bench.contest.rate_unit = "Gflop/s";
  bench.contest.candidate.work = flops(c.size, shape);
  bench.contest.baseline.work = bench.contest.candidate.work;
  return bench;
}

}  // namespace

Side engine_loop(std::int64_t products, bool fed, int threads) {
  Side side = yardstick(fed ? "matrix-instruction loop with loads" : "raw matrix-instruction loop",
                        threads);
  side.work = static_cast<double>(products) * threads * kTileProductFlop;
#if defined(__x86_64__)
  const auto loop = fed ? kernels::amx_fed_peak : kernels::amx_peak;
  const auto pool = std::make_shared<engine::ThreadPool>(threads);
  side.run = [products, loop, pool] {
    const engine::ThreadPoolGuard guard(*pool);  // a factorization may be measured in turn
    pool->run([&](int) { loop(products); });
  };
#endif
  return side;
}

Bench make_update(const KernelCase& c) {
  return any_bench(c, Shape::full);
}
Bench make_syrk(const KernelCase& c) {
  return any_bench(c, Shape::lower);
}

}  // namespace stepwell::bench
