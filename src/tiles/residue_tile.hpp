// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "kernels/residues.hpp"
#include "kernels/table.hpp"

/// Tiles of L in residues, and the operations of a Cholesky factorization with exact sums. The
/// matrix is scaled so that its diagonal is in (kLargestDiagonal / 4, kLargestDiagonal].
///
/// A tile H(i,j) - sum_k L(i,k) L(j,k)' is computed exactly, over all columns to the left, 64
/// columns at a time; only the solve with a diagonal block of order 64 is in FP64. So the error of
/// L L' is that of 64 columns, whatever n is, and of rounding L to fixed point: 2^-55 l_jj.
///
/// The sums are right only while they are below M / 2, and that follows from Cauchy-Schwarz only
/// while the matrix is positive definite. So each row's sum of squares is kept: if it exceeds the
/// diagonal element by more than one per cent, the row's own pivot is certain to be negative. From
/// there on the row of L counts as zero, which keeps all sums in range, and its pivot fails.
namespace stepwell::tiles {

using kernels::Pivot;
using kernels::Shape;
using kernels::Table;

/// Columns that are solved in FP64.
inline constexpr std::int64_t kExactColumns = 64;

/// A tile of L. 'squares': the sum of squares of each row of L up to this tile; infinity for a row
/// whose pivot will fail.
template <class Byte, class Real>
struct ResidueTileOf {
  kernels::ResiduesOf<Byte> x;
  Real* squares = nullptr;
};
using ResidueTile = ResidueTileOf<std::int8_t, double>;
using ResidueTileIn = ResidueTileOf<const std::int8_t, const double>;

std::int64_t residue_tile_bytes(std::int64_t rows, std::int64_t cols, int planes);
/// In memory of that size, aligned to 64 bytes.
ResidueTile residue_tile(std::byte* data, std::int64_t rows, std::int64_t cols, int planes);

/// A tile of L as FP64 numbers, multiples of 2^-54, for those who convert it each time they need
/// residues: 8 bytes an element instead of 14.
struct NumberTile {
  MatrixView<double> l;
  double* squares = nullptr;
};
std::int64_t number_tile_bytes(std::int64_t rows, std::int64_t cols);
/// In memory of that size; the leading dimension is that of a plain tile.
NumberTile number_tile(std::byte* data, std::int64_t rows, std::int64_t cols);

/// A diagonal tile as it is used to solve for the tiles below it: in residues, in rows order, and
/// its diagonal blocks of order 64 in FP64, one after the other.
struct ResidueDiagonal {
  kernels::ResiduesOut rows;
  double* blocks = nullptr;
};
std::int64_t residue_diagonal_bytes(std::int64_t order, int planes);
ResidueDiagonal residue_diagonal(std::byte* data, std::int64_t order, int planes);

/// sums = sum_k a[k] b[k]', or added to what they are, plane by plane. b[k] in rows
/// order. There is at least one product.
void sweep(const Table& t, const kernels::ResidueSums& sums,
           std::span<const kernels::ResidueFactors> products, Shape shape, bool first);

/// What is known of the rows of a tile before it is finished.
struct RowSquares {
  const double* before = nullptr;    ///< squares of the tile to the left; null: there is none
  const double* diagonal = nullptr;  ///< elements h_ii of the scaled matrix
};

/// The products of a tile with the columns to its left. 'none': there are none, and the memory is
/// only used for products inside the tile.
struct TileSums {
  kernels::ResidueSums sums;
  bool none = false;
};

/// Finishes a diagonal tile: h is the scaled tile of A (lower triangle), and becomes L as it is
/// represented. Stops at a pivot that is not positive and finite. 'wrong' counts the sums out of
/// range: with a redundant plane, one of their residues is wrong.
Pivot factor_diagonal(const Table& t, const TileSums& sums, MatrixView<double> h,
                      const RowSquares& rows, const ResidueTile& tile,
                      const ResidueDiagonal& diagonal, std::int64_t& wrong);

/// The same for a tile below it.
void solve_tile(const Table& t, const TileSums& sums, MatrixView<double> h, const RowSquares& rows,
                const ResidueDiagonal& diagonal, const ResidueTile& tile, std::int64_t& wrong);

/// Replaces a tile by the same numbers in FP64, in its own memory: column-major, with the leading
/// dimension of a plain tile. With a redundant plane, checks its residues and returns how many
/// groups of four are wrong. 'scratch' has restore_scratch() bytes.
std::int64_t restore_tile(const Table& t, const ResidueTile& tile, std::byte* scratch);
std::int64_t restore_scratch(std::int64_t rows, std::int64_t cols);

}  // namespace stepwell::tiles
