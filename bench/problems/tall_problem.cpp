// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/problems/tall_problem.hpp"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/baselines/baseline_mkl.hpp"
#include "bench/baselines/lapack.hpp"
#include "bench/harness/data.hpp"
#include "core/checked.hpp"
#include "engine/threads/thread_pool.hpp"
#include "gallery/tall.hpp"
#include "kernels/table.hpp"
#include "options/solve_options.hpp"
#include "stepwell/error.hpp"

namespace stepwell::bench {
namespace {

bool is_normal(const std::string& against) {
  return against.ends_with("normal-equations");
}

bool is_mkl(const std::string& against) {
  return against.starts_with("mkl-");
}

/// to (cols x rows, column-major) <- the transpose of from, in square blocks that stay in the
/// cache.
void transpose(const double* from, std::int64_t rows, std::int64_t cols, double* to,
               engine::ThreadPool& pool) {
  constexpr std::int64_t side = 64;
  pool.for_each((rows + side - 1) / side, [&](std::int64_t block) {
    const std::int64_t i0 = block * side, i1 = std::min(rows, i0 + side);
    for (std::int64_t j0 = 0; j0 < cols; j0 += side) {
      const std::int64_t j1 = std::min(cols, j0 + side);
      for (std::int64_t i = i0; i < i1; ++i) {
        for (std::int64_t j = j0; j < j1; ++j) to[i * cols + j] = from[j * rows + i];
      }
    }
  });
}

/// Copies A and b, which dgels overwrites.
void copy_problem(const TallProblem& p, TallRoom& room) {
  if (p.by_rows) {
    engine::ThreadPool pool(p.threads);
    transpose(p.a.data(), p.n, p.m, room.a.data(), pool);
  } else {
    std::copy(p.a.begin(), p.a.end(), room.a.begin());
  }
  std::copy(p.b.begin(), p.b.end(), room.b.begin());
}

int gels(const TallProblem& p, TallRoom& room, bool mkl_one, std::int64_t work) {
  const auto rows = static_cast<int>(p.m), cols = static_cast<int>(p.n);
  const auto nrhs = static_cast<int>(p.columns), length = static_cast<int>(work);
  int failed = 0;
  if (mkl_one) {
    mkl().gels("N", &rows, &cols, &nrhs, room.a.data(), &rows, room.b.data(), &rows,
               room.work.data(), &length, &failed);
  } else {
    dgels_("N", &rows, &cols, &nrhs, room.a.data(), &rows, room.b.data(), &rows, room.work.data(),
           &length, &failed, 1);
  }
  return failed;
}

/// A'A by dsyrk, A'B, Cholesky, all in FP64.
int normal_equations(const TallProblem& p, TallRoom& room, bool mkl_one) {
  const auto rows = static_cast<int>(p.m), cols = static_cast<int>(p.n);
  const auto nrhs = static_cast<int>(p.columns);
  const int ld = p.by_rows ? cols : rows;
  const char* const trans = p.by_rows ? "N" : "T";
  const double one = 1, zero = 0;
  const int step = 1;
  int failed = 0;
  if (mkl_one) {
    mkl().syrk("L", trans, &cols, &rows, &one, p.a.data(), &ld, &zero, room.a.data(), &cols);
    mkl().gemm(trans, "N", &cols, &nrhs, &rows, &one, p.a.data(), &ld, p.b.data(), &rows, &zero,
               room.b.data(), &cols);
    mkl().posv("L", &cols, &nrhs, room.a.data(), &cols, room.b.data(), &cols, &failed);
    return failed;
  }
  const CBLAS_TRANSPOSE t = p.by_rows ? CblasNoTrans : CblasTrans;
  cblas_dsyrk(CblasColMajor, CblasLower, t, cols, rows, one, p.a.data(), ld, zero, room.a.data(),
              cols);
  if (p.columns == 1) {
    cblas_dgemv(CblasColMajor, t, p.by_rows ? cols : rows, p.by_rows ? rows : cols, one, p.a.data(),
                ld, p.b.data(), step, zero, room.b.data(), step);
  } else {
    cblas_dgemm(CblasColMajor, t, CblasNoTrans, cols, nrhs, rows, one, p.a.data(), ld, p.b.data(),
                rows, zero, room.b.data(), cols);
  }
  return posv(room.a.data(), p.n, room.b.data(), p.columns);
}

/// Flops of the normal equations, used for all sides so that ratios of rates are ratios of times.
double work_of(const TallProblem& p) {
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n);
  return m * n * n + n * n * n / 3 + 4 * m * n * static_cast<double>(p.columns);
}

}  // namespace

TallProblem::TallProblem(const LstsqBenchRequest& r)
    : m(r.m),
      n(r.n),
      columns(r.columns),
      threads(r.threads),
      by_rows(r.layout == "rows"),
      a(core::size_product(m, n, "matrix")),
      b(core::size_product(m, columns, "right-hand sides")),
      known(core::size_product(n, columns, "solutions")),
      x(n * columns),
      context(r.threads) {
  if (!r.map.empty()) options.map = parse_map(r.map);
  options.refine.refiner = tool::refiner_of(r.refiner);
  options.qr = r.qr;
  const gallery::TallRecipe recipe{r.condition, r.kind == "tall-clustered", r.seed};
  engine::ThreadPool pool(threads);
  gallery::fill_tall(view(a.data(), m, n), recipe, pool);
  gallery::fill_problem(view<const double>(a.data(), m, n), recipe, r.residual,
                        view(known.data(), n, columns), view(b.data(), m, columns), pool);
  if (!by_rows) return;
  core::Buffer<double> rows(m * n);
  transpose(a.data(), m, n, rows.data(), pool);
  std::swap(a, rows);
}

TallMatrix TallProblem::matrix() const {
  if (by_rows) return stepwell::by_rows(a.data(), m, n);
  return view<const double>(a.data(), m, n);
}

void TallProblem::solve(Context& workers) {
  options.engine.context = &workers;
  last = lstsq(matrix(), view<const double>(b.data(), m, columns), view(x.data(), n, columns),
               options);
  if (!last.ok()) {
    throw Error(ErrorCode::unsupported, "the least squares problem was not solved: " + last.reason);
  }
}

const std::vector<std::string>& tall_baselines() {
  static const std::vector<std::string> names = {"dgels", "normal-equations", "mkl-dgels",
                                                 "mkl-normal-equations", "one-worker"};
  return names;
}

std::int64_t tall_bytes(const LstsqBenchRequest& r) {
  const std::int64_t matrix = core::size_product(r.m, r.n, 24, "matrix") / 3;
  const bool second = r.against.ends_with("dgels") || r.layout == "rows";
  const std::int64_t vectors = core::size_product(r.m, r.columns, 16, "right-hand sides");
  return matrix * (second ? 2 : 1) + core::size_product(r.n, r.n, 16, "Gram matrix") + vectors;
}

Side lstsq_side(const std::shared_ptr<TallProblem>& p) {
  Side side = our_side("lstsq", kernels::table().cap, p->threads);
  side.work = work_of(*p);
  side.run = [p] { p->solve(p->context); };
  return side;
}

Side tall_baseline(const std::shared_ptr<TallProblem>& p, const std::shared_ptr<TallRoom>& room,
                   const std::string& against) {
  const bool normal = is_normal(against), from_mkl = is_mkl(against);
  const std::string name = from_mkl ? against.substr(4) : against;
  const char* const routine = normal ? "dsyrk + dposv" : "dgels";
  Side side = from_mkl ? mkl_side(routine, p->threads) : blas_side(routine, p->threads);
  side.work = work_of(*p);
  std::int64_t work = 0;
  if (normal) {
    room->a = core::Buffer<double>(p->n * p->n);
    room->b = core::Buffer<double>(p->n * p->columns);
  } else {
    room->a = core::Buffer<double>(p->m * p->n);
    room->b = core::Buffer<double>(p->m * p->columns);
    room->work = core::Buffer<double>(1);
    if (gels(*p, *room, from_mkl, -1) == 0) work = static_cast<std::int64_t>(room->work[0]);
    room->work = core::Buffer<double>(std::max<std::int64_t>(1, work));
    side.prepare = [p, room] { copy_problem(*p, *room); };
  }
  side.run = [p, room, normal, from_mkl, work] {
    const int failed =
        normal ? normal_equations(*p, *room, from_mkl) : gels(*p, *room, from_mkl, work);
    if (failed != 0) {
      throw Error(
          ErrorCode::unsupported,
          fmt::format("the baseline failed with info = {}; nothing to compare with", failed));
    }
  };
  return side;
}

TallAccuracy accuracy(const TallProblem& p, const double* x, std::int64_t ld) {
  TallAccuracy worst;
  const auto size = [](const std::vector<long double>& v) {
    long double squares = 0;
    for (const long double e : v) squares += e * e;
    return std::sqrt(squares);
  };
  // Written so that a NaN is kept.
  const auto keep_larger = [](double& kept, long double value) {
    if (!(static_cast<double>(value) <= kept)) kept = static_cast<double>(value);
  };
  for (std::int64_t c = 0; c < p.columns; ++c) {
    std::vector<long double> r(p.b.data() + c * p.m, p.b.data() + (c + 1) * p.m);
    std::vector<long double> gradient(static_cast<std::size_t>(p.n));
    long double squares = 0;
    // Blocks of rows in either layout, so that a block stays in the cache for A'r.
    constexpr std::int64_t rows = 256;
    for (std::int64_t first = 0; first < p.m; first += rows) {
      const std::int64_t end = std::min(p.m, first + rows);
      for (std::int64_t j = 0; j < p.n; ++j) {
        const long double xj = x[c * ld + j];
        for (std::int64_t i = first; i < end; ++i) {
          r[static_cast<std::size_t>(i)] -= p.at(i, j) * xj;
        }
      }
      for (std::int64_t j = 0; j < p.n; ++j) {
        for (std::int64_t i = first; i < end; ++i) {
          const long double e = p.at(i, j);
          gradient[static_cast<std::size_t>(j)] += e * r[static_cast<std::size_t>(i)];
          squares += e * e;
        }
      }
    }
    long double off = 0, all = 0;
    for (std::int64_t j = 0; j < p.n; ++j) {
      const long double known = p.known[c * p.n + j], difference = x[c * ld + j] - known;
      off += difference * difference;
      all += known * known;
    }
    const long double residual = size(r);
    keep_larger(worst.residual, residual);
    keep_larger(worst.gradient, size(gradient) / (std::sqrt(squares) * residual));
    keep_larger(worst.forward, std::sqrt(off / all));
  }
  return worst;
}

}  // namespace stepwell::bench
