// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "kernels/table.hpp"

namespace stepwell::kernels {

/// Runs the table's packing and updates at every rung on a small known product and compares with
/// fp64 sums. Returns what was wrong, or an empty string. Takes about a millisecond.
/// Detects a faulty core, and a CPU that advertises what it (or its hypervisor) can't do.
std::string self_test(const Table& t);

}  // namespace stepwell::kernels
