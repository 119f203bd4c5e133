// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

namespace stepwell::engine {

/// What threads without work wait for. A thread reads now() while it holds the lock under which it
/// found no work, and waits for the next notification after that; so it can't miss one. It spins
/// for a while, because work typically comes within microseconds, and then sleeps.
class EventCount {
 public:
  std::uint32_t now() const { return events_.load(std::memory_order_acquire); }
  void wait(std::uint32_t seen) const;
  /// Ends the wait of threads that spin, and of up to 'count' threads that sleep.
  void notify(std::int64_t count);
  void notify_all();

 private:
  // 32 bits are what the operating system waits for; a wait of 2^32 events does not happen.
  std::atomic<std::uint32_t> events_{0};
};

}  // namespace stepwell::engine
