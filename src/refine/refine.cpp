// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "refine/refine.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "refine/inner.hpp"
#include "refine/vectors.hpp"

namespace stepwell::refine {

MatrixView<double> Work::gather(core::Buffer<double>& memory, const std::vector<std::size_t>& live,
                                MatrixView<double> from) const {
  const std::int64_t n = from.rows;
  const auto k = static_cast<std::int64_t>(live.size());
  if (memory.size() < n * k) memory = core::Buffer<double>(n * k);
  const MatrixView<double> to = view(memory.data(), n, k);
  for (std::int64_t c = 0; c < k; ++c) {
    std::copy_n(from.column(static_cast<std::int64_t>(live[static_cast<std::size_t>(c)])), n,
                to.column(c));
  }
  return to;
}

namespace {

void scatter(MatrixView<double> from, const std::vector<std::size_t>& live, MatrixView<double> to) {
  for (std::int64_t c = 0; c < from.cols; ++c) {
    std::copy_n(from.column(c), from.rows,
                to.column(static_cast<std::int64_t>(live[static_cast<std::size_t>(c)])));
  }
}

}  // namespace

void Work::multiply(const Corrections& e, const std::vector<std::size_t>& live,
                    MatrixView<double> x, MatrixView<double> y, Reads reads) {
  const std::int64_t n = x.rows;
  ++outcome.products;
  if (live.size() == e.column.size()) {
    a_.apply(x, y, request.sums, reads);
  } else {
    const MatrixView<double> in = gather(in_, live, x);
    if (out_.size() < n * in.cols) out_ = core::Buffer<double>(n * in.cols);
    const MatrixView<double> out = view(out_.data(), n, in.cols);
    a_.apply(in, out, request.sums, reads);
    scatter(out, live, y);
  }
  for (const std::size_t s : live) {
    const auto c = static_cast<std::int64_t>(s);
    round(n, y.column(c));
    const double ratio = norm2(n, y.column(c)) / norm2(n, x.column(c));
    if (ratio > outcome.norm && std::isfinite(ratio)) outcome.norm = ratio;
  }
}

void Work::multiply(MatrixView<double> x, MatrixView<double> y) {
  ++outcome.products;
  a_.apply(x, y, request.sums, Reads::fp64);
}

void Work::precondition(const Corrections& e, const std::vector<std::size_t>& live,
                        MatrixView<double> r, MatrixView<double> z) {
  const std::int64_t n = r.rows;
  ++outcome.solves;
  if (live.size() == e.column.size()) {
    m_.apply(r, z);
  } else {
    const MatrixView<double> in = gather(in_, live, r);
    if (out_.size() < n * in.cols) out_ = core::Buffer<double>(n * in.cols);
    const MatrixView<double> out = view(out_.data(), n, in.cols);
    m_.apply(in, out);
    scatter(out, live, z);
  }
  for (const std::size_t s : live) round(n, z.column(static_cast<std::int64_t>(s)));
}

double Work::error_of(std::int64_t column, const double* r, const double* x,
                      const double* d) const {
  const System& s = outcome.system[static_cast<std::size_t>(column)];
  const std::int64_t n = x_.rows;
  const double r_norm = norm2(n, r);
  if (r_norm == 0) return 0;
  double x_norm = 0;
  if (d == nullptr) {
    x_norm = norm2(n, x);
  } else {
    double squares = 0;
    for (std::int64_t i = 0; i < n; ++i) squares += (x[i] + d[i]) * (x[i] + d[i]);
    x_norm = std::sqrt(squares);
  }
  const double scaled = r_norm / (outcome.norm * x_norm + s.b_norm);
  if (!request.error_of) return scaled;
  const double callers = request.error_of(column, r, x, d);
  const double floor = scaled / std::sqrt(static_cast<double>(n));
  return callers > floor || std::isnan(callers) ? callers : floor;
}

double Work::record(std::int64_t column, const double* r, const double* d) {
  System& s = system(column);
  ++s.iterations;
  s.history.push_back(error_of(column, r, x_.column(column), d));
  return s.history.back();
}

double Work::record(std::int64_t column, double residual, double d_norm) {
  System& s = system(column);
  ++s.iterations;
  const double before = outcome.norm * s.x_norm + s.b_norm;
  const double after = outcome.norm * std::max(s.x_norm, d_norm) + s.b_norm;
  s.history.push_back(s.error * residual * before / after);
  return s.history.back();
}

double Work::count(std::int64_t column) {
  ++system(column).iterations;
  return 1;
}

bool Work::go_on(double error) {
  ++asked_;
  if (request.go_on && !request.go_on(asked_, error)) stopped = true;
  return !stopped;
}

void Work::round(std::int64_t n, double* x) const {
  if (request.fp32) round_to_fp32(n, x);
}

namespace {

bool is_nested(Refiner refiner) {
  return refiner == Refiner::ir_cg || refiner == Refiner::ir_gmres;
}

/// Computes the corrections d of the systems in e.
void correct(Work& work, Corrections& e) {
  const Request& q = work.request;
  e.tolerance = is_nested(q.refiner) ? q.inner_tolerance : 0;
  int left = q.iterations;
  for (const std::int64_t c : e.column)
    left = std::min(left, q.iterations - work.system(c).iterations);
  e.iterations = is_nested(q.refiner) ? std::min(left, q.inner_iterations) : left;
  switch (q.refiner) {
    case Refiner::direct:  // not a refiner that can be requested
    case Refiner::ir: {
      std::vector<std::size_t> live;
      for (std::size_t s = 0; s < e.column.size(); ++s) live.push_back(s);
      work.precondition(e, live, e.r, e.d);
      double worst = 0;
      for (const std::int64_t c : e.column) {
        System& s = work.system(c);
        ++s.iterations;
        s.history.push_back(s.error);
        worst = std::max(worst, s.error);
      }
      work.go_on(worst);
      return;
    }
    case Refiner::cg:
    case Refiner::ir_cg:
      return cg(work, e);
    case Refiner::gmres:
    case Refiner::ir_gmres:
      return gmres(work, e, Side::left);
    case Refiner::fgmres:
      return gmres(work, e, Side::flexible);
    case Refiner::gmres_gmres:
      return gmres(work, e, Side::nested);
  }
}

}  // namespace

Outcome refine(Operator& a, Preconditioner& m, MatrixView<const double> b, MatrixView<double> x,
               MatrixView<double> r, const Request& request) {
  const std::int64_t n = b.rows;
  Outcome outcome;
  outcome.system.resize(static_cast<std::size_t>(b.cols));
  outcome.norm = request.norm;
  Work work(a, m, x, request, outcome);
  bool zero = true;
  for (std::int64_t c = 0; c < b.cols; ++c) {
    System& s = work.system(c);
    s.b_norm = norm2(n, b.column(c));
    s.x_norm = norm2(n, x.column(c));
    zero = zero && s.x_norm == 0;
    std::copy_n(b.column(c), n, r.column(c));
  }
  if (!zero) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(b.cols));
    std::iota(all.begin(), all.end(), 0);
    a.set_systems(all);
    a.residual(b, x, r, request.residuals);
    ++outcome.products;
  }
  Corrections e;
  for (std::int64_t c = 0; c < b.cols; ++c) {
    System& s = work.system(c);
    s.error = s.x_norm == 0 ? 1 : work.error_of(c, r.column(c), x.column(c), nullptr);
    if (s.b_norm == 0 && s.x_norm == 0) {
      s.status = Status::done;
    } else if (!std::isfinite(s.error)) {
      s.status = Status::non_finite;
    } else if (s.error <= kDone * request.goal) {
      s.status = Status::done;
    } else {
      e.column.push_back(c);
    }
  }

  for (int step = 0; step < request.steps && !e.column.empty() && !work.stopped; ++step) {
    const auto k = static_cast<std::int64_t>(e.column.size());
    const Vectors residual(n, k), correction(n, k), b_live(n, k), x_live(n, k);
    e.r = residual.view();
    e.d = correction.view();
    for (std::size_t s = 0; s < e.column.size(); ++s) {
      std::copy_n(r.column(e.column[s]), n, residual[s]);
      work.round(n, residual[s]);
    }
    correct(work, e);
    if (work.stopped && request.drop_if_stopped) break;
    for (std::size_t s = 0; s < e.column.size(); ++s) {
      const std::int64_t c = e.column[s];
      std::copy_n(b.column(c), n, b_live[s]);
      std::copy_n(x.column(c), n, x_live[s]);
      axpy(n, 1, correction[s], x_live[s]);
      work.round(n, x_live[s]);
    }
    a.set_systems(e.column);
    a.residual(b_live.view(), x_live.view(), residual.view(), request.residuals);
    ++outcome.products;
    std::vector<std::int64_t> still;
    for (std::size_t k2 = 0; k2 < e.column.size(); ++k2) {
      const std::int64_t c = e.column[k2];
      System& s = work.system(c);
      const double before = s.error;
      const double x_before = s.x_norm;
      ++s.steps;
      s.x_norm = norm2(n, x_live[k2]);
      s.error = work.error_of(c, residual[k2], x_live[k2], nullptr);
      // An inner solver with a loose tolerance may fail once near the limiting accuracy: nested
      // refiners may try again.
      const double most = is_nested(request.refiner) ? 4 * before : before;
      // Near the goal another step is worth trying even if this one did not halve the error.
      const int patience = is_nested(request.refiner) || s.error <= 8 * request.goal ? 2 : 0;
      if (!(s.error < most)) {  // also true for NaN: the previous x was better
        s.error = before;
        s.x_norm = x_before;
        if (s.status == Status::running) s.status = Status::stagnated;
        continue;
      }
      std::copy_n(x_live[k2], n, x.column(c));
      std::copy_n(residual[k2], n, r.column(c));
      if (s.error <= kDone * request.goal) {
        s.status = Status::done;
      } else if (s.status == Status::running && !(s.error <= before / 2) && ++s.misses > patience) {
        s.status = Status::stagnated;
      } else if (s.status == Status::running) {
        still.push_back(c);
      }
    }
    std::erase_if(still,
                  [&](std::int64_t c) { return work.system(c).iterations >= request.iterations; });
    e.column = std::move(still);
  }
  for (System& s : outcome.system) {
    if (s.status == Status::running) s.status = Status::stopped;
  }
  return outcome;
}

}  // namespace stepwell::refine
