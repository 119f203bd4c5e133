// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

/// ScaLAPACK, the distributed baseline. It is loaded on demand, and nothing is built with it.
namespace stepwell::bench {

struct Scalapack {
  using Posv = void(const char* uplo, const int* n, const int* nrhs, double* a, const int* ia,
                    const int* ja, const int* desca, double* b, const int* ib, const int* jb,
                    const int* descb, int* info, std::size_t);
  Posv* posv = nullptr;
  void (*pinfo)(int* rank, int* ranks) = nullptr;
  void (*get)(int context, int what, int* value) = nullptr;
  void (*gridinit)(int* context, const char* order, int rows, int cols) = nullptr;
  int context = 0;  ///< of BLACS, valid after start_grid()
};

/// Throws Error(unsupported) if ScaLAPACK is not installed.
Scalapack load_scalapack();

/// Arranges all ranks of MPI_COMM_WORLD as a row-major grid. MPI must have been initialized.
/// Collective.
void start_grid(Scalapack& s, int rows, int cols);

}  // namespace stepwell::bench
