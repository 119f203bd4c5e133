// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "core/machine/system.hpp"

/// The number of threads of a call that names none.
namespace stepwell::core {

/// What determines the number of threads. The first one that is set does.
enum class ThreadSource : unsigned char {
  program,  ///< set_threads()
  stepwell_threads,
  openblas_num_threads,
  mkl_num_threads,
  omp_num_threads,
  quota,
  affinity,
  online
};
/// "STEPWELL_THREADS", "CPU affinity", ...
const char* to_string(ThreadSource source);

struct ThreadCount {
  int threads = 1;
  ThreadSource source = ThreadSource::online;
};

/// The variables of other libraries only lower the number that the operating system allows: they
/// are often set for a whole cluster. No variable raises it above the number of CPUs.
ThreadCount thread_count(const CpuAllowance& allowed);

/// The same for this process now. Cached until set_threads() or until the affinity changes: reading
/// the quotas takes longer than solving ten thousand systems of order 5.
ThreadCount thread_count();

/// thread_count().threads.
int default_threads();

/// The number of CPUs that the process may use by its affinity and quota, whatever the number of
/// threads is. Cached until the affinity changes.
int usable_cpus();

/// The first variable above that is set but is not a number of threads, with a message; empty if
/// there is none.
std::string ignored_thread_variable();

/// Sets the number for the process; 0: as if never set. At most the number of CPUs online.
void set_threads(int threads);

}  // namespace stepwell::core
