// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/machine/isa.hpp"

namespace stepwell::core {

/// Whether an instruction set can be used here, and if not, why.
struct Usable {
  bool yes = false;
  std::string reason;  ///< empty when usable
};

/// The CPU as described by CPUID, XCR0 and the operating system. Decisions use feature bits, never
/// the model number.
struct Cpu {
  std::string vendor;
  std::string model;                  ///< the brand string, for reports only
  std::vector<std::string> features;  ///< relevant features, spelled as in /proc/cpuinfo
  std::array<Usable, all_isas.size()> isa;

  const Usable& operator[](Isa i) const { return isa[static_cast<unsigned>(i)]; }
};

/// Detects the CPU. If CPUID offers AMX and 'cap' does not exclude it, requests the kernel's
/// permission to use AMX. The permission holds for the whole process and makes small
/// alternate signal stacks impossible from then on; therefore call this at first use, never when
/// the library is loaded. The kernel table does the numerical self-test. Never executes an
/// instruction that CPUID, XCR0 and the kernel do not guarantee.
Cpu probe_cpu(Isa cap);

}  // namespace stepwell::core
