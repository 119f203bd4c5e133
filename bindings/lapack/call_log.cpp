// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "call_log.hpp"

#include <array>
#include <cstdio>
#include <string>

namespace stepwell::lapack {
namespace {

constexpr auto kRoutines = static_cast<std::size_t>(Routine::count);
constexpr auto kReasons = static_cast<std::size_t>(Why::count);

constexpr std::array<const char*, kRoutines> kNames = {"dsposv", "dsgesv", "dposv",  "dpotrf",
                                                       "dgesv",  "dgels",  "dpotrs", "dgetrs",
                                                       "dpocon", "dgecon"};
constexpr std::array<const char*, kReasons> kWords = {
    "off",      "small",         "columns", "arguments", "width", "fork",
    "unmarked", "not cached",    "not spd", "singular",  "rank",  "non-finite",
    "overflow", "not converged", "changed", "memory",    "error"};

struct Row {
  std::atomic<std::int64_t> calls{0};
  std::atomic<std::int64_t> handled{0};
  std::atomic<std::int64_t> climbed{0};
  std::atomic<std::int64_t> nanoseconds{0};
  std::array<std::atomic<std::int64_t>, kReasons> forwarded{};
};

constinit std::array<Row, kRoutines> call_log{};
constinit thread_local int depth = 0;

Row& row_of(Routine routine) {
  return call_log[static_cast<std::size_t>(routine)];
}

void print_row(const char* name, const Row& row) {
  std::int64_t forwarded = 0;
  std::string reasons;
  for (std::size_t i = 0; i < kReasons; ++i) {
    const std::int64_t count = row.forwarded[i];
    if (count == 0) continue;
    forwarded += count;
    reasons +=
        (reasons.empty() ? "  " : ", ") + std::string(kWords[i]) + " " + std::to_string(count);
  }
  std::fprintf(stderr, "stepwell: %-8s %9lld %9lld %9lld %9lld %11.3f%s\n", name,
               static_cast<long long>(row.calls), static_cast<long long>(row.handled),
               static_cast<long long>(row.climbed), static_cast<long long>(forwarded),
               1e-9 * static_cast<double>(row.nanoseconds), reasons.c_str());
}

}  // namespace

Why why(SolveOutcome outcome) {
  switch (outcome) {
    case SolveOutcome::not_positive_definite:
      return Why::not_definite;
    case SolveOutcome::singular:
      return Why::singular;
    case SolveOutcome::rank_deficient:
      return Why::rank;
    case SolveOutcome::non_finite:
      return Why::non_finite;
    case SolveOutcome::overflow:
      return Why::overflow;
    case SolveOutcome::changed:
      return Why::changed;
    default:
      return Why::not_converged;
  }
}

Why why(FactorOutcome outcome) {
  switch (outcome) {
    case FactorOutcome::non_finite:
      return Why::non_finite;
    case FactorOutcome::not_positive_definite:
    case FactorOutcome::breakdown:
      return Why::not_definite;
    default:
      return Why::error;
  }
}

const char* name_of(Routine routine) {
  return kNames[static_cast<std::size_t>(routine)];
}

Call::Call(Routine routine) : routine_(routine) {
  ++row_of(routine).calls;
}

Call::~Call() {
  const auto elapsed = std::chrono::steady_clock::now() - start_;
  row_of(routine_).nanoseconds +=
      std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count();
}

void Call::handled(bool climbed) {
  ++row_of(routine_).handled;
  if (climbed) ++row_of(routine_).climbed;
}

void Call::forwarded(Why why) {
  ++row_of(routine_).forwarded[static_cast<std::size_t>(why)];
}

ReentrancyGuard::ReentrancyGuard() {
  ++depth;
}

ReentrancyGuard::~ReentrancyGuard() {
  --depth;
}

bool ReentrancyGuard::active() {
  return depth > 0;
}

void print_call_log() {
  bool any = false;
  for (std::size_t i = 0; i < kRoutines; ++i) {
    if (call_log[i].calls == 0) continue;
    if (!any) {
      std::fputs("stepwell: LAPACK       calls   handled   climbed forwarded     seconds\n",
                 stderr);
    }
    any = true;
    print_row(kNames[i], call_log[i]);
  }
}

void say_once(std::atomic_flag& said, const char* text) {
  if (!said.test_and_set()) std::fprintf(stderr, "stepwell: %s\n", text);
}

}  // namespace stepwell::lapack
