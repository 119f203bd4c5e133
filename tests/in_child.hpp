// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace stepwell::test {

/// Runs f in a forked child that ends with exit(), including static destructors. Returns f's
/// result, or minus the signal that ended the child: SIGALRM if it hung.
template <class F>
int in_child(F&& f) {
  constexpr unsigned kWatchdogSeconds = 60;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kWatchdogSeconds);
    int code = 99;
    try {
      code = f();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "in the child: %s\n", error.what());
    }
    std::exit(code);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1000;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace stepwell::test
