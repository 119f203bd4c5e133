// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "stepwell/machine.hpp"

namespace stepwell::kernels {

/// Sets what a report says of the CPU, its instruction sets, the kernels and the BLAS.
void describe(MachineReport& report);

}  // namespace stepwell::kernels
