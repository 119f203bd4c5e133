// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stepwell/machine.hpp"

#include <new>

#include "core/machine/threads.hpp"
#include "core/memory_error.hpp"
#include "engine/runtime.hpp"
#include "kernels/report.hpp"
#include "stepwell/version.hpp"

namespace stepwell {

MachineReport describe_machine() try {
  const core::CpuAllowance cpus = core::cpu_allowance();
  const core::MemoryAllowance memory = core::memory_allowance();
  const engine::WorkerCount workers = engine::worker_count(nullptr);
  MachineReport r;
  r.version = version();
  kernels::describe(r);
  r.cpus_online = cpus.online;
  r.cpus_by_affinity = cpus.by_affinity;
  r.cpus_by_quota = cpus.by_quota;
  r.threads = workers.threads;
  r.threads_reason = workers.reason;
  r.threads_problem = core::ignored_thread_variable();
  r.starpu = engine::starpu_identity();
  r.worker_limit = engine::worker_limit();
  if (r.worker_limit < r.threads) {
    r.starpu.warning = "over MPI, a rank uses at most " + std::to_string(r.worker_limit) + " of " +
                       std::to_string(r.threads) +
                       " threads; a Stepwell that is built with STEPWELL_STARPU=bundled has room "
                       "for 512";
  }
  r.memory_total = memory.total;
  r.memory_available = memory.available;
  r.huge_pages = core::transparent_huge_pages();
  return r;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell
