// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
// Eigen's matrices are solved with in place: nothing is copied.
#include <cstdio>

#include "stepwell/adapt/eigen.hpp"
#include "stepwell/stepwell.hpp"

int main() {
  const Eigen::Index n = 1000;
  const Eigen::MatrixXd m = Eigen::MatrixXd::Random(n, n), b = Eigen::MatrixXd::Random(n, 3);
  const Eigen::MatrixXd a = m * m.transpose() + n * Eigen::MatrixXd::Identity(n, n);
  Eigen::MatrixXd x(n, 3);

  stepwell::Solver solver(stepwell::view(a));  // factors at the first solve, keeps the factor
  for (int k = 0; k < 3; ++k) {
    const stepwell::Certificate c =
        solver.solve(stepwell::view(b.col(k)), stepwell::view(x.col(k)));
    if (!c.ok()) return std::printf("column %d: %s\n", k, c.reason.c_str()), 1;
    std::printf("column %d: map %s, refiner %s, backward error %.1e\n", k,
                map_text(c.method).c_str(), refiner_text(c.method).c_str(), c.backward_error);
  }
  return (a * x - b).norm() <= 1e-12 * a.norm() * x.norm() ? 0 : 1;
}
