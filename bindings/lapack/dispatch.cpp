// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "dispatch.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <new>

#include "next_symbol.hpp"
#include "stepwell/error.hpp"

namespace stepwell::lapack {
namespace {

/// Below this order Stepwell never pays, and planning takes longer than the solve.
constexpr std::int64_t kLeastOrder = 128;
/// Minimum order regardless of speed: see mixed_tolerance().
constexpr std::int64_t kSmallest = 2;

Why why(ErrorCode code) {
  switch (code) {
    case ErrorCode::out_of_memory:
    case ErrorCode::too_large:
      return Why::memory;
    case ErrorCode::unsupported:
      return Why::fork;
    case ErrorCode::invalid_argument:
      return Why::arguments;
    default:
      return Why::error;
  }
}

/// CG with the diagonal may be the start of a solve: it does not count as a rung to climb from.
bool has_climbed(const Certificate& certificate) {
  const auto factored = [](const LadderStep& rung) {
    return rung.method.factorization != Factorization::none;
  };
  return std::count_if(certificate.rungs.begin(), certificate.rungs.end(), factored) > 1;
}

}  // namespace

bool settle(Call& call, const Certificate& certificate) {
  if (certificate.ok()) {
    call.handled(has_climbed(certificate));
  } else {
    call.forwarded(lapack::why(certificate.outcome));
  }
  return certificate.ok();
}

bool settle(Call& call, const FactorReport& report) {
  const bool ok = report.outcome == FactorOutcome::ok;
  if (ok) {
    call.handled(false);
  } else {
    call.forwarded(lapack::why(report.outcome));
  }
  return ok;
}

void settle_exception(Call& call) noexcept {
  try {
    throw;
  } catch (const Error& error) {
    call.forwarded(why(error.code()));
  } catch (const std::bad_alloc&) {
    call.forwarded(Why::memory);
  } catch (...) {
    call.forwarded(Why::error);
  }
}

std::optional<Why> refusal(Routine routine, Mode least, std::int64_t order) {
  const Settings& s = settings();
  if (s.mode < least) return Why::off;
  if (order < (s.min_n > 0 ? std::max(s.min_n, kSmallest) : kLeastOrder)) return Why::small;
  if (forked_child()) return Why::fork;
  if (names_are_ambiguous(routine)) return Why::width;
  return std::nullopt;
}

std::optional<Why> refusal(const Plan& plan, const Plan& fp64, std::int64_t columns) {
  if (plan.method.refiner == Refiner::direct) return Why::small;
  if (columns > 1 && !(plan.seconds < fp64.seconds)) return Why::columns;
  return std::nullopt;
}

std::optional<Why> refusal(Routine routine, Mode least, bool valid, std::int64_t n,
                           std::int64_t columns, Planner& planner) noexcept {
  if (!valid) return Why::arguments;
  return refusal(routine, least, n, [&] {
    SolveOptions fp64;
    fp64.map = uniform(Rung::fp64);
    return refusal(planner(n, columns, {}), planner(n, columns, fp64), columns);
  });
}

double mixed_tolerance(std::int64_t n) {
  return 0x1p-54 * (std::sqrt(static_cast<double>(n)) - 1);
}

bool is(const char* option, char letter) {
  return (*option & ~0x20) == letter;
}

}  // namespace stepwell::lapack
