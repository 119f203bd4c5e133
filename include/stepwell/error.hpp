// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>

#include "stepwell/export.hpp"

namespace stepwell {

/// What went wrong, as a number that the C interface and the command line's exit code share.
enum class ErrorCode : int {
  invalid_argument =
      2,             ///< the call itself is wrong: a negative size, a leading dimension too small
  cannot_open = 10,  ///< a file that can't be opened, read or written
  malformed = 11,    ///< a file that is not what it should be: the text says where and why
  truncated = 12,    ///< a file that ends too early
  too_large = 13,    ///< a size that 64-bit arithmetic or the address space can't hold
  unsupported = 14,  ///< right, but not here: this build or this machine lacks it
  shape = 16,        ///< sizes or symmetry that don't fit: of two matrices, of a file and its data
  out_of_memory = 30,  ///< the memory asked for is not there
  internal = 70,       ///< a bug in Stepwell
};

/// Misuse and lack of resources throw this. A numerical outcome never throws.
/// what() says what is wrong, where, and what to do.
class STEPWELL_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace stepwell
