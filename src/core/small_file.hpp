// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

namespace stepwell::core {

/// The bytes of a file that nobody promises to be one: a cache, or what an environment variable
/// names. A directory, a pipe, a device and one of more than 'most' bytes are refused, and never
/// waited for. Throws std::system_error.
std::string read_small_file(const std::string& path, std::size_t most);

}  // namespace stepwell::core
