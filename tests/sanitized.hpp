// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Whether the address sanitizer is active: g++ defines a macro, Clang has a feature.
#if defined(__SANITIZE_ADDRESS__)
#define STEPWELL_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STEPWELL_SANITIZED 1
#endif
#endif
#if !defined(STEPWELL_SANITIZED)
#define STEPWELL_SANITIZED 0
#endif

namespace stepwell::test {

inline constexpr bool kSanitized = STEPWELL_SANITIZED != 0;

/// Repetitions of a test under the same conditions: the sanitizers see the same accesses each time.
inline constexpr int repetitions(int count) {
  return kSanitized ? 1 : count;
}

}  // namespace stepwell::test
