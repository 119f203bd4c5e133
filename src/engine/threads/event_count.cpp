// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/threads/event_count.hpp"

#include "engine/threads/spin.hpp"

namespace stepwell::engine {

void EventCount::wait(std::uint32_t seen) const {
  if (spin_until([&] { return now() != seen; })) return;
  events_.wait(seen, std::memory_order_acquire);
}

void EventCount::notify(std::int64_t count) {
  events_.fetch_add(1, std::memory_order_acq_rel);
  for (; count > 0; --count) events_.notify_one();
}

void EventCount::notify_all() {
  events_.fetch_add(1, std::memory_order_acq_rel);
  events_.notify_all();
}

}  // namespace stepwell::engine
