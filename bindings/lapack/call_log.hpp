// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "stepwell/certificate.hpp"
#include "stepwell/factor.hpp"

/// Counts the calls of each routine and what happened to them. The counters are lock-free: a forked
/// child must not find a lock held.
namespace stepwell::lapack {

enum class Routine : unsigned char {
  dsposv,
  dsgesv,
  dposv,
  dpotrf,
  dgesv,
  dgels,
  dpotrs,
  dgetrs,
  dpocon,
  dgecon,
  count
};

/// Why a call was forwarded to the real LAPACK.
enum class Why : unsigned char {
  off,            ///< the mode does not include the routine
  small,          ///< below the size where Stepwell pays
  columns,        ///< so many right-hand sides that FP64 is predicted to be faster
  arguments,      ///< invalid, empty or unsupported: LAPACK handles and reports it
  width,          ///< LAPACK has 64-bit integers under the 32-bit names
  fork,           ///< the process was forked after the first call
  unmarked,       ///< dgetrs etc.: A is not marked as a factor of Stepwell
  not_cached,     ///< dgetrs etc.: the factor is no longer cached
  not_definite,   ///< this and the next six: the certificate's outcome
  singular,       //
  rank,           //
  non_finite,     //
  overflow,       //
  not_converged,  //
  changed,        //
  memory,         ///< not enough memory
  error,          ///< Stepwell threw another exception
  count
};

/// The reason that corresponds to a certificate's outcome, or to a factorization's.
Why why(SolveOutcome outcome);
Why why(FactorOutcome outcome);

/// The name as Fortran spells it, without an underscore.
const char* name_of(Routine routine);

/// One call of one routine, from entry to return. Calls that Stepwell itself makes are not counted.
class Call {
 public:
  explicit Call(Routine routine);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  Routine routine() const { return routine_; }
  void handled(bool climbed);
  void forwarded(Why why);

 private:
  Routine routine_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// While an object of this class exists, this thread's calls of LAPACK are Stepwell's own and are
/// passed straight to LAPACK.
class ReentrancyGuard {
 public:
  ReentrancyGuard();
  ~ReentrancyGuard();
  ReentrancyGuard(const ReentrancyGuard&) = delete;
  ReentrancyGuard& operator=(const ReentrancyGuard&) = delete;
  static bool active();
};

/// Prints the table to standard error; nothing if no routine was called.
void print_call_log();

/// Prints a line to standard error, once for each flag 'said'.
void say_once(std::atomic_flag& said, const char* text);

}  // namespace stepwell::lapack
