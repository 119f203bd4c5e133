// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace stepwell::core {

/// Writes "stepwell: <message>" and a newline to standard error in one call, when the environment
/// variable STEPWELL_LOG is set and not "0". Silent otherwise.
void log(std::string_view message) noexcept;

/// Like log(), but also when STEPWELL_LOG is unset (not when it is "0"), and only once per process
/// for each message.
void warn_once(std::string_view message) noexcept;

}  // namespace stepwell::core
