// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/problems/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/baselines/baseline_mkl.hpp"
#include "bench/baselines/lapack.hpp"
#include "bench/harness/data.hpp"
#include "kernels/table.hpp"
#include "options/solve_options.hpp"
#include "stepwell/error.hpp"

namespace stepwell::bench {
namespace {

/// Copies the part of A that LAPACK reads.
void copy_matrix(const System& s, double* to) {
  for (std::int64_t j = 0; j < s.n; ++j) {
    const std::int64_t first = s.general ? 0 : j;
    std::copy(s.a.data() + j * s.n + first, s.a.data() + (j + 1) * s.n, to + j * s.n + first);
  }
}

/// oneMKL's FP64 solver; returns its info.
int mkl_solve(const System& s, LapackRoom& room) {
  const auto order = static_cast<int>(s.n);
  const auto nrhs = static_cast<int>(s.columns);
  int failed = 0;
  if (s.general) {
    mkl().gesv(&order, &nrhs, room.a.data(), &order, room.pivots.data(), room.b.data(), &order,
               &failed);
  } else {
    mkl().posv("L", &order, &nrhs, room.a.data(), &order, room.b.data(), &order, &failed);
  }
  return failed;
}

int lapack_solve(const System& s, LapackRoom& room, bool mixed) {
  if (!mixed) {
    return s.general ? gesv(room.a.data(), s.n, room.pivots.data(), room.b.data(), s.columns)
                     : posv(room.a.data(), s.n, room.b.data(), s.columns);
  }
  return s.general ? sgesv(room.a.data(), s.n, room.pivots.data(), room.b.data(), s.columns,
                           room.x.data(), room.work.data(), room.narrow.data(), &room.iterations)
                   : sposv(room.a.data(), s.n, room.b.data(), s.columns, room.x.data(),
                           room.work.data(), room.narrow.data(), &room.iterations);
}

double work_of(const System& s) {
  const auto n = static_cast<double>(s.n);
  return n * n * n / (s.general ? 1.5 : 3) + 2 * n * n * static_cast<double>(s.columns);
}

}  // namespace

bool is_general(const SolveRequest& r) {
  const bool kind = gallery::is_general(tool::recipe_of(r).kind);
  if (kind && r.assume == "spd") {
    throw Error(ErrorCode::invalid_argument,
                "'" + r.kind + "' is not positive definite; omit --assume spd");
  }
  return kind || r.assume == "general";
}

System::System(const SolveRequest& r)
    : n(r.n),
      columns(r.columns),
      threads(r.threads),
      general(is_general(r)),
      a(core::size_product(n, n, "matrix")),
      b(core::size_product(n, columns, "right-hand sides")),
      x(n * columns),
      context(r.threads) {
  if (!r.map.empty()) options.map = parse_map(r.map);
  options.refine.refiner = tool::refiner_of(r.refiner);
  options.lu.pivoting = tool::pivoting_of(r.pivoting);
  gallery::fill(view(a.data(), n, n), tool::recipe_of(r), r.threads);
  for (std::int64_t i = 0; i < b.size(); ++i) {
    b[i] = noise((std::uint64_t{11} << 44) + static_cast<std::uint64_t>(i));
  }
}

Certificate System::attempt(Context& workers, std::int64_t how_many) {
  options.engine.context = &workers;
  const auto rhs = view<const double>(b.data(), n, how_many);
  const auto matrix = view<const double>(a.data(), n, n);
  const auto solution = view(x.data(), n, how_many);
  return general ? solve_general(matrix, rhs, solution, options)
                 : solve_spd(matrix, rhs, solution, options);
}

Certificate System::solve(Context& workers, std::int64_t how_many) {
  Certificate c = attempt(workers, how_many);
  if (!c.ok()) {
    throw Error(ErrorCode::unsupported, "the solve did not converge: " + c.reason);
  }
  return c;
}

const std::vector<std::string>& lapack_names(bool general) {
  static const std::vector<std::string> spd = {"dposv", "dsposv", "mkl-dposv"};
  static const std::vector<std::string> other = {"dgesv", "dsgesv", "mkl-dgesv"};
  return general ? other : spd;
}

bool is_lapack(const std::string& against) {
  return against.ends_with("posv") || against.ends_with("gesv");
}

bool is_mixed(const std::string& against) {
  return against.starts_with("ds");
}

std::int64_t system_bytes(std::int64_t n, const std::string& against, bool general) {
  const std::int64_t matrix = core::size_product(n, n, 8, "matrix");
  return matrix + (is_lapack(against) ? matrix : 0) + matrix / (general ? 2 : 4) +
         (is_mixed(against) ? matrix / 2 : 0);
}

Side solver_side(const std::shared_ptr<System>& s) {
  Side side =
      our_side(s->general ? "solve_general" : "solve_spd", kernels::table().cap, s->threads);
  side.work = work_of(*s);
  side.run = [s] { s->last = s->solve(s->context, s->columns); };
  return side;
}

Side lapack_side(const std::shared_ptr<System>& s, const std::shared_ptr<LapackRoom>& room,
                 const std::string& against) {
  const bool mixed = is_mixed(against);
  const bool mkl = against.starts_with("mkl-");
  const std::int64_t n = s->n;
  if (room->a.size() == 0) {
    room->a = core::Buffer<double>(n * n);
    room->b = core::Buffer<double>(n * s->columns);
    if (s->general) room->pivots.resize(static_cast<std::size_t>(n));
  }
  if (mixed && room->narrow.size() == 0) {
    room->x = core::Buffer<double>(n * s->columns);
    room->work = core::Buffer<double>(n * s->columns);
    room->narrow = core::Buffer<float>(n * (n + s->columns));
  }
  Side side =
      mkl ? mkl_side(against.c_str() + 4, s->threads) : blas_side(against.c_str(), s->threads);
  side.work = work_of(*s);
  side.prepare = [s, room] {
    copy_matrix(*s, room->a.data());
    std::copy(s->b.begin(), s->b.end(), room->b.begin());
  };
  side.run = [s, room, mixed, mkl] {
    const int failed = mkl ? mkl_solve(*s, *room) : lapack_solve(*s, *room, mixed);
    if (failed != 0) {
      throw Error(ErrorCode::unsupported,
                  fmt::format("LAPACK failed with info = {}; nothing to compare with", failed));
    }
  };
  return side;
}

const double* lapack_solution(const LapackRoom& room, const std::string& against) {
  return is_mixed(against) ? room.x.data() : room.b.data();
}

double backward_error(MatrixView<const double> a, MatrixView<const double> b,
                      MatrixView<const double> x) {
  const std::int64_t n = a.rows;
  std::vector<double> sums(static_cast<std::size_t>(n));
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) sums[static_cast<std::size_t>(i)] += std::abs(a(i, j));
  }
  const double norm = *std::max_element(sums.begin(), sums.end());
  double worst = 0;
  for (std::int64_t c = 0; c < b.cols; ++c) {
    std::vector<long double> r(&b(0, c), &b(0, c) + n);
    long double xs = 0, bs = 0, rs = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const long double xj = x(j, c);
      for (std::int64_t i = 0; i < n; ++i) r[static_cast<std::size_t>(i)] -= a(i, j) * xj;
      xs = std::max(xs, std::abs(xj));
      bs = std::max(bs, static_cast<long double>(std::abs(b(j, c))));
    }
    // Written so that a NaN is kept.
    for (const long double v : r) rs = std::abs(v) <= rs ? rs : std::abs(v);
    const auto error = static_cast<double>(rs / (norm * xs + bs));
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

double backward_error(const System& s, const double* x) {
  return backward_error(view<const double>(s.a.data(), s.n, s.n),
                        view<const double>(s.b.data(), s.n, s.columns),
                        view<const double>(x, s.n, s.columns));
}

}  // namespace stepwell::bench
