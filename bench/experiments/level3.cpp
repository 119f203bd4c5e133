// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cblas.h>

#include <cmath>
#include <memory>
#include <type_traits>

#include <nlohmann/json.hpp>
#include "bench/experiments/large.hpp"
#include "bench/harness/data.hpp"
#include "core/buffer.hpp"
#include "gallery/gallery.hpp"
#include "options/requirements.hpp"
#include "stepwell/error.hpp"
#include "stepwell/level3.hpp"

/// `bench syrk` and `bench trsm`: against the linked BLAS, or against one thread.
namespace stepwell::bench {
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

/// The elements of 'from' as T; 'from' itself if T is double.
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

/// Error bound of the map's coarsest rung: two rounded operands, and sums in fp32 or fp64.
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
  throw Error(ErrorCode::internal, "the result is wrong and is not timed: " + verdict.text());
}

struct Operation {
  explicit Operation(const LargeRequest& r) : n(r.n), k(r.k), context(r.threads) {
    options.map = parse_map(r.map);
    options.tile = r.tile;
    options.engine.context = &context;
  }
  Level3Options on(Context& workers, const PrecisionMap& map) const {
    Level3Options o = options;
    o.engine.context = &workers;
    o.map = map;
    return o;
  }
  std::int64_t n, k;
  Context context;
  Context one{1};
  Level3Options options;
  Level3Report report;
  using Memory = std::shared_ptr<core::Buffer<double>>;
  Memory a, c;  ///< syrk: A and C; trsm: unused and B
};

/// The common part of both. at(map) checks the answer at a map and returns the run, which takes a
/// context.
template <class At>
LargeBench bench_of(const std::shared_ptr<Operation>& s, const LargeRequest& request,
                    const char* name, const Side& shared, At at) {
  LargeBench bench;
  bench.candidate = [s, name, shared, at, threads = request.threads](const std::string& map) {
    Side side = our_side(name, kernels::table().cap, threads);
    side.work = shared.work;
    side.prepare = shared.prepare;
    side.run = [s, run = at(parse_map(map))] { s->report = run(s->context); };
    return side;
  };
  bench.baseline = [s, name, shared, at](const std::string&) {
    Side side = our_side(name, kernels::table().cap, 1);
    side.work = shared.work;
    side.prepare = shared.prepare;
    side.run = [s, run = at(s->options.map)] { (void)run(s->one); };
    return side;
  };
  bench.times = [s] { return s->report.times; };
  bench.details = [s] { return ordered_json{{"bytes", {{"peak", s->report.peak_bytes}}}}; };
  return bench;
}

template <class T>
Side blas_syrk_side(const std::shared_ptr<Operation>& s, const char* name, int threads) {
  Side side = blas_side(name, threads);
  const auto a = as<T>(s->a);
  const auto c = std::make_shared<core::Buffer<T>>(s->n * s->n);
  side.run = [s, a, c] {
    blas_syrk(static_cast<int>(s->n), static_cast<int>(s->k), a->data(), c->data());
  };
  return side;
}

std::shared_ptr<Factor> dominant_factor(const Operation& s, const PrecisionMap& map) {
  core::Buffer<double> matrix(s.n * s.n);
  gallery::fill_dominant(view(matrix.data(), s.n, s.n), 1);
  FactorOptions options;
  options.map = map;
  options.tile = s.options.tile;
  options.engine.context = s.options.engine.context;
  return std::make_shared<Factor>(
      cholesky(view(static_cast<const double*>(matrix.data()), s.n, s.n), options));
}

template <class T>
Side blas_trsm_side(const std::shared_ptr<Operation>& s, const char* name, int threads) {
  Side side = blas_side(name, threads);
  const auto l64 = std::make_shared<core::Buffer<double>>(s->n * s->n);
  dominant_factor(*s, s->options.map)->copy_to(view(l64->data(), s->n, s->n));
  const auto l = as<T>(l64);
  const auto b = std::make_shared<core::Buffer<T>>(s->k * s->n);
  side.prepare = [b] { fill(*b, 3); };
  side.run = [s, l, b] {
    blas_trsm(static_cast<int>(s->k), static_cast<int>(s->n), l->data(), b->data());
  };
  return side;
}

void check_syrk(const Operation& s, const PrecisionMap& map) {
  const std::int64_t n = s.n;
  Verdict verdict;
  for (const std::int64_t j : sample(n, 12)) {
    for (const std::int64_t i : sample(n, 12)) {
      if (i < j) continue;
      double sum = 0;
      double size = 0;
      for (std::int64_t p = 0; p < s.k; ++p) {
        const double product = (*s.a)[i + p * n] * (*s.a)[j + p * n];
        sum += product;
        size += std::abs(product);
      }
      verdict.expect((*s.c)[i + j * n], sum, bound_of(map, s.k) * size, i, j);
    }
  }
  refuse_if_wrong(verdict);
}

void check_trsm(const Operation& s, const Factor& factor, const PrecisionMap& map) {
  const std::int64_t n = s.n;
  const std::int64_t m = s.k;
  core::Buffer<double> l(n * n);
  factor.copy_to(view(l.data(), n, n));
  Verdict verdict;
  for (const std::int64_t j : sample(n, 12)) {
    for (const std::int64_t i : sample(m, 12)) {
      double sum = 0;
      double size = 0;
      for (std::int64_t p = 0; p <= j; ++p) {
        sum += (*s.c)[i + p * m] * l[j + p * n];
        size += std::abs((*s.c)[i + p * m] * l[j + p * n]);
      }
      const double b =
          gallery::noise((std::uint64_t{3} << 40) + static_cast<std::uint64_t>(i + j * m));
      // Errors of the inverted blocks are multiplied by their condition number, about 1 here.
      verdict.expect(sum, b, 4 * bound_of(map, n) * (size + std::abs(b)), i, j);
    }
  }
  refuse_if_wrong(verdict);
}

/// Adds the BLAS routines to the baseline on one worker.
void add_blas(LargeBench& bench, double work, std::function<Side(const std::string&)> blas) {
  bench.baseline = [work, blas, ours = bench.baseline](const std::string& against) {
    if (against == "one-worker") return ours(against);
    Side side = blas(against);
    side.work = work;
    return side;
  };
}

}  // namespace

LargeBench make_syrk_bench(const LargeRequest& request) {
  const std::int64_t n = request.n;
  const std::int64_t k = request.k;
  tool::require_memory(core::size_product(n, n, 16, "C") + core::size_product(n, k, 14, "A"));
  const auto s = std::make_shared<Operation>(request);
  s->a = std::make_shared<core::Buffer<double>>(n * k);
  s->c = std::make_shared<core::Buffer<double>>(n * n);
  fill(*s->a, 2);
  const auto at = [s](const PrecisionMap& map) {
    const auto run = [s, map](Context& workers) {
      const auto a = view(static_cast<const double*>(s->a->data()), s->n, s->k);
      return syrk(1, a, 0, view(s->c->data(), s->n, s->n), s->on(workers, map));
    };
    (void)run(s->context);
    check_syrk(*s, map);
    return run;
  };
  Side shared;
  shared.work = static_cast<double>(n) * (static_cast<double>(n) + 1) * static_cast<double>(k);
  LargeBench bench = bench_of(s, request, "syrk", shared, at);
  add_blas(bench, shared.work, [s, threads = request.threads](const std::string& against) {
    return against == "ssyrk" ? blas_syrk_side<float>(s, "ssyrk", threads)
                              : blas_syrk_side<double>(s, "dsyrk", threads);
  });
  return bench;
}

LargeBench make_trsm_bench(const LargeRequest& request) {
  const std::int64_t n = request.n;
  const std::int64_t m = request.k;
  tool::require_memory(core::size_product(n, n, 24, "L") + core::size_product(m, n, 24, "B"));
  const auto s = std::make_shared<Operation>(request);
  s->c = std::make_shared<core::Buffer<double>>(m * n);
  const auto at = [s](const PrecisionMap& map) {
    const std::shared_ptr<Factor> factor = dominant_factor(*s, map);
    const auto run = [s, factor, map](Context& workers) {
      return trsm(*factor, view(s->c->data(), s->k, s->n), s->on(workers, map));
    };
    fill(*s->c, 3);
    (void)run(s->context);
    check_trsm(*s, *factor, map);
    return run;
  };
  Side shared;
  shared.work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(n);
  shared.prepare = [s] { fill(*s->c, 3); };
  LargeBench bench = bench_of(s, request, "trsm", shared, at);
  add_blas(bench, shared.work, [s, threads = request.threads](const std::string& against) {
    return against == "strsm" ? blas_trsm_side<float>(s, "strsm", threads)
                              : blas_trsm_side<double>(s, "dtrsm", threads);
  });
  return bench;
}

}  // namespace stepwell::bench
