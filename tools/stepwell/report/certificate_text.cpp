// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "report/certificate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/numeric/worst.hpp"
#include "report/screen.hpp"

namespace stepwell::tool {
namespace {

constexpr double kUnit = 0x1p-53;

/// Describes the shift of the diagonal in the factorization.
std::string shift_text(const Certificate& c) {
  return fmt::format(
      "the diagonal was multiplied by 1 + {:.2g} to factor at this rung; x is not "
      "affected",
      c.shift * c.factor.unit_roundoff);
}

/// Describes a solve by LU.
std::string general_text(const Certificate& c) {
  const std::string growth =
      c.factor.growth > 0 ? fmt::format("; growth factor {:.2g}", c.factor.growth) : "";
  return "a general matrix, by LU" + growth;
}

/// Describes the bound on the error of x; NaN is an unknown bound.
std::string error_text(double error, bool least_squares) {
  if (std::isnan(error)) return "the error of x is unknown";
  if (least_squares) return fmt::format("relative error of x up to {:.1e}", error);
  return fmt::format("error of x at most {:.1e} of its largest element", error);
}

/// Describes the bound on the backward error that was the smallest.
std::string measure_text(Measure measure) {
  switch (measure) {
    case Measure::normwise:
      break;
    case Measure::residual:
      return "the residual: b is nearly a linear combination of A's columns";
    case Measure::gradient:
      return "the gradient A'r";
    case Measure::projection:
      return "the projection of r on A's columns";
    case Measure::weighted:
      return "Karlson & Walden's bound, by QR";
    case Measure::projected:
      return "random projections, an upper bound (wrong with probability 1e-17); --prove computes "
             "the residuals";
  }
  return to_string(measure);
}

/// "3, 7, 12 and 40 more", counted from 0.
std::string list_text(const std::vector<std::int64_t>& columns) {
  constexpr std::size_t most = 10;
  const std::size_t shown = std::min(columns.size(), most);
  std::string text = fmt::format("{}", fmt::join(columns.begin(), columns.begin() + shown, ", "));
  if (columns.size() > shown) text += fmt::format(" and {} more", columns.size() - shown);
  return text;
}

/// "bf16 factor", "bf16 Gram matrix"
std::string factor_text(const Method& method, bool least_squares) {
  if (method.factorization == Factorization::none) return "no factor";
  if (method.factorization == Factorization::qr) return "FP64 QR";
  return to_string(method.map) + (least_squares ? " Gram matrix" : " factor");
}

/// Adds the lines that only least squares has.
void add_least_squares(Screen& screen, const Certificate& c) {
  double largest = 0;
  Measure measure = Measure::normwise;
  for (const ColumnCertificate& column : c.columns) {
    largest = std::max(largest, column.residual_norm);
    if (column.backward_error == c.backward_error) measure = column.measure;
  }
  if (measure != Measure::normwise) screen.line("measured by", measure_text(measure));
  if (c.ok() || c.outcome == SolveOutcome::rank_deficient) {
    const char* const of = c.columns.size() > 1 ? " for the worst column" : "";
    screen.line("residual", fmt::format("||b - A x|| = {:.6g}{}", largest, of));
  }
  if (c.rank >= 0) screen.line("rank", fmt::format("{} in FP64", c.rank));
  if (!c.dependent.empty()) screen.bad("dependent", "columns " + list_text(c.dependent));
}

}  // namespace

std::string path_text(const Method& method, int iterations, bool least_squares) {
  const std::string steps = fmt::format("{} iteration{}", iterations, iterations == 1 ? "" : "s");
  return fmt::format("{}, {}, {}", factor_text(method, least_squares), refiner_text(method), steps);
}

std::string attempt_text(const LadderStep& r, bool least_squares) {
  const std::string what = r.factored ? path_text(r.method, r.iterations, least_squares)
                                      : factor_text(r.method, least_squares);
  return what + ": " + r.reason;
}

std::string time_text(const SolveTimes& t) {
  // Two digits, without an exponent from 100 seconds on.
  const auto number = [](double s) {
    return s < 100 ? fmt::format("{:.2g}", s) : fmt::format("{:.0f}", s);
  };
  std::string text = number(t.wall) + " s";
  const char* before = ": ";
  const auto add = [&](const char* name, double seconds) {
    if (seconds <= 0) return;
    text += fmt::format("{}{} {}", before, name, number(seconds));
    before = ", ";
  };
  add("analysis", t.analysis);
  add("factor", t.factor);
  add("refinement", t.refine);
  add("condition and proof", t.certify);
  return text;
}

namespace {

/// A line for each rung that was given up; one for all factors that failed for the same reason.
void add_attempts(Screen& screen, const Certificate& c, bool least_squares) {
  for (std::size_t k = 0; k < c.rungs.size(); ++k) {
    const LadderStep& r = c.rungs[k];
    if (r.reason.empty()) continue;
    std::vector<std::string> maps = {map_text(r.method)};
    const auto same = [&](const LadderStep& next) {
      return !r.factored && !next.factored && next.reason == r.reason;
    };
    for (; k + 1 < c.rungs.size() && same(c.rungs[k + 1]); ++k) {
      const std::string map = map_text(c.rungs[k + 1].method);
      if (map != maps.back()) maps.push_back(map);
    }
    const bool several = maps.size() > 1;
    screen.line("tried", several ? fmt::format("{} factors: {}", fmt::join(maps, ", "), r.reason)
                                 : attempt_text(r, least_squares));
  }
}

}  // namespace

std::string certificate_text(const Certificate& c, bool colour) {
  Screen screen(colour);
  if (c.ok()) {
    screen.good("outcome", to_string(c.outcome));
    screen.line("backward error",
                fmt::format("{:.1e} ({:.2g} units of FP64's roundoff); accepted up to {:.1e}",
                            c.backward_error, c.backward_error / kUnit, c.tolerance));
  } else {
    screen.bad("outcome", to_string(c.outcome));
  }
  double proven = 0;
  double forward = 0;
  for (const ColumnCertificate& column : c.columns) {
    // A NaN is kept: what can't be proven for one column is not proven.
    proven = core::worst(proven, column.proven_backward_error);
    forward = core::worst(forward, column.forward_error);
  }
  if (proven > 0) screen.line("proven", fmt::format("backward error at most {:.2e}", proven));
  if (std::isnan(proven)) screen.bad("proven", "nothing: the computation of the bound overflowed");
  const bool least_squares = c.structure == Structure::least_squares;
  const std::string condition =
      std::isnan(c.condition) ? "unknown" : fmt::format("about {:.1e}", c.condition);
  if (c.condition != 0) {
    const char* const scale = least_squares ? ", with columns scaled to norms near 1" : "";
    screen.line("condition",
                fmt::format("{}{}; {}", condition, scale, error_text(forward, least_squares)));
  }
  if (least_squares) add_least_squares(screen, c);
  const auto projected = [](const ColumnCertificate& column) {
    return column.measure == Measure::projected;
  };
  if (c.ok() && std::any_of(c.columns.begin(), c.columns.end(), projected)) {
    screen.line("measured by", measure_text(Measure::projected));
  }
  add_attempts(screen, c, least_squares);
  if (c.ok() && c.method != Method{}) {
    screen.line("path", path_text(c.method, c.iterations, least_squares));
  }
  if (c.ok() && c.shift > 0) screen.line("shift", shift_text(c));
  if (c.structure == Structure::general) screen.line("solved as", general_text(c));
  screen.line("time", time_text(c.times));
  if (!c.threads_reason.empty()) {
    screen.line("threads", fmt::format("{} ({})", c.threads, c.threads_reason));
  }
  screen.line("memory", size_text(c.peak_bytes) + " in addition to A, b and x");
  return screen.take();
}

int exit_code(SolveOutcome outcome) {
  switch (outcome) {
    case SolveOutcome::converged:
      return 0;
    case SolveOutcome::non_finite:
      return 15;
    case SolveOutcome::asymmetric:
      return 16;
    case SolveOutcome::not_positive_definite:
    case SolveOutcome::singular:
    case SolveOutcome::rank_deficient:
      return 20;
    case SolveOutcome::not_converged:
    case SolveOutcome::not_attempted:
      return 21;
    case SolveOutcome::overflow:
      return 22;
    case SolveOutcome::changed:
      return 23;
    case SolveOutcome::cancelled:
      break;
  }
  return 130;
}

}  // namespace stepwell::tool
