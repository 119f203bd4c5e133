// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/checks.hpp"

#include <algorithm>

#include "core/checked.hpp"
#include "core/machine/system.hpp"
#include "core/memory_cache.hpp"
#include "stepwell/error.hpp"

namespace stepwell::core {

namespace {

/// The available memory if it is less than 'bytes', else -1. Small requests are not checked:
/// reading the available memory takes 0.1 ms.
std::int64_t too_little_memory(std::int64_t bytes) {
  constexpr std::int64_t kLittle = std::int64_t{64} << 20;
  if (bytes < kLittle) return -1;
  std::int64_t available = memory_allowance().available;
  if (available == 0 || bytes <= available) return -1;
  release_blocks();
  available = memory_allowance().available;
  return bytes <= available ? -1 : available;
}

}  // namespace

bool has_memory(std::int64_t bytes) {
  return too_little_memory(bytes) < 0;
}

void require_memory(std::int64_t bytes, const std::string& what) {
  const std::int64_t available = too_little_memory(bytes);
  if (available < 0) return;
  const auto mib = [](std::int64_t b) { return std::to_string(b >> 20) + " MiB"; };
  throw Error(ErrorCode::out_of_memory, what + " takes " + mib(bytes) + " and " + mib(available) +
                                            " are available; use a coarser map");
}

void require_view(const void* data, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                  const std::string& what) {
  const auto size = std::to_string(rows) + " x " + std::to_string(cols);
  if (rows < 0 || cols < 0) {
    throw Error(ErrorCode::invalid_argument, what + " is " + size + "; sizes can't be negative");
  }
  if (ld < std::max<std::int64_t>(1, rows)) {
    throw Error(ErrorCode::invalid_argument,
                what + " is " + size + " with leading dimension " + std::to_string(ld) +
                    "; the leading dimension must be at least the number of rows");
  }
  size_product(ld, cols, 8, what.c_str());
  if (rows > 0 && cols > 0 && data == nullptr) {
    throw Error(ErrorCode::invalid_argument, what + " is " + size + " and has no data");
  }
}

}  // namespace stepwell::core
