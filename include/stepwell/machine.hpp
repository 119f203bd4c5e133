// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stepwell/export.hpp"

namespace stepwell {

/// One kernel of the table: which one runs, and why the better ones don't.
struct KernelChoice {
  std::string operation;             ///< "update bf16", "symv", ...
  std::string kernel;                ///< the name of the kernel that runs
  std::string isa;                   ///< the instruction set it needs
  std::vector<std::string> refused;  ///< "amx: <reason>", best first; empty if the best runs
};

/// One instruction set: usable or not, with the reason.
struct IsaState {
  std::string name;
  bool usable = false;
  std::string reason;  ///< empty when usable
};

/// The BLAS this process is linked with, as it describes itself.
struct BlasIdentity {
  std::string library;    ///< "OpenBLAS", "oneMKL", "unknown CBLAS"
  std::string version;    ///< empty when it does not say
  std::string core_name;  ///< the CPU it thinks it runs on; empty when it does not say
  int threads = 0;        ///< threads it would use now; 0 when it does not say
  std::string warning;    ///< what is wrong with it here and how to mend it; empty if nothing
};

/// What the library found and chose on this machine. Plain data.
struct MachineReport {
  std::string version;  ///< of Stepwell
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
  double cpus_by_quota = 0;           ///< cgroup CPU quota in CPUs; 0 when there is none
  int threads = 0;                    ///< what the library would use: the least of the three
  std::int64_t memory_total = 0;      ///< bytes
  std::int64_t memory_available = 0;  ///< bytes, the cgroup's limit taken into account
  std::string huge_pages;             ///< "always", "madvise", "never" or "unknown"
};

/// Looks at the machine and reports. Asks the kernel for the matrix engine's state if nobody has
/// yet. Cost: a few milliseconds at the first call. Throws nothing but Error(out_of_memory).
STEPWELL_API MachineReport describe_machine();

}  // namespace stepwell
