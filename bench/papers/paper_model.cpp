// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/papers/paper_model.hpp"

#include <algorithm>
#include <memory>

#include <nlohmann/json.hpp>
#include "bench/baselines/lapack.hpp"
#include "bench/harness/data.hpp"
#include "bench/harness/report.hpp"
#include "core/buffer.hpp"
#include "factor/lu/lu_data.hpp"
#include "gallery/recipe.hpp"
#include "refine/operators/general_product.hpp"
#include "refine/preconditioner.hpp"
#include "stepwell/context.hpp"
#include "stepwell/error.hpp"
#include "stepwell/lu.hpp"

namespace stepwell::bench {
namespace {

using nlohmann::ordered_json;

constexpr const char* kMaps[] = {"bf16", "bf16x2", "bf16x3"};

/// A matrix that hardly needs pivoting, like most matrices of the paper; the rates depend little on
/// it.
core::Buffer<double> matrix_of(std::int64_t n, int threads) {
  core::Buffer<double> a(n * n);
  gallery::Recipe recipe;
  recipe.kind = gallery::Kind::positive_arithmetic;
  gallery::fill(view(a.data(), n, n), recipe, threads);
  return a;
}

double median_of(const Timing& timing) {
  return summarize(timing.seconds).median;
}

/// Measures dgetrf and dgetrs on a copy of A.
void measure_lapack(const PaperRun& run, const core::Buffer<double>& a, LuModel& model) {
  const std::int64_t n = model.n;
  const core::Buffer<double> copy(n * n), b(n);
  std::vector<int> pivots(static_cast<std::size_t>(n));
  Side factor = blas_side("dgetrf", run.threads);
  factor.work = 1;
  factor.prepare = [&] { std::copy(a.begin(), a.end(), copy.begin()); };
  factor.run = [&] { getrf(copy.data(), n, pivots.data()); };
  model.dgetrf = median_of(measure(run, n, {factor})[0]);
  Side solve = blas_side("dgetrs", run.threads);
  solve.work = 1;
  solve.prepare = [&] { std::fill(b.begin(), b.end(), 1.0); };
  solve.run = [&] { getrs(copy.data(), n, pivots.data(), b.data()); };
  model.dgetrs = median_of(measure(run, n, {solve})[0]);
}

/// Measures lu() at a map, and solves with its two triangles.
LuModel::Rung measure_rung(const PaperRun& run, MatrixView<const double> a, const char* map,
                           Context& context, engine::ThreadPool& pool) {
  FactorOptions options;
  options.map = parse_map(map);
  options.engine.context = &context;
  LuFactor made;
  Side factor = our_side("lu", kernels::table().cap, run.threads);
  factor.work = 1;
  factor.run = [&] { made = lu(a, options); };
  LuModel::Rung rung;
  rung.factor = median_of(measure(run, a.rows, {factor})[0]);
  if (!made.ok()) {
    throw Error(ErrorCode::unsupported, std::string("lu() at ") + map + " broke down");
  }
  const LuData& data = LuData::of(made);
  const engine::ThreadPoolGuard guard(pool);
  refine::FactorPreconditioner m(pool, data, data.scale.row, data.scale.col, false);
  const core::Buffer<double> b(a.rows), x(a.rows);
  std::fill(b.begin(), b.end(), 1.0);
  Side solve = our_side("trsv", kernels::table().cap, run.threads);
  solve.work = 1;
  solve.run = [&] { m.apply(view<const double>(b.data(), a.rows, 1), view(x.data(), a.rows, 1)); };
  rung.solve = median_of(measure(run, a.rows, {solve})[0]);
  return rung;
}

}  // namespace

double LuModel::seconds(const Certificate& c) const {
  double sum = 0;
  for (const LadderStep& r : c.rungs) {
    const auto rung = rungs.find(map_text(r.method));
    if (r.method.factorization == Factorization::none) {
      sum += kOverhead * r.iterations * gemv;
    } else if (rung == rungs.end()) {
      sum += dgetrf + dgetrs;
    } else {
      sum += rung->second.factor + kOverhead * r.iterations * (gemv + rung->second.solve);
    }
  }
  return sum;
}

ordered_json LuModel::json() const {
  ordered_json json = {
      {"n", n}, {"dgetrf", rounded(dgetrf)}, {"dgetrs", rounded(dgetrs)}, {"gemv", rounded(gemv)}};
  for (const auto& [map, rung] : rungs) {
    json["rungs"][map] = {{"factor", rounded(rung.factor)}, {"solve", rounded(rung.solve)}};
  }
  return json;
}

double model_cost(const PaperRun& run, std::int64_t n) {
  double seconds = 2 * guess(n, "fp64");
  for (const char* const map : kMaps) seconds += 2 * guess(n, map);
  return seconds * run.runs(n);
}

LuModel measure_model(const PaperRun& run, std::int64_t n) {
  LuModel model;
  model.n = n;
  const core::Buffer<double> a = matrix_of(n, run.threads);
  const MatrixView<const double> matrix = view<const double>(a.data(), n, n);
  measure_lapack(run, a, model);
  Context context(run.threads);
  engine::ThreadPool pool(run.threads);
  refine::GeneralProduct product(pool, matrix);
  const core::Buffer<double> x(n), y(n);
  std::fill(x.begin(), x.end(), 1.0);
  Side gemv = our_side("gemv", kernels::table().cap, run.threads);
  gemv.work = 1;
  gemv.run = [&] { product.apply(view<const double>(x.data(), n, 1), view(y.data(), n, 1)); };
  model.gemv = median_of(measure(run, n, {gemv})[0]);
  pool.release();  // lu() needs the threads
  for (const char* const map : kMaps) {
    model.rungs[map] = measure_rung(run, matrix, map, context, pool);
  }
  return model;
}

}  // namespace stepwell::bench
