// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/blas/lapack.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

#include "stepwell/error.hpp"

extern "C" {
void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* ipiv, int* info);
void dgetrs_(const char* trans, const int* n, const int* nrhs, const double* a, const int* lda,
             const int* ipiv, double* b, const int* ldb, int* info, std::size_t trans_length);
}

namespace stepwell::kernels {
namespace {

int as_int(std::int64_t size) {
  if (size > std::numeric_limits<int>::max()) {
    throw Error(ErrorCode::too_large,
                "a matrix of order " + std::to_string(size) + " is too large for LAPACK's int");
  }
  return static_cast<int>(size);
}

}  // namespace

std::int64_t getrf(MatrixView<double> a, int* pivots) {
  const int n = as_int(a.rows);
  const int ld = as_int(a.ld);
  int info = 0;
  dgetrf_(&n, &n, a.data, &ld, pivots, &info);
  return info - 1;
}

void getrs(MatrixView<const double> lu, const int* pivots, bool transposed, MatrixView<double> b) {
  const int n = as_int(lu.rows);
  const int ld = as_int(lu.ld);
  const int columns = as_int(b.cols);
  const int ldb = as_int(b.ld);
  int info = 0;
  dgetrs_(transposed ? "T" : "N", &n, &columns, lu.data, &ld, pivots, b.data, &ldb, &info, 1);
}

}  // namespace stepwell::kernels
