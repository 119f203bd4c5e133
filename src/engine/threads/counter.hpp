// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

namespace stepwell::engine {

/// A monotonic counter that threads wait for: they spin for a while, because the event typically
/// comes within microseconds, and then sleep.
class Counter {
 public:
  /// Adds one and returns the sum.
  std::int64_t add();
  void wait_for(std::int64_t target) const;
  std::int64_t value() const { return value_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::int64_t> value_{0};
};

}  // namespace stepwell::engine
