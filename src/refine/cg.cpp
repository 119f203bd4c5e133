// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "refine/inner.hpp"
#include "refine/vectors.hpp"

namespace stepwell::refine {
namespace {

struct Coefficients {
  double first = 0;  ///< initial norm of r or of M^-1 r
  double rz = 0;     ///< r'M^-1 r
};

}  // namespace

void cg(Work& work, Corrections& e) {
  const std::int64_t n = e.r.rows;
  const auto slots = static_cast<std::int64_t>(e.column.size());
  Vectors z(n, slots), p(n, slots), q(n, slots);
  std::vector<Coefficients> k(e.column.size());
  std::vector<std::size_t> live;
  for (std::size_t s = 0; s < e.column.size(); ++s) live.push_back(s);
  const auto drop = [&](std::size_t s, Status status) {
    work.system(e.column[s]).status = status;
    std::erase(live, s);
  };

  work.precondition(e, live, e.r, z.view());
  for (const std::size_t s : std::vector(live)) {
    const double* const r = e.r.column(static_cast<std::int64_t>(s));
    std::copy_n(z[s], n, p[s]);
    k[s].rz = dot(n, r, z[s]);
    k[s].first = work.request.preconditioned ? norm2(n, z[s]) : norm2(n, r);
    if (!(k[s].rz > 0)) drop(s, k[s].rz <= 0 ? Status::indefinite : Status::non_finite);
  }
  for (int i = 0; i < e.iterations && !live.empty() && !work.stopped; ++i) {
    work.multiply(e, live, p.view(), q.view());
    double worst = 0;
    for (const std::size_t s : std::vector(live)) {
      double* const r = e.r.column(static_cast<std::int64_t>(s));
      double* const d = e.d.column(static_cast<std::int64_t>(s));
      const double pq = dot(n, p[s], q[s]);
      if (!(pq > 0)) {
        drop(s, pq <= 0 ? Status::indefinite : Status::non_finite);
        continue;
      }
      const double alpha = k[s].rz / pq;
      axpy(n, alpha, p[s], d);
      axpy(n, -alpha, q[s], r);
      work.round(n, d);
      work.round(n, r);
      const double error = work.record(e.column[s], r, d);
      if (!std::isfinite(error)) {
        drop(s, Status::non_finite);
      } else if (error <= work.request.goal ||
                 (!work.request.preconditioned && norm2(n, r) <= e.tolerance * k[s].first)) {
        std::erase(live, s);
      } else {
        worst = std::max(worst, error);
      }
    }
    if (live.empty() || !work.go_on(worst) || i + 1 == e.iterations) break;
    work.precondition(e, live, e.r, z.view());
    for (const std::size_t s : std::vector(live)) {
      const double* const r = e.r.column(static_cast<std::int64_t>(s));
      const double rz = dot(n, r, z[s]);
      if (!(rz > 0)) {
        drop(s, rz <= 0 ? Status::indefinite : Status::non_finite);
        continue;
      }
      if (work.request.preconditioned && norm2(n, z[s]) <= e.tolerance * k[s].first) {
        std::erase(live, s);
        continue;
      }
      xpby(n, z[s], rz / k[s].rz, p[s]);
      work.round(n, p[s]);
      k[s].rz = rz;
    }
  }
}

}  // namespace stepwell::refine
