// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "stepwell/context.hpp"

/// Calls of the public interface that a test can repeat, whatever became of the one before.
namespace stepwell::test {

struct MemoryCall {
  std::string name;
  /// True: it succeeded, and its answer is right. Throws what the interface throws; the C
  /// interface's code is thrown as an Error.
  std::function<bool(Context&)> run;

  friend std::ostream& operator<<(std::ostream& out, const MemoryCall& call) {
    return out << call.name;
  }
};

std::vector<MemoryCall> memory_calls();

}  // namespace stepwell::test
