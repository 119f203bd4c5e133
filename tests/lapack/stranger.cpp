// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

extern "C" void dgesv_(const int* n, const int* nrhs, double* a, const int* lda, int* ipiv,
                       double* b, const int* ldb, int* info);

/// A program that knows nothing of Stepwell: it counts its threads, solves a system of order n and
/// says what it finds. Tests preload the drop-in.
int main(int, char** argv) {
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // before what the journal prints at the end
  const int n = std::atoi(argv[1]), one = 1;
  std::size_t threads = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    threads += task.exists() ? 1 : 0;
  }
  std::printf("threads %zu\n", threads);
  if (n == 0) return 0;
  std::vector<double> a(static_cast<std::size_t>(n) * n), b(static_cast<std::size_t>(n), 1);
  std::vector<int> pivots(static_cast<std::size_t>(n));
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) a[static_cast<std::size_t>(j) * n + i] = i == j ? n + 1 : 1;
  }
  int info = -1;
  dgesv_(&n, &one, a.data(), &n, pivots.data(), b.data(), &n, &info);
  std::printf("info %d x %.6f factor %s\n", info, 2 * n * b[n / 2], a[0] == a[0] ? "there" : "NaN");
}
