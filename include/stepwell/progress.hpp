// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

namespace stepwell {

/// Shared between a long call and whoever watches it from another thread or a signal handler: the
/// call counts 'done' up to 'total' (tasks; a retry starts from zero), and gives up within a task
/// or two after 'cancel' becomes true.
struct Progress {
  std::atomic<std::int64_t> done{0};
  std::atomic<std::int64_t> total{0};
  std::atomic<bool> cancel{false};
};

}  // namespace stepwell
