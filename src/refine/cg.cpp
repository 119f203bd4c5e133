// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <optional>

#include "refine/inner.hpp"
#include "refine/residual_gap.hpp"
#include "refine/vectors.hpp"

namespace stepwell::refine {
namespace {

struct Coefficients {
  double first = 0;  ///< initial norm of r or of M^-1 r
  double rz = 0;     ///< r'M^-1 r
};

/// The products of CG for one slot, some of them with the fp32 copy of A.
class CopyProducts {
 public:
  CopyProducts(Work& work, const Corrections& e)
      : work_(work), e_(e), gap_(work.request.norm), first_(e.r.rows, 1) {
    std::copy_n(e.r.data, e.r.rows, first_[0]);
  }

  /// q = A p. Where r has drifted away, the same pass computes the true residual of the correction
  /// so far.
  void multiply(MatrixView<double> p, MatrixView<double> q, double error) {
    const std::int64_t n = p.rows;
    const double r = norm2(n, e_.r.data);
    gap_.observe(r, r * work_.request.goal / error);
    if (!gap_.too_wide()) return work_.multiply(e_, {0}, p, q, gap_.next(norm2(n, p.data)));
    const Vectors pair(n, 2), products(n, 2);
    std::copy_n(p.data, n, pair[0]);
    std::copy_n(e_.d.data, n, pair[1]);
    work_.multiply(pair.view(), products.view());
    std::copy_n(products[0], n, q.data);
    std::copy_n(first_[0], n, e_.r.data);
    axpy(n, -1, products[1], e_.r.data);
    gap_.close();
  }

 private:
  Work& work_;
  const Corrections& e_;
  ResidualGap gap_;
  Vectors first_;  ///< the residual that is corrected
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
  std::optional<CopyProducts> copy;
  if (work.request.copy) copy.emplace(work, e);
  double worst = 0;
  for (const std::int64_t c : e.column) worst = std::max(worst, work.system(c).error);
  for (int i = 0; i < e.iterations && !live.empty() && !work.stopped; ++i) {
    if (copy) {
      copy->multiply(p.view(), q.view(), worst);
    } else {
      work.multiply(e, live, p.view(), q.view());
    }
    worst = 0;
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
