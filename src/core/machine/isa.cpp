// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/machine/isa.hpp"

#include "core/machine/environment.hpp"

namespace stepwell::core {

IsaCap isa_cap_from_environment() {
  IsaCap cap;
  const char* const value = variable("STEPWELL_ISA");
  if (value == nullptr) return cap;
  cap.text = value;
  if (cap.text.empty()) return cap;
  for (char& c : cap.text) {
    if (c < ' ' || c > '~') c = '?';  // it is printed in messages and reports
  }
  if (const auto isa = isa_from_string(cap.text)) {
    cap.isa = *isa;
    return cap;
  }
  cap.problem = "STEPWELL_ISA=" + cap.text + " is not one of";
  for (const Isa isa : all_isas) {
    cap.problem += (isa == all_isas.front() ? " " : ", ") + std::string(to_string(isa));
  }
  return cap;
}

}  // namespace stepwell::core
