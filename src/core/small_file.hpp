// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

namespace stepwell::core {

/// The contents of a path that may not be a regular file: a cache, or a path from an environment
/// variable. Throws std::system_error for a directory, a pipe, a device and a file of more than
/// 'most' bytes; never blocks on a pipe.
std::string read_small_file(const std::string& path, std::size_t most);

}  // namespace stepwell::core
