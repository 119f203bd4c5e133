// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <vector>

namespace stepwell::fake_cpu {

/// How a program ended, as text ("exit code 0", "signal 4: Illegal instruction"), and what it wrote
/// to standard output.
struct Ended {
  std::string how;
  std::string output;
};

/// Runs a program in this process's environment with some variables changed (empty: removed) and
/// waits for its end; kills it if it prints nothing for a minute.
Ended run_child(const std::vector<std::string>& arguments,
                const std::map<std::string, std::string>& variables);

}  // namespace stepwell::fake_cpu
