// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cblas.h>

#include <cmath>
#include <memory>
#include <type_traits>

#include "bench_data.hpp"
#include "bench_large.hpp"
#include "core/buffer.hpp"
#include "gallery/gallery.hpp"
#include "stepwell/error.hpp"
#include "stepwell/level3.hpp"

/// `bench syrk` and `bench trsm`: against the BLAS that is linked, or against one thread.
namespace stepwell::tool {
namespace {

using nlohmann::ordered_json;

template <class T>
void fill(core::Buffer<T>& to, std::uint64_t seed) {
  for (std::int64_t i = 0; i < to.size(); ++i) {
    to[i] = static_cast<T>(gallery::noise((seed << 40) + static_cast<std::uint64_t>(i)));
  }
}

void blas_syrk(int n, int k, const double* a, double* c) {
  cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, k, 1, a, n, 0, c, n);
}
void blas_syrk(int n, int k, const float* a, float* c) {
  cblas_ssyrk(CblasColMajor, CblasLower, CblasNoTrans, n, k, 1, a, n, 0, c, n);
}
void blas_trsm(int m, int n, const double* l, double* b) {
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m, n, 1, l, n, b, m);
}
void blas_trsm(int m, int n, const float* l, float* b) {
  cblas_strsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m, n, 1, l, n, b, m);
}

/// The numbers of 'from' as T; shared with it if that is what they are.
template <class T>
std::shared_ptr<core::Buffer<T>> as(const std::shared_ptr<core::Buffer<double>>& from) {
  if constexpr (std::is_same_v<T, double>) {
    return from;
  } else {
    const auto to = std::make_shared<core::Buffer<T>>(from->size());
    for (std::int64_t i = 0; i < from->size(); ++i) (*to)[i] = static_cast<T>((*from)[i]);
    return to;
  }
}

/// Elements against the bound of the map's coarsest rung: two operands rounded, fp32 sums.
double bound_of(const PrecisionMap& map, std::int64_t terms) {
  double worst = 0;
  for (const Rung rung : map.layers) {
    const double sums = rung == Rung::fp64 ? 0x1p-53 : 0x1p-24;
    worst = std::max(worst, 2.1 * info(rung).unit_roundoff + info(rung).product_error +
                                static_cast<double>(terms) * sums);
  }
  return worst;
}

void refuse_if_wrong(const Verdict& verdict) {
  if (verdict.text().empty()) return;
  throw Error(ErrorCode::internal, "the answer is wrong: " + verdict.text() + "; no rate for that");
}

struct Operation {
  explicit Operation(const LargeRequest& r) : n(r.n), k(r.k), context(r.threads) {
    options.map = parse_map(r.map);
    options.tile = r.tile;
    options.context = &context;
  }
  Level3Options on(Context& workers) const {
    Level3Options o = options;
    o.context = &workers;
    return o;
  }
  std::int64_t n, k;
  Context context;
  Context one{1};
  Level3Options options;
  Level3Report report;
  using Memory = std::shared_ptr<core::Buffer<double>>;
  Memory a, c;  ///< syrk: A and C; trsm: L and B
};

LargeBench bench_of(const std::shared_ptr<Operation>& s, const LargeRequest& request,
                    const char* name, double work) {
  LargeBench bench;
  bench.contest.clock = Clock::wall;
  bench.contest.rate_unit = "Gflop/s";
  bench.contest.candidate = our_side(name, kernels::table().cap, request.threads);
  bench.contest.baseline = our_side(name, kernels::table().cap, 1);
  bench.contest.candidate.work = bench.contest.baseline.work = work;
  bench.times = [s] { return s->report.times; };
  bench.details = [s] { return ordered_json{{"bytes", {{"peak", s->report.peak_bytes}}}}; };
  return bench;
}

template <class T>
void add_blas_syrk(const std::shared_ptr<Operation>& s, const char* name, int threads, Side& side) {
  const double work = side.work;
  side = blas_side(name, threads);
  side.work = work;
  const auto a = as<T>(s->a);
  const auto c = std::make_shared<core::Buffer<T>>(s->n * s->n);
  side.run = [s, a, c] {
    blas_syrk(static_cast<int>(s->n), static_cast<int>(s->k), a->data(), c->data());
  };
}

template <class T>
void add_blas_trsm(const std::shared_ptr<Operation>& s, const std::shared_ptr<Factor>& factor,
                   const char* name, int threads, Side& side) {
  const double work = side.work;
  side = blas_side(name, threads);
  side.work = work;
  const auto l64 = std::make_shared<core::Buffer<double>>(s->n * s->n);
  factor->copy_to(view(l64->data(), s->n, s->n));
  const auto l = as<T>(l64);
  const auto b = std::make_shared<core::Buffer<T>>(s->k * s->n);
  side.prepare = [b] { fill(*b, 3); };
  side.run = [s, l, b] {
    blas_trsm(static_cast<int>(s->k), static_cast<int>(s->n), l->data(), b->data());
  };
}

}  // namespace

LargeBench make_syrk_bench(const LargeRequest& request) {
  const std::int64_t n = request.n;
  const std::int64_t k = request.k;
  require_memory(core::size_product(n, n, 16, "C") + core::size_product(n, k, 14, "A"));
  const auto s = std::make_shared<Operation>(request);
  s->a = std::make_shared<core::Buffer<double>>(n * k);
  s->c = std::make_shared<core::Buffer<double>>(n * n);
  fill(*s->a, 2);
  const auto run = [s](Context& workers) {
    const auto a = view(static_cast<const double*>(s->a->data()), s->n, s->k);
    return syrk(1, a, 0, view(s->c->data(), s->n, s->n), s->on(workers));
  };
  const double work =
      static_cast<double>(n) * (static_cast<double>(n) + 1) * static_cast<double>(k);
  LargeBench bench = bench_of(s, request, "syrk", work);
  bench.contest.candidate.run = [s, run] { s->report = run(s->context); };
  bench.contest.baseline.run = [s, run] { run(s->one); };
  if (request.against == "dsyrk") {
    add_blas_syrk<double>(s, "dsyrk", request.threads, bench.contest.baseline);
  } else if (request.against == "ssyrk") {
    add_blas_syrk<float>(s, "ssyrk", request.threads, bench.contest.baseline);
  }

  run(s->context);
  Verdict verdict;
  for (const std::int64_t j : sample(n, 12)) {
    for (const std::int64_t i : sample(n, 12)) {
      if (i < j) continue;
      double sum = 0;
      double size = 0;
      for (std::int64_t p = 0; p < k; ++p) {
        const double product = (*s->a)[i + p * n] * (*s->a)[j + p * n];
        sum += product;
        size += std::abs(product);
      }
      verdict.expect((*s->c)[i + j * n], sum, bound_of(s->options.map, k) * size, i, j);
    }
  }
  refuse_if_wrong(verdict);
  return bench;
}

LargeBench make_trsm_bench(const LargeRequest& request) {
  const std::int64_t n = request.n;
  const std::int64_t m = request.k;
  require_memory(core::size_product(n, n, 24, "L") + core::size_product(m, n, 24, "B"));
  const auto s = std::make_shared<Operation>(request);
  s->c = std::make_shared<core::Buffer<double>>(m * n);
  const auto factor = std::make_shared<Factor>();
  {
    core::Buffer<double> matrix(n * n);
    gallery::fill_dominant(view(matrix.data(), n, n), 1);
    FactorOptions options;
    options.map = s->options.map;
    options.tile = request.tile;
    options.context = &s->context;
    *factor = cholesky(view(static_cast<const double*>(matrix.data()), n, n), options);
  }
  const auto run = [s, factor](Context& workers) {
    return trsm(*factor, view(s->c->data(), s->k, s->n), s->on(workers));
  };
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(n);
  LargeBench bench = bench_of(s, request, "trsm", work);
  bench.contest.candidate.prepare = bench.contest.baseline.prepare = [s] { fill(*s->c, 3); };
  bench.contest.candidate.run = [s, run] { s->report = run(s->context); };
  bench.contest.baseline.run = [s, run] { run(s->one); };
  if (request.against == "dtrsm") {
    add_blas_trsm<double>(s, factor, "dtrsm", request.threads, bench.contest.baseline);
  } else if (request.against == "strsm") {
    add_blas_trsm<float>(s, factor, "strsm", request.threads, bench.contest.baseline);
  }

  fill(*s->c, 3);
  run(s->context);
  core::Buffer<double> l(n * n);
  factor->copy_to(view(l.data(), n, n));
  Verdict verdict;
  for (const std::int64_t j : sample(n, 12)) {
    for (const std::int64_t i : sample(m, 12)) {
      double sum = 0;
      double size = 0;
      for (std::int64_t p = 0; p <= j; ++p) {
        sum += (*s->c)[i + p * m] * l[j + p * n];
        size += std::abs((*s->c)[i + p * m] * l[j + p * n]);
      }
      const double b =
          gallery::noise((std::uint64_t{3} << 40) + static_cast<std::uint64_t>(i + j * m));
      // The inverted blocks' errors enter with their condition number, about 1 here.
      verdict.expect(sum, b, 4 * bound_of(s->options.map, n) * (size + std::abs(b)), i, j);
    }
  }
  refuse_if_wrong(verdict);
  return bench;
}

}  // namespace stepwell::tool
