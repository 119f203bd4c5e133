// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// A user's program: it uses only the installed headers and the library.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <stepwell/stepwell.hpp>

int main() {
  if (std::strcmp(stepwell::version(), STEPWELL_VERSION) != 0) {
    std::printf("header %s, library %s\n", STEPWELL_VERSION, stepwell::version());
    return 1;
  }
  const stepwell::MachineReport machine = stepwell::describe_machine();
  if (machine.kernels.empty() || machine.isa.empty()) {
    std::printf("the report of the machine is empty\n");
    return 1;
  }
  try {
    throw stepwell::Error(stepwell::ErrorCode::unsupported, "thrown across the library's border");
  } catch (const stepwell::Error& e) {
    if (e.code() != stepwell::ErrorCode::unsupported) return 1;
  }
  const double a[] = {4, 2, 2, 5};
  double l[4];
  stepwell::FactorOptions options;
  options.map = stepwell::parse_map("fp64");
  const stepwell::Factor factor = stepwell::cholesky(stepwell::view(a, 2, 2), options);
  factor.copy_to(stepwell::view(l, 2, 2));
  const double expected[] = {2, 1, 0, 2};
  for (int i = 0; i < 4; ++i) {
    if (!factor.ok() || !(std::fabs(l[i] - expected[i]) <= 0x1p-50)) {
      std::printf("the factor of a 2 x 2 matrix is wrong\n");
      return 1;
    }
  }
  std::printf("stepwell %s, %s\n", stepwell::version(), machine.isa.c_str());
  return 0;
}
