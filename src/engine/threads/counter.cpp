// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/threads/counter.hpp"

#include "engine/threads/spin.hpp"

namespace stepwell::engine {

std::int64_t Counter::add() {
  const std::int64_t sum = value_.fetch_add(1, std::memory_order_acq_rel) + 1;
  value_.notify_all();
  return sum;
}

void Counter::wait_for(std::int64_t target) const {
  if (spin_until([&] { return value() >= target; })) return;
  for (;;) {
    const std::int64_t value = value_.load(std::memory_order_acquire);
    if (value >= target) return;
    value_.wait(value, std::memory_order_acquire);
  }
}

}  // namespace stepwell::engine
