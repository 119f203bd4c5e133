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

/// What CPUID, XCR0 and the operating system say. Decided by feature bits, never by model number.
struct Cpu {
  std::string vendor;
  std::string model;                  ///< the brand string, for reports only
  std::vector<std::string> features;  ///< those we care about, as /proc/cpuinfo spells them
  std::array<Usable, all_isas.size()> isa;

  const Usable& operator[](Isa i) const { return isa[static_cast<unsigned>(i)]; }
};

/// Looks at the CPU. When CPUID and XCR0 offer AMX, asks the kernel for permission to use it (which
/// holds for the whole process and makes small alternate signal stacks impossible from then on; so
/// call this at first use, never at load) unless 'cap' rules AMX out. The numeric self-test is the
/// kernel table's part. Never executes an instruction that CPUID and XCR0 do not promise.
Cpu probe_cpu(Isa cap);

}  // namespace stepwell::core
