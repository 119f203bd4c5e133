// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "kernels/recursive.hpp"
#include "tiles/rung_map.hpp"
#include "tiles/tile.hpp"

/// What the tasks of a factorization do, on stored tiles of any rungs: they choose the kernel, and
/// convert an operand where the two are stored differently. One core, no allocation; 'scratch' has
/// at least scratch_bytes().
namespace stepwell::tiles {

using kernels::Pivot;
using kernels::Rounding;
using kernels::Shape;
using kernels::Table;

/// Bytes of scratch for operations on tiles of this order at any rungs, or at those of a map.
std::int64_t scratch_bytes(std::int64_t tile);
std::int64_t scratch_bytes(const RungMap& map);

/// The diagonal blocks that solves multiply with the inverse of.
inline constexpr std::int64_t kInvertedBlock = 128;

/// One tile of the right operand of an update, L(j,k): as it is stored, and as a packed operand in
/// rows order, which every product on the matrix engine reads. Either may be absent where no
/// product needs it.
struct RightTile {
  TileIn stored;
  kernels::PackedIn rows;
};

/// Reads a block of the caller's matrix into sums = diag(row) A diag(col); a diagonal tile's lower
/// triangle only, with its diagonal multiplied by 'diagonal_factor' (the shift). 'scan' gathers
/// what was found.
void load_tile(const Table& t, MatrixView<const double> a, Shape shape, kernels::Scales scales,
               double diagonal_factor, const Sums& sums, kernels::Scan& scan);

/// sums -= sum_k a[k] b[k]', in this order of k, each product at the coarsest of the three rungs
/// that meet in it, or of the two operands' alone if 'by_operands'. fp32 sums stay in L2 over all
/// k: half a tile at a time.
void sweep(const Table& t, const Sums& sums, std::span<const TileIn> a,
           std::span<const RightTile> b, Shape shape, std::byte* scratch, bool by_operands = false);

/// Packs a stored tile in rows order into out, with out's planes (at most the tile's own if it has
/// planes).
void make_rows(const Table& t, TileIn tile, kernels::PackedOut out);

/// The lower factor of a diagonal tile in the forms that the tiles below it are solved with: below
/// fp64 with its diagonal blocks inverted. In fp64 it is L itself: a product with an inverse errs
/// by the block's condition number more than substitution, and there nothing mends it.
struct Inverse {
  Rung rung = Rung::bf16;  ///< of the diagonal tile; fp64 where an fp64 form is wanted
  std::int64_t order = 0;
  int planes = 0;     ///< of the packed form; 0: none
  bool fp32 = false;  ///< a plain fp32 form is wanted
  std::byte* data = nullptr;

  bool wide() const { return rung == Rung::fp64; }
  std::int64_t bytes() const;
  /// The first so many are all that solves read: the rest may be where it was made from.
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
                      Rounding rounding, Tile tile, const Inverse& inverse, std::byte* scratch);

/// Fills 'inverse' from a lower triangular matrix, in its own format or narrower.
void make_inverse(const Table& t, MatrixView<const double> l, const Inverse& inverse,
                  std::byte* scratch);
void make_inverse(const Table& t, MatrixView<const float> l, const Inverse& inverse,
                  std::byte* scratch);

/// Fills 'inverse' from a stored diagonal tile of a factor.
void invert_stored(const Table& t, TileIn tile, const Inverse& inverse, std::byte* scratch);

/// Solves X L' = sums and stores X in 'tile' (which may be the sums' own memory); sums holds X
/// before it was rounded to the tile's rung.
void solve_tile(const Table& t, const Inverse& inverse, const Sums& sums, Rounding rounding,
                Tile tile, std::byte* scratch);

/// The tile as FP64 numbers; of a diagonal tile the strict upper part is zero.
void copy_tile(const Table& t, TileIn tile, kernels::Scales scales, MatrixView<double> out);

}  // namespace stepwell::tiles
