// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>
#include <vector>

#include "stepwell/distributed.hpp"
#include "stepwell/error.hpp"

/// solve_program N TILE DIRECTORY SHARE OUT: solves a covariance system over ranks with checkpoints
/// in the directory; rank 0 writes the bits of x to OUT. The tiles of A are recomputed for every
/// product, so that refinement takes long enough to be killed.
int main(int argc, char** argv) {
  using namespace stepwell;
  if (argc != 6) return 2;
  const std::int64_t n = std::atoll(argv[1]);
  SolveOptions options;
  options.map = uniform(Rung::bf16);
  options.tile = std::atoll(argv[2]);
  DistributedOptions distributed;
  distributed.keep_tiles = false;
  distributed.checkpoint = argv[3];
  distributed.checkpoint_interval = std::atof(argv[4]);
  const auto fill = [](std::int64_t row, std::int64_t col, MatrixView<double> tile) {
    for (std::int64_t j = 0; j < tile.cols; ++j) {
      for (std::int64_t i = 0; i < tile.rows; ++i) {
        const std::int64_t p = row + i, q = col + j;
        const double dx = static_cast<double>(p % 50 - q % 50),
                     dy = static_cast<double>(p / 50 - q / 50);
        tile(i, j) = std::exp(-0.3 * std::sqrt(dx * dx + dy * dy)) + (p == q ? 1e-3 : 0);
      }
    }
  };
  std::vector<double> b(static_cast<std::size_t>(n)), x(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::cos(static_cast<double>(i));
  try {
    const Ranks ranks = mpi_world();
    const Certificate c =
        solve_spd(ranks, n, fill, view(std::as_const(b).data(), n, std::int64_t{1}),
                  view(x.data(), n, std::int64_t{1}), options, distributed);
    if (!c.ok()) return 21;
    if (ranks.rank() != 0) return 0;
    std::ofstream(argv[5], std::ios::binary).write(reinterpret_cast<const char*>(x.data()), 8 * n);
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return static_cast<int>(e.code());
  }
  return 0;
}
