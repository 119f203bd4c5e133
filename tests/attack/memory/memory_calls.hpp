// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "stepwell/context.hpp"

/// Calls of the public interface that a test can repeat, independently of the previous call.
namespace stepwell::test {

struct MemoryCall {
  std::string name;
  /// Returns true if the call succeeded and its answer is right. Throws what the interface throws;
  /// an error code of the C interface is thrown as an Error.
  std::function<bool(Context&)> run;

  friend std::ostream& operator<<(std::ostream& out, const MemoryCall& call) {
    return out << call.name;
  }
};

std::vector<MemoryCall> memory_calls();

}  // namespace stepwell::test
