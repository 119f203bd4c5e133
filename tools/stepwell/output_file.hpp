// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>
#include <string>

namespace stepwell::tool {

/// To be asked before an hour's work, not after it: can a matrix be written there? Its name must
/// say how, its directory must take files, and it must not replace one of 'others'. An empty name
/// is nobody's file. Throws Error(invalid_argument, cannot_open).
void require_place(const std::string& out, std::initializer_list<std::string> others);

}  // namespace stepwell::tool
