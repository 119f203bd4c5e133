// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "kernels/recursive.hpp"
#include "tiles/rung_map.hpp"
#include "tiles/tile.hpp"

/// The operations of the tasks of a factorization, on stored tiles of any rungs: they choose the
/// kernel, and convert an operand if the two operands are stored differently. They run on one core,
/// unless they are told how to share their work with others, and do not allocate; 'scratch' has at
/// least scratch_bytes().
namespace stepwell::tiles {

using core::PieceRunner;
using kernels::Pivot;
using kernels::Rounding;
using kernels::Shape;
using kernels::Table;

/// Bytes of scratch for operations on tiles of this order at any rungs, or at the rungs of a map.
std::int64_t scratch_bytes(std::int64_t tile);
std::int64_t scratch_bytes(const RungMap& map);

/// Size of the two pieces of scratch at its beginning, for converted operands.
std::int64_t piece_bytes(std::int64_t tile);

/// Converts a plain matrix to another format.
template <class To, class From>
void convert(MatrixView<const From> from, MatrixView<To> to) {
  for (std::int64_t j = 0; j < from.cols; ++j) {
    const From* const f = from.column(j);
    To* const out = to.column(j);
    for (std::int64_t i = 0; i < from.rows; ++i) out[i] = static_cast<To>(f[i]);
  }
}

/// Order of the diagonal blocks that are inverted, so that solves multiply by the inverse.
inline constexpr std::int64_t kInvertedBlock = 128;

/// Rows of fp32 sums that stay in L2 (2 MiB) with the operands of a product: 256 x 512 sums take
/// 512 KiB, the bf16 operands 256 + 512 KiB. With fewer rows a product takes a tenth longer.
inline constexpr std::int64_t kSweepRows = 256;
inline constexpr std::int64_t kFewRows = 128;

/// How an operation divides the rows of a tile into blocks, and who runs them: if 'run' is empty,
/// this thread. The bits do not depend on it.
struct Sharing {
  PieceRunner run;
  std::int64_t rows = kSweepRows;  ///< of a block; a multiple of 32
};

/// One tile of the right operand of an update, L(j,k): as it is stored, and as a packed operand in
/// rows order, which every product on the matrix engine reads. Either may be absent if no product
/// needs it.
struct RightTile {
  TileIn stored;
  kernels::PackedIn rows;
};

/// Reads a block of the caller's matrix into sums = diag(row) A diag(col); for a diagonal tile only
/// the lower triangle, with its diagonal multiplied by 'diagonal_factor' (the shift). 'scan'
/// collects the results of the scan.
void load_tile(const Table& t, MatrixView<const double> a, Shape shape, kernels::Scales scales,
               double diagonal_factor, const Sums& sums, kernels::Scan& scan);

/// sums -= sum_k a[k] b[k]', in the order of k. Each product is at the coarsest of the rungs of the
/// two operands and of the sums, or of the two operands alone if 'by_operands'. fp32 sums stay in
/// L2 over all k: a block of rows at a time, and threads may share these blocks.
void sweep(const Table& t, const Sums& sums, std::span<const TileIn> a,
           std::span<const RightTile> b, Shape shape, std::byte* scratch, bool by_operands = false,
           const Sharing& share = {});

/// Packs a stored tile in rows order into out, with out's planes (at most the tile's own if it has
/// planes).
void make_rows(const Table& t, TileIn tile, kernels::PackedOut out);

/// The lower factor of a diagonal tile in the forms that are used to solve for the tiles below it:
/// below fp64 with its diagonal blocks inverted. In fp64 it is L itself: the error of a product
/// with an inverse is larger than that of substitution by the block's condition number, and in fp64
/// nothing corrects it later.
struct Inverse {
  Rung rung = Rung::bf16;  ///< rung of the diagonal tile; fp64 if an fp64 form is wanted
  std::int64_t order = 0;
  int planes = 0;     ///< planes of the packed form; 0: there is none
  bool fp32 = false;  ///< a plain fp32 form is wanted
  std::byte* data = nullptr;

  bool wide() const { return rung == Rung::fp64; }
  std::int64_t bytes() const;
  /// Number of leading bytes that solves read. The bytes after them, if any, only hold the form
  /// from which the packed form was made.
  std::int64_t bytes_to_solve_with() const;
  MatrixView<double> l64() const;
  MatrixView<float> w32() const;
  kernels::PackedOut rows() const;

 private:
  std::int64_t packed_bytes() const;
};

/// Factors the sums of a diagonal tile, stores the factor in 'tile' (which may be the sums' own
/// memory) and fills 'inverse' if it has memory. Stops at a pivot that is not positive and finite.
Pivot factor_diagonal(const Table& t, const Sums& sums, const kernels::Layers& layers,
                      Rounding rounding, Tile tile, const Inverse& inverse, std::byte* scratch,
                      const Sharing& share = {});

/// Fills 'inverse' from a lower triangular matrix, in its own format or narrower.
void make_inverse(const Table& t, MatrixView<const double> l, const Inverse& inverse);
void make_inverse(const Table& t, MatrixView<const float> l, const Inverse& inverse);

/// Fills 'inverse' from a stored diagonal tile of a factor.
void invert_stored(const Table& t, TileIn tile, const Inverse& inverse, std::byte* scratch);

/// Solves X L' = sums and stores X in 'tile' (which may be the sums' own memory); sums holds X
/// before it was rounded to the tile's rung. Threads may share the rows of a packed tile.
void solve_tile(const Table& t, const Inverse& inverse, const Sums& sums, Rounding rounding,
                Tile tile, std::byte* scratch, const Sharing& share = {});

/// The scaled tile in FP64; the strict upper part of a diagonal tile is zero.
void copy_tile(const Table& t, TileIn tile, kernels::Scales scales, MatrixView<double> out);

}  // namespace stepwell::tiles
