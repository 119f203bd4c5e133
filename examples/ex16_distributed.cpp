// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Solves with a covariance matrix that is distributed over the processes started by mpirun. No
// process has the whole matrix: each computes the tiles that it owns. Every process gets all of x
// and the certificate.
//
//   mpirun -n 4 ex16_distributed 20000
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "stepwell/stepwell.hpp"

int main(int argc, char** argv) {
  const std::int64_t n = argc > 1 ? std::atoll(argv[1]) : 1500;
  const auto size = static_cast<std::size_t>(n);

  // All ranks use the same seed, and so have the same points and readings.
  std::vector<double> x(size), y(size), reading(size), weight(size);
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (std::size_t i = 0; i < size; ++i) {
    x[i] = uniform(random);
    y[i] = uniform(random);
    reading[i] = std::sin(6 * x[i]) + std::cos(5 * y[i]);
  }

  try {
    //---- begin ranks
    const stepwell::Ranks ranks = stepwell::mpi_world();  // libstepwell_mpi
    const auto fill = [&](std::int64_t row, std::int64_t col, stepwell::MatrixView<double> tile) {
      for (std::int64_t j = 0; j < tile.cols; ++j) {
        for (std::int64_t i = 0; i < tile.rows; ++i) {
          const auto p = static_cast<std::size_t>(row + i);
          const auto q = static_cast<std::size_t>(col + j);
          const double s = std::sqrt(3.0) * std::hypot(x[p] - x[q], y[p] - y[q]) / 0.1;
          tile(i, j) = (1 + s) * std::exp(-s) + (p == q ? 0.01 : 0);
        }
      }
    };
    const stepwell::Certificate c =
        stepwell::solve_spd(ranks, n, fill, stepwell::view<const double>(reading.data(), n, 1),
                            stepwell::view(weight.data(), n, 1));
    if (ranks.rank() == 0) {
      std::printf("%d ranks: %s, backward error %.1e\n", ranks.size(),
                  stepwell::to_string(c.outcome), c.backward_error);
    }
    //---- end ranks
    return c.ok() ? 0 : 1;
  } catch (const stepwell::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return static_cast<int>(e.code());
  }
}
