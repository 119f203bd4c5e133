// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "stepwell/batch.hpp"

namespace stepwell::batched {

/// Misuse of an entry point: throws Error(invalid_argument), or too_large, that begins with its
/// name.
class Checks {
 public:
  explicit Checks(const char* entry) : entry_(entry) {}

  /// A view that 'what' names; 'written': its matrices must not share elements.
  template <class T>
  void view(const BatchView<T>& v, const char* what, bool written) const;
  /// A is n x n with n <= kBatchOrder.
  template <class T>
  void square(const BatchView<T>& a) const;
  /// B goes with A.
  template <class T, class U>
  void right_hand_sides(const BatchView<T>& a, const BatchView<U>& b) const;
  void outputs(std::int64_t count, const BatchOutputs& outputs) const;
  void tuning(const BatchTuning& tuning, Format format) const;

  [[noreturn]] void misuse(const std::string& text) const;

 private:
  const char* entry_;
};

}  // namespace stepwell::batched
