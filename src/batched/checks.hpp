// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "stepwell/batch.hpp"

namespace stepwell::batched {

/// Checks the arguments of an entry point. Throws Error(invalid_argument), or too_large, with a
/// message that begins with the entry point's name.
class Checks {
 public:
  explicit Checks(const char* entry) : entry_(entry) {}

  /// Checks the view named 'what'; 'written': its matrices must not share elements.
  template <class T>
  void view(const BatchView<T>& v, const char* what, bool written) const;
  /// Checks that A is n x n with n <= kBatchOrder.
  template <class T>
  void square(const BatchView<T>& a) const;
  /// Checks that B matches A.
  template <class T, class U>
  void right_hand_sides(const BatchView<T>& a, const BatchView<U>& b) const;
  void outputs(std::int64_t count, const BatchOutputs& outputs) const;
  void tuning(const BatchTuning& tuning, Format format) const;

  [[noreturn]] void misuse(const std::string& text) const;

 private:
  const char* entry_;
};

}  // namespace stepwell::batched
