// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace stepwell::engine {

/// A task that waits for no other, in the order in which threads take them: the largest is the
/// next.
struct ReadyTask {
  int priority;
  std::int64_t id;   ///< position in the order of insertion
  std::size_t slot;  ///< where the task is kept

  /// Among equal priorities, the task that was inserted first is the next.
  bool operator<(const ReadyTask& other) const {
    return priority != other.priority ? priority < other.priority : id > other.id;
  }
};

}  // namespace stepwell::engine
