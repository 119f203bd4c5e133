// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "kernels/layout.hpp"
#include "tiles/operations.hpp"
#include "tiles/rung_map.hpp"

/// What the sweeps read in addition to L: copies of a row of L in the layout of the right operand,
/// and the inverses of diagonal tiles. Where they are and how large, which follows from the map
/// alone.
namespace stepwell::factor {

/// Whether products read copies in rows order.
bool has_row_copies(const tiles::RungMap& map);

/// Planes of the copy of L(j, k) in rows order; 0: no product needs a copy.
int row_planes(const tiles::RungMap& map, std::int64_t j, std::int64_t k);

/// The copy of L(j, k) among the copies of columns k0, k0 + 1, ...; empty if there is none.
kernels::PackedOut rows_of(const tiles::RungMap& map, std::int64_t j, std::int64_t k,
                           std::int64_t k0, std::byte* copies);
/// The same for a map in residues.
kernels::ResiduesOut residue_rows_of(const tiles::RungMap& map, std::int64_t j, std::int64_t k,
                                     std::int64_t k0, std::byte* copies);

/// Copies a tile of such a map. 'scratch' has residue_bytes() if the map stores numbers.
void copy_residue_rows(const tiles::Tile& tile, const kernels::ResiduesOut& to, std::byte* scratch);

/// The pieces of row j's copies that hold columns k0..k1: one with a chunk of the early columns,
/// and one with the last column (k = j - 1) alone, because it is finished late and the other
/// columns need not wait for it.
struct RowPieces {
  bool early = false;
  bool last = false;
};
RowPieces row_pieces(const tiles::RungMap& map, std::int64_t j, std::int64_t k0, std::int64_t k1);

/// Bytes between the copies of two neighbouring tiles.
std::int64_t row_stride(const tiles::RungMap& map);

/// The inverse of column j in the forms in which it is needed.
tiles::Inverse inverse_of(const tiles::RungMap& map, std::int64_t j, std::byte* data);
/// What a map in residues has instead.
tiles::ResidueDiagonal residue_diagonal_of(const tiles::RungMap& map, std::int64_t j,
                                           std::byte* data);
/// Whether column j has one: to solve for the tiles below, and in residues to factor its own tile.
bool needs_inverse(const tiles::RungMap& map, std::int64_t j);
/// Bytes that are enough for either, of any column; a multiple of 4096.
std::int64_t inverse_bytes(const tiles::RungMap& map);

}  // namespace stepwell::factor
