// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace stepwell::tool {

/// Throws Error(out_of_memory) if fewer bytes are available, before an allocation can fail.
void require_memory(std::int64_t bytes);

/// Peak memory of this process, including mapped files; 0: not known.
std::int64_t peak_resident_bytes();

}  // namespace stepwell::tool
