// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/checked.hpp"

#include <string>

#include "stepwell/error.hpp"

namespace stepwell::core {

std::int64_t size_product(std::int64_t a, std::int64_t b, const char* what) {
  const auto r = checked_multiply(a, b);
  if (a < 0 || b < 0 || !r) {
    throw Error(ErrorCode::too_large,
                std::string(what) + ": " + std::to_string(a) + " x " + std::to_string(b) +
                    (a < 0 || b < 0 ? " is not a valid size" : " overflows 64 bits"));
  }
  return *r;
}

std::int64_t size_product(std::int64_t a, std::int64_t b, std::int64_t c, const char* what) {
  return size_product(size_product(a, b, what), c, what);
}

void throw_too_large(std::int64_t n, std::int64_t step) {
  throw Error(ErrorCode::too_large, std::to_string(n) + " rounded up to a multiple of " +
                                        std::to_string(step) + " overflows 64 bits");
}

}  // namespace stepwell::core
