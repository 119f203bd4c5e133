// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>
#include <string>

namespace stepwell::tool {

/// Checks that a matrix can be written to 'out'; to be called before the computation, which may
/// take an hour. The name must determine the format, the directory must be writable, and the file
/// must not replace one of 'others'. Empty names are ignored. Throws Error(invalid_argument,
/// cannot_open).
void require_place(const std::string& out, std::initializer_list<std::string> others);

}  // namespace stepwell::tool
