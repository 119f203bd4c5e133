// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace stepwell::core {

/// Writes "stepwell: <message>" and a newline to standard error in one call, when the environment
/// variable STEPWELL_LOG is set and not "0". Silent otherwise: a library does not chat.
void log(std::string_view message) noexcept;

/// Like log(), but also when STEPWELL_LOG is unset (not when it is "0"), and each text only once in
/// a process.
void warn_once(std::string_view message) noexcept;

}  // namespace stepwell::core
