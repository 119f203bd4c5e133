// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

/// What is used of ScaLAPACK and of BLACS, which have no header of their own. BLACS starts MPI.
extern "C" {
void Cblacs_pinfo(int* rank, int* ranks);
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridinfo(int context, int* rows, int* cols, int* row, int* col);
void Cblacs_barrier(int context, const char* scope);
void Cblacs_exit(int go_on);
void Cdgsum2d(int context, const char* scope, const char* topology, int m, int n, double* a,
              int lda, int to_row, int to_col);
void Cdgamx2d(int context, const char* scope, const char* topology, int m, int n, double* a,
              int lda, int* row, int* col, int ld_index, int to_row, int to_col);
int numroc_(const int* n, const int* nb, const int* process, const int* first,
            const int* processes);
void descinit_(int* descriptor, const int* m, const int* n, const int* mb, const int* nb,
               const int* first_row, const int* first_col, const int* context, const int* ld,
               int* info);
void pdposv_(const char* uplo, const int* n, const int* nrhs, double* a, const int* ia,
             const int* ja, const int* desca, double* b, const int* ib, const int* jb,
             const int* descb, int* info, std::size_t);
}
