// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

/// Argument checks shared by all entry points.
namespace stepwell::core {

/// Whether 'bytes' are available now.
bool has_memory(std::int64_t bytes);

/// Throws Error(out_of_memory) if 'bytes' are not available now. 'what' names the operation that
/// needs them in the message.
void require_memory(std::int64_t bytes, const std::string& what);

/// Throws Error(invalid_argument), with 'what' in the message, unless the arguments describe a
/// valid column-major view of rows x cols.
void require_view(const void* data, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                  const std::string& what);

}  // namespace stepwell::core
