// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "kernels/table.hpp"

namespace stepwell::kernels {

/// Runs the table's packing and updates at every rung on a small known product and compares with
/// fp64 sums. Returns what was wrong, or an empty string. About a millisecond.
/// A CPU that advertises what it (or its hypervisor) can't do, or a faulty core, shows here.
std::string self_test(const Table& t);

}  // namespace stepwell::kernels
