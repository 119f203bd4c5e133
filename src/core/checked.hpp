// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

/// Size arithmetic that detects overflow, for sizes from callers and files, which are untrusted.
namespace stepwell::core {

constexpr std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  if (__builtin_add_overflow(a, b, &r)) return std::nullopt;
  return r;
}

constexpr std::optional<std::int64_t> checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  if (__builtin_mul_overflow(a, b, &r)) return std::nullopt;
  return r;
}

/// The product of sizes, in 64 bits. Throws Error(too_large), with 'what' in the message, if it
/// overflows or a factor is negative.
std::int64_t size_product(std::int64_t a, std::int64_t b, const char* what);
std::int64_t size_product(std::int64_t a, std::int64_t b, std::int64_t c, const char* what);

[[noreturn]] void throw_too_large(std::int64_t n, std::int64_t step);

/// The smallest multiple of 'step' > 0 that is at least n >= 0. Throws Error(too_large) if it
/// overflows 64 bits.
constexpr std::int64_t round_up(std::int64_t n, std::int64_t step) {
  const auto padded = checked_add(n, step - 1);
  if (!padded) throw_too_large(n, step);
  return *padded / step * step;
}

/// The number of pieces of 'size' > 0 that n >= 0 items make.
constexpr std::int64_t ceil_div(std::int64_t n, std::int64_t size) {
  return n / size + (n % size > 0 ? 1 : 0);
}

}  // namespace stepwell::core
