// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "stepwell/export.hpp"

namespace stepwell {

/// The worker threads that large calls run on. They start at the first call that needs them, sleep
/// between calls, and there is one set of them in a process: calls from several threads share it,
/// and each waits for its own work only. Most programs never mention it: a call without a context
/// uses as many workers as the process may have CPUs (affinity and cgroup quota, looked at when
/// they start), and they stay until the process ends.
///
/// A program that wants another number of workers, or wants them gone, owns a context and gives it
/// to its calls. When a call finds the workers of another context idle, they are restarted with its
/// own number; when they are busy, it shares them.
///
/// Workers do not survive fork(): a child that needs them gets Error(unsupported) at once. It may
/// still use one thread (threads = 1), or be started before the workers were.
class STEPWELL_API Context {
 public:
  /// Starts nothing. threads: 0, as many as allowed; 1, the caller's thread alone, without workers.
  explicit Context(int threads = 0);
  /// Stops the workers if they run for this context and no call is using them.
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// The number asked for, or what 0 comes to now; at most as many as StarPU was built for.
  int threads() const;

 private:
  int threads_;
};

}  // namespace stepwell
