// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace stepwell::tool {

/// Throws Error(out_of_memory) before the system has to.
void require_memory(std::int64_t bytes);

/// The most memory this process has had in use, mapped files included; 0: not known.
std::int64_t peak_resident_bytes();

}  // namespace stepwell::tool
