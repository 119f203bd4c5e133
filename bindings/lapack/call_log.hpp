// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "stepwell/certificate.hpp"

/// Who called what, and what became of it. Counted without locks: a forked child must not find one
/// held.
namespace stepwell::lapack {

enum class Routine : unsigned char {
  dsposv,
  dsgesv,
  dposv,
  dgesv,
  dgels,
  dpotrs,
  dgetrs,
  dpocon,
  dgecon,
  count
};

/// Why a call went to the real LAPACK.
enum class Why : unsigned char {
  off,            ///< the mode does not dispatch it
  small,          ///< below the size where it pays
  columns,        ///< so many right-hand sides that FP64 is foretold to dispatch less time
  arguments,      ///< a wrong one, an empty system, or a case that is not ours: LAPACK says which
  width,          ///< the process's LAPACK has 64-bit integers under 32-bit names
  fork,           ///< the process was forked after the first call
  unmarked,       ///< dgetrs and the like: A is not a factor of ours
  forgotten,      ///< the same, of a factor that is gone
  not_definite,   ///< this and the next six: what the certificate said
  singular,       //
  rank,           //
  non_finite,     //
  overflow,       //
  not_converged,  //
  changed,        //
  memory,         ///< there was not enough
  error,          ///< Stepwell threw something else
  count
};

/// How a Certificate's outcome is called here.
Why why(SolveOutcome outcome);

/// The name as Fortran spells it, without an underscore.
const char* name_of(Routine routine);

/// One call of one routine, from its entry to its end. Calls that Stepwell itself makes are not
/// counted.
class Call {
 public:
  explicit Call(Routine routine);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  Routine routine() const { return routine_; }
  void taken(bool climbed);
  void forwarded(Why why);

 private:
  Routine routine_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// While one lives, this thread's calls of LAPACK are Stepwell's own and go straight through.
class ReentrancyGuard {
 public:
  ReentrancyGuard();
  ~ReentrancyGuard();
  ReentrancyGuard(const ReentrancyGuard&) = delete;
  ReentrancyGuard& operator=(const ReentrancyGuard&) = delete;
  static bool active();
};

/// A table on standard error; nothing when nothing was called.
void print_call_log();

/// A line on standard error, the first time that 'said' is seen.
void say_once(std::atomic_flag& said, const char* text);

}  // namespace stepwell::lapack
