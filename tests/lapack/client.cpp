// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

using Int = STEPWELL_TEST_INTEGER;
extern "C" void dgesv_(const Int* n, const Int* nrhs, double* a, const Int* lda, Int* ipiv,
                       double* b, const Int* ldb, Int* info);

/// A program that does not know Stepwell: it counts its threads, solves a system of order n with
/// one or more right-hand sides, and prints the result. Tests preload the drop-in.
int main(int count, char** argv) {
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // so that it precedes the call log
  const Int n = std::atoi(argv[1]), columns = count > 2 ? std::atoi(argv[2]) : 1;
  std::size_t threads = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    threads += task.exists() ? 1 : 0;
  }
  std::printf("threads %zu\n", threads);
  if (n == 0) return 0;
  std::vector<double> a(static_cast<std::size_t>(n) * n),
      b(static_cast<std::size_t>(n) * columns, 1);
  std::vector<Int> pivots(static_cast<std::size_t>(n));
  for (Int j = 0; j < n; ++j) {
    for (Int i = 0; i < n; ++i) a[static_cast<std::size_t>(j) * n + i] = i == j ? n + 1 : 1;
  }
  Int info = -1;
  dgesv_(&n, &columns, a.data(), &n, pivots.data(), b.data(), &n, &info);
  std::printf("info %d x %.6f last pivot %d factor %s\n", static_cast<int>(info),
              2 * static_cast<double>(n) * b[static_cast<std::size_t>(n) / 2],
              static_cast<int>(pivots.back()), a[0] == a[0] ? "there" : "NaN");
}
