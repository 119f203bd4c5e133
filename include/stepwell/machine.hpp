// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stepwell/export.hpp"

namespace stepwell {

/// The kernel chosen for one operation, and why better ones are not used.
struct KernelChoice {
  std::string operation;             ///< "update bf16", "symv", ...
  std::string kernel;                ///< the name of the kernel that runs
  std::string isa;                   ///< the instruction set it needs
  std::vector<std::string> refused;  ///< "amx: <reason>", best first; empty if the best one runs
};

/// One instruction set, and why it can't be used if it can't.
struct IsaState {
  std::string name;
  bool usable = false;
  std::string reason;  ///< empty when usable
};

/// The BLAS that this process is linked with, as the BLAS describes itself.
struct BlasIdentity {
  std::string library;    ///< "OpenBLAS", "oneMKL", "unknown CBLAS"
  std::string version;    ///< empty if unknown
  std::string core_name;  ///< the CPU type that the BLAS detected; empty if unknown
  int threads = 0;        ///< number of threads that it would use now; 0 if unknown
  std::string warning;    ///< a problem with this BLAS and how to fix it; empty if none
};

/// The StarPU whose workers run the tasks of calls over ranks.
struct StarpuIdentity {
  std::string version;
  bool bundled = false;  ///< inside libstepwell; otherwise the system's
  std::string warning;   ///< if it has room for fewer workers than 'threads', and what to do
};

/// The properties of this machine and the library's choices for it. Plain data.
struct MachineReport {
  std::string version;  ///< version of Stepwell
  std::string cpu_vendor;
  std::string cpu_model;
  std::vector<std::string> cpu_features;
  std::string isa;              ///< the best instruction set in use
  std::string isa_cap;          ///< the value of STEPWELL_ISA, empty when unset
  std::string isa_cap_problem;  ///< why that value was ignored, empty when it was not
  std::vector<IsaState> isas;   ///< all of them, worst first
  std::vector<KernelChoice> kernels;
  BlasIdentity blas;
  int cpus_online = 0;
  int cpus_by_affinity = 0;
  double cpus_by_quota = 0;  ///< cgroup CPU quota in CPUs; 0 when there is none
  int threads = 0;           ///< of a call without a context, see num_threads()
  std::string
      threads_reason;  ///< what determines 'threads': "CPU affinity", "OMP_NUM_THREADS", ...
  std::string threads_problem;  ///< a variable that was ignored, and why; empty if none was
  StarpuIdentity starpu;
  int worker_limit = 0;               ///< number of CPU workers that StarPU has room for
  std::int64_t memory_total = 0;      ///< bytes
  std::int64_t memory_available = 0;  ///< bytes, allowing for the cgroup's limit
  std::string huge_pages;             ///< "always", "madvise", "never" or "unknown"
};

/// Detects what this machine offers. Requests permission to use the matrix engine from the
/// operating system, unless the process has it already. Cost: a few milliseconds at the first call.
/// Throws only Error(out_of_memory).
STEPWELL_API MachineReport describe_machine();

}  // namespace stepwell
