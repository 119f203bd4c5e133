// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/general_fixture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/runtime.hpp"
#include "solvers/double_double_errors.hpp"

extern "C" void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* ipiv,
                        int* info);
extern "C" void dgetrs_(const char* trans, const int* n, const int* nrhs, const double* a,
                        const int* lda, const int* ipiv, double* b, const int* ldb, int* info);

namespace stepwell::solvers::test {

Dense<double> transpose(const Dense<double>& a) {
  Dense<double> t(a.cols, a.rows);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) t(j, i) = a(i, j);
  }
  return t;
}

std::vector<double> general_errors(MatrixView<const double> a, MatrixView<const double> b,
                                   MatrixView<const double> x, bool transposed) {
  const ScaledMatrix scaled(a, false, transposed);
  std::vector<double> errors;
  for (std::int64_t c = 0; c < b.cols; ++c) {
    errors.push_back(backward_error(scaled, b.column(c), x.column(c), transposed));
  }
  return errors;
}

double general_error(MatrixView<const double> a, MatrixView<const double> b,
                     MatrixView<const double> x, bool transposed) {
  double worst = 0;
  for (const double error : general_errors(a, b, x, transposed)) {
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

std::int64_t lapack_general(MatrixView<const double> a, MatrixView<const double> b,
                            MatrixView<double> x, bool transposed) {
  Dense<double> lu(a.rows, a.cols);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    std::copy_n(a.column(j), a.rows, lu.view().column(j));
  }
  for (std::int64_t c = 0; c < b.cols; ++c) std::copy_n(b.column(c), b.rows, x.column(c));
  const int n = static_cast<int>(a.rows), columns = static_cast<int>(b.cols);
  const int ld = static_cast<int>(x.ld);
  std::vector<int> pivots(static_cast<std::size_t>(n));
  int info = 0, none = 0;
  const engine::SingleThreadedBlas blas;  // which pivot is zero may depend on rounding
  dgetrf_(&n, &n, lu.data.data(), &n, pivots.data(), &info);
  if (info == 0) {
    dgetrs_(transposed ? "T" : "N", &n, &columns, lu.data.data(), &n, pivots.data(), x.data, &ld,
            &none);
  }
  return info - 1;
}

Solved solve_general(const Dense<double>& a, const Dense<double>& b, const SolveOptions& options) {
  Solved s{Dense<double>(b.rows, b.cols), {}};
  s.certificate = stepwell::solve_general(a.view(), b.view(), s.x.view(), options);
  EXPECT_TRUE(consistent(s.certificate, b.cols)) << s.certificate.reason;
  EXPECT_EQ(s.certificate.structure, Structure::general);
  return s;
}

}  // namespace stepwell::solvers::test
