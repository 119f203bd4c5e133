// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Prints what would run on this machine: the rungs and their constants, and the kernel chosen for
// each operation, with the reason why a better kernel was refused.
#include <cstdio>
#include <string>

#include "stepwell/stepwell.hpp"

int main() {
  std::printf("Stepwell %s\n\n", stepwell::version());

  std::printf("%-8s %-8s %10s %14s\n", "rung", "format", "products", "unit roundoff");
  for (const stepwell::Rung rung : stepwell::all_rungs) {
    const stepwell::RungInfo r = stepwell::info(rung);
    const std::string products = r.products > 0 ? std::to_string(r.products) : "CBLAS";
    std::printf("%-8s %-8s %10s %14.1e\n", std::string(r.name).c_str(),
                std::string(to_string(r.format)).c_str(), products.c_str(), r.unit_roundoff);
  }

  const stepwell::MachineReport machine = stepwell::describe_machine();
  std::printf("\n%s: %s, %d threads\n", machine.cpu_model.c_str(), machine.isa.c_str(),
              machine.threads);
  for (const stepwell::KernelChoice& choice : machine.kernels) {
    std::printf("  %-24s %s\n", choice.operation.c_str(), choice.kernel.c_str());
    for (const std::string& reason : choice.refused) {
      std::printf("  %-24s   not %s\n", "", reason.c_str());
    }
  }
  return 0;
}
