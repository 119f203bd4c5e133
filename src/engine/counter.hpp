// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

namespace stepwell::engine {

/// A number that only grows and that threads wait for: they spin a while, because what they wait
/// for comes within microseconds as a rule, then sleep.
class Counter {
 public:
  /// Adds one and returns the sum.
  std::int64_t add();
  void wait_for(std::int64_t target) const;

 private:
  std::atomic<std::int64_t> value_{0};
};

}  // namespace stepwell::engine
