// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/counter.hpp"

namespace stepwell::engine {

std::int64_t Counter::add() {
  const std::int64_t sum = value_.fetch_add(1, std::memory_order_acq_rel) + 1;
  value_.notify_all();
  return sum;
}

void Counter::wait_for(std::int64_t target) const {
  constexpr int spins = 2000;  // about a hundred microseconds: a pause takes about 140 cycles
  for (int i = 0; i < spins; ++i) {
    if (value_.load(std::memory_order_acquire) >= target) return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  for (;;) {
    const std::int64_t value = value_.load(std::memory_order_acquire);
    if (value >= target) return;
    value_.wait(value, std::memory_order_acquire);
  }
}

}  // namespace stepwell::engine
