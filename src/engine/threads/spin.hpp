// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace stepwell::engine {

/// Spins until the condition holds, for at most about a hundred microseconds; returns whether it
/// does. Waking a thread that sleeps takes longer than most pieces of work.
template <class Condition>
bool spin_until(Condition condition) {
  constexpr int spins = 2000;  // a pause takes about 140 cycles
  for (int i = 0; i < spins; ++i) {
    if (condition()) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  return false;
}

}  // namespace stepwell::engine
