// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "core/buffer.hpp"
#include "solvers/distributed/block_cyclic.hpp"
#include "stepwell/distributed.hpp"

namespace stepwell::bench {

/// A row-major grid of all ranks, and the position of this rank in it.
struct ProcessGrid {
  int rows, cols, row, col;
  explicit ProcessGrid(const Ranks& ranks);
};

/// This rank's part of an m x n matrix that is distributed block-cyclically in square blocks, as in
/// ScaLAPACK.
struct BlockCyclicMatrix {
  solvers::BlockCyclicMap rows, cols;
  std::array<int, 9> descriptor;
  core::Buffer<double> local;  ///< the leading dimension is the number of own rows, at least 1

  BlockCyclicMatrix(const ProcessGrid& p, int context, std::int64_t m, std::int64_t n, int block);
  double* column(std::int64_t c) const { return local.data() + c * descriptor[8]; }
};

/// Fills A's blocks on and below the diagonal, column by column.
void fill_block_cyclic(const BlockCyclicMatrix& a, const FillTile& fill);

/// Element i of a right-hand side; fill_right_hand_sides() stores this rank's part of all columns.
double distributed_right_hand_side(std::int64_t i, std::int64_t column);
void fill_right_hand_sides(const BlockCyclicMatrix& b);

/// ||b - A x|| / (||A|| ||x|| + ||b||) of the worst column, in Frobenius and Euclidean norms; NaN
/// if x has a NaN. Reads A's lower triangle. Collective.
double distributed_backward_error(const Ranks& ranks, const BlockCyclicMatrix& a,
                                  const BlockCyclicMatrix& x);

}  // namespace stepwell::bench
