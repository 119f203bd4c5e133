// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/fixture.hpp"

#include <cstdio>

namespace stepwell::engine::test {

int thread_count() {
  std::FILE* const status = std::fopen("/proc/self/status", "r");
  if (status == nullptr) return -1;
  char line[256];
  int threads = -1;
  while (std::fgets(line, sizeof(line), status) != nullptr) {
    if (std::sscanf(line, "Threads: %d", &threads) == 1) break;
  }
  std::fclose(status);
  return threads;
}

void stop_all_workers() {
  { const Session session({2, 0}); }
  stop_workers({2, 0});
}

}  // namespace stepwell::engine::test
