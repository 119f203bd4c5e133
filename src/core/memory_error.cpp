// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory_error.hpp"

#include <new>

#include "stepwell/error.hpp"

namespace stepwell::core {
namespace {

/// Created once; copies of the Error share its message.
const Error& ready_made() {
  static const Error error(ErrorCode::out_of_memory, "out of memory");
  return error;
}

/// Creates the error at load time. If there is no memory even then, throw_out_of_memory() tries
/// again and may throw std::bad_alloc.
[[maybe_unused]] const bool made_at_load = [] {
  try {
    ready_made();
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}();

}  // namespace

void throw_out_of_memory() {
  throw Error(ready_made());
}

}  // namespace stepwell::core
