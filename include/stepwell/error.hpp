// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>

#include "stepwell/export.hpp"

namespace stepwell {

/// Error codes; the C interface and the exit code of the command use the same numbers.
enum class ErrorCode : int {
  invalid_argument = 2,  ///< invalid argument: a negative size, a leading dimension too small, ...
  cannot_open = 10,      ///< a file can't be opened, read or written
  malformed = 11,        ///< a file has invalid content: the message says where and why
  truncated = 12,        ///< a file ends too early
  too_large = 13,        ///< a size exceeds 64-bit arithmetic or the address space
  unsupported = 14,      ///< valid, but not supported by this build or on this machine
  shape = 16,  ///< inconsistent sizes or symmetry, of two matrices or of a file and its data
  out_of_memory = 30,  ///< not enough memory
  internal = 70,       ///< a bug in Stepwell
};

/// Thrown for misuse and lack of resources; a numerical failure never throws. what() says what is
/// wrong, where, and what to do.
class STEPWELL_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace stepwell
