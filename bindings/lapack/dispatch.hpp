// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "call_log.hpp"
#include "settings.hpp"
#include "stepwell/certificate.hpp"
#include "stepwell/solve.hpp"

/// Whether a call is ours, and what happens if it is.
namespace stepwell::lapack {

/// Counts what a certificate says of a call; true if it converged.
bool settle(Call& call, const Certificate& certificate);
/// Counts the exception that is being handled.
void settle_exception(Call& call) noexcept;

/// Why a call of this routine, which modes from 'least' on dispatch, is not for us; nothing if it
/// may be. 'order' is n.
std::optional<Why> refusal(Routine routine, Mode least, std::int64_t order);

/// Why a plan for so many columns is not worth following, beside that of FP64; nothing if it is.
std::optional<Why> refusal(const Plan& plan, const Plan& fp64, std::int64_t columns);

/// The first, and then what 'by_plan' says of the sizes; nobody asks it when the user has given an
/// order.
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

/// The same of a square system with arguments that are valid or not; plan_spd or plan_general.
using Planner = Plan(std::int64_t n, std::int64_t columns, const SolveOptions& options);
std::optional<Why> refusal(Routine routine, Mode least, bool valid, std::int64_t n,
                           std::int64_t columns, Planner& planner) noexcept;

/// Runs 'solve', which returns a certificate, and says whether it converged. It counts what became
/// of the call, and lets no exception out.
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

/// The backward error that dsposv and dsgesv promise: ||r|| <= sqrt(n) u ||A|| ||x||, while ours is
/// relative to ||A|| ||x|| + ||b||, which is at most about twice as much. One unit is left for the
/// rounding of whoever checks it: that of n = 1 would be 0.
double mixed_tolerance(std::int64_t n);

/// LAPACK's comparison of an option with a capital letter.
bool is(const char* option, char letter);

template <class Int>
void pivots_in_order(Int* pivots, Int n) {
  for (Int i = 0; i < n; ++i) pivots[i] = i + 1;
}

}  // namespace stepwell::lapack
