// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "stepwell/export.hpp"

namespace stepwell {

/// The number of threads of a call. They start at the first call that needs them and sleep between
/// calls. A process has one set of threads: a call takes those that no other call is using, and
/// works alone if there are none. Most programs need no context: a call without one uses
/// num_threads() threads. A call may use fewer, because a small system has no work for more.
///
/// A forked child has threads of its own. Over ranks, StarPU's workers do the work; they start at
/// the first call over ranks, do not survive fork(), and a child that needs them gets
/// Error(unsupported) at once.
class STEPWELL_API Context {
 public:
  /// Starts no threads. threads: 0: as many as allowed; 1: only the caller's thread. Throws
  /// Error(invalid_argument) if it is negative.
  explicit Context(int threads = 0);
  /// Stops StarPU's workers if they run for this context and no call is using them.
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// The number of threads requested, or the number that 0 means now.
  int threads() const;
  /// The number given to the constructor.
  int requested() const { return threads_; }

 private:
  int threads_;
};

/// The number of threads of a call without a context. In this order: set_num_threads(); the
/// environment variable STEPWELL_THREADS; OPENBLAS_NUM_THREADS, MKL_NUM_THREADS and
/// OMP_NUM_THREADS, which only lower what follows; the CPUs that the process may use by affinity
/// and cgroup quota. The variables are read when the number is first needed. At most the number
/// that StarPU was built for.
STEPWELL_API int num_threads();

/// Sets the number of threads of the process's calls without a context, from the next call on. 0:
/// as if never set; at most the number of CPUs. Throws Error(invalid_argument) if it is negative.
STEPWELL_API void set_num_threads(int threads);

/// Calls keep large blocks of their memory for the next calls, at most this many bytes in all. At
/// first 512 MiB, or an eighth of the memory that the process may use if that is less, or the value
/// of the environment variable STEPWELL_MEMORY_CACHE in MiB. 0: nothing is kept. Throws
/// Error(invalid_argument) if it is negative.
STEPWELL_API void set_memory_cache(std::int64_t bytes);

/// Gives the memory that calls have kept back to the system.
STEPWELL_API void release_memory();

}  // namespace stepwell
