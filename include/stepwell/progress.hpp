// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

namespace stepwell {

/// What a long call is at.
enum class Phase : unsigned char {
  idle,
  reading,   ///< a file; counts bytes
  analysis,  ///< looking at A; counts nothing
  factor,    ///< or syrk, trsm: counts tasks; a retry starts from zero
  refine,    ///< counts thousandths of the logarithm of what the error has still to lose
  certify,   ///< condition number; counts nothing
  writing    ///< a file; counts bytes
};

/// Shared between a long call and whoever watches it from another thread or a signal handler: the
/// call counts 'done' up to 'total' within a phase, and gives up within a task or two after
/// 'cancel' becomes true. A total of zero: nothing is counted.
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

}  // namespace stepwell
