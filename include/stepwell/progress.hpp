// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

namespace stepwell {

/// The phase that a long call is in.
enum class Phase : unsigned char {
  idle,
  reading,   ///< reading a file; counts bytes
  analysis,  ///< analysis of A; counts nothing
  factor,    ///< factorization, syrk() or trsm(); counts tasks; a retry starts from zero
  refine,    ///< refinement; done is 1000 ln(1 / error), total is 1000 ln(1 / target error)
  certify,   ///< condition number; counts nothing
  writing    ///< writing a file; counts bytes
};

/// Progress of a long call, shared with another thread or a signal handler. The call counts 'done'
/// up to 'total' within a phase, and ends within a task or two after 'cancel' is set to true. A
/// total of zero means that the phase counts nothing.
struct Progress {
  std::atomic<Phase> phase{Phase::idle};
  std::atomic<std::int64_t> done{0};
  std::atomic<std::int64_t> total{0};
  std::atomic<bool> cancel{false};

  void enter(Phase next, std::int64_t count = 0) {
    done = 0;
    total = count;
    phase = next;
  }
};

/// Seconds of work in each phase, summed over the workers.
struct PhaseTimes {
  double load = 0;      ///< reading A: scaling, conversion to low precision, scan
  double update = 0;    ///< matrix products
  double diagonal = 0;  ///< factoring diagonal tiles and inverting their blocks
  double solve = 0;     ///< triangular solves of the tiles below the diagonal
  double reorder = 0;   ///< copying L into the layout of right operands
  double norms = 0;     ///< adaptive maps: the pass over A that computes tile norms (wall time)
  double wall = 0;      ///< wall time of the call
  int workers = 1;
  std::int64_t tasks = 0;
};

}  // namespace stepwell
