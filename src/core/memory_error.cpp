// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory_error.hpp"

#include <new>

#include "stepwell/error.hpp"

namespace stepwell::core {
namespace {

/// Copies share the text.
const Error& ready_made() {
  static const Error error(ErrorCode::out_of_memory, "out of memory");
  return error;
}

/// A program that has no memory left while it is loaded gets std::bad_alloc once more, later.
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
