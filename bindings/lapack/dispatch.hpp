// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "call_log.hpp"
#include "settings.hpp"
#include "stepwell/certificate.hpp"
#include "stepwell/solve.hpp"

/// Decides whether Stepwell handles a call, and runs the call if so.
namespace stepwell::lapack {

/// Counts the call by its certificate's outcome; true if it converged.
bool settle(Call& call, const Certificate& certificate);
bool settle(Call& call, const FactorReport& report);
/// Counts the call by the exception that is being handled.
void settle_exception(Call& call) noexcept;

/// Why Stepwell does not handle a call of this routine, which requires at least the mode 'least';
/// empty if it may. 'order' is n.
std::optional<Why> refusal(Routine routine, Mode least, std::int64_t order);

/// Why a plan for 'columns' columns is not worthwhile compared with the plan for FP64; empty if it
/// is.
std::optional<Why> refusal(const Plan& plan, const Plan& fp64, std::int64_t columns);

/// The first check, then by_plan(), which decides by the sizes; by_plan is not called if the user
/// has set a minimum order.
template <class ByPlan>
std::optional<Why> refusal(Routine routine, Mode least, std::int64_t order,
                           const ByPlan& by_plan) noexcept {
  try {
    if (const auto why = refusal(routine, least, order)) return why;
    return settings().min_n == 0 ? by_plan() : std::nullopt;
  } catch (...) {
    return Why::error;
  }
}

/// The same for a square system; 'valid': the arguments are valid; planner: plan_spd or
/// plan_general.
using Planner = Plan(std::int64_t n, std::int64_t columns, const SolveOptions& options);
std::optional<Why> refusal(Routine routine, Mode least, bool valid, std::int64_t n,
                           std::int64_t columns, Planner& planner) noexcept;

/// Runs 'solve', which returns a certificate or the report of a factorization, and returns whether
/// it succeeded. Counts the outcome of the call; lets no exception escape.
template <class Solve>
bool dispatch(Call& call, const Solve& solve) noexcept {
  const ReentrancyGuard guard;
  try {
    return settle(call, solve());
  } catch (...) {
    settle_exception(call);
    return false;
  }
}

/// The backward error that dsposv and dsgesv promise: ||r|| <= sqrt(n) u ||A|| ||x||, while
/// Stepwell's is relative to ||A|| ||x|| + ||b||, which is at most about twice as much. One unit is
/// left for the rounding errors of a caller's check: for n = 1 the tolerance would be 0.
double mixed_tolerance(std::int64_t n);

/// Compares an option with a capital letter, ignoring case as LAPACK does.
bool is(const char* option, char letter);

template <class Int>
void pivots_in_order(Int* pivots, Int n) {
  for (Int i = 0; i < n; ++i) pivots[i] = i + 1;
}

}  // namespace stepwell::lapack
