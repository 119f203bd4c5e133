// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

/// What a command needs from the system, checked before the work.
namespace stepwell::tool {

/// Throws Error(out_of_memory) if fewer bytes are available, before an allocation can fail.
void require_memory(std::int64_t bytes);

/// Peak memory of this process, including mapped files; 0: not known.
std::int64_t peak_resident_bytes();

/// Checks that a matrix can be written to 'out'; to be called before the computation, which may
/// take an hour. The name must determine the format, the directory must be writable, and the file
/// must not replace one of 'others'. Empty names are ignored. Throws Error(invalid_argument,
/// cannot_open).
void require_place(const std::string& out, std::initializer_list<std::string> others);

}  // namespace stepwell::tool
