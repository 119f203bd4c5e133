// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/cholesky/row_copies.hpp"

#include <algorithm>

#include "core/checked.hpp"
#include "kernels/kernels.hpp"

namespace stepwell::factor {

using kernels::Order;
using tiles::RungMap;

bool has_row_copies(const RungMap& map) {
  return map.most_planes() > 0 || map.residues() > 0;
}

int row_planes(const RungMap& map, std::int64_t j, std::int64_t k) {
  const int own = info(map.at(j, k)).planes;
  return own > 0 ? own : map.most_planes();
}

kernels::PackedOut rows_of(const RungMap& map, std::int64_t j, std::int64_t k, std::int64_t k0,
                           std::byte* copies) {
  const int planes = row_planes(map, j, k);
  if (planes == 0) return {};
  return kernels::packed(reinterpret_cast<std::uint16_t*>(copies + (k - k0) * row_stride(map)),
                         map.grid().size(j), map.grid().size(k), tiles::split_rung(planes),
                         Order::rows);
}

kernels::ResiduesOut residue_rows_of(const RungMap& map, std::int64_t j, std::int64_t k,
                                     std::int64_t k0, std::byte* copies) {
  return kernels::residues(reinterpret_cast<std::int8_t*>(copies + (k - k0) * row_stride(map)),
                           map.grid().size(j), map.grid().size(k), map.residues(),
                           kernels::ResidueOrder::rows);
}

void copy_residue_rows(const tiles::Tile& tile, const kernels::ResiduesOut& to,
                       std::byte* scratch) {
  const kernels::Table& t = kernels::table();
  if (!tile.shape.as_numbers) return kernels::reorder(t, tile.residues().x, to);
  const kernels::ResiduesOut quads =
      kernels::residues(reinterpret_cast<std::int8_t*>(scratch), to.rows, to.depth, to.planes,
                        kernels::ResidueOrder::quads);
  kernels::to_residues(t, tile.numbers().l, nullptr, quads);
  kernels::reorder(t, quads, to);
}

RowPieces row_pieces(const RungMap& map, std::int64_t j, std::int64_t k0, std::int64_t k1) {
  if (!has_row_copies(map)) return {};
  return {k0 < std::min(k1, j - 1), k0 < k1 && k1 == j};
}

std::int64_t row_stride(const RungMap& map) {
  const std::int64_t tile = map.grid().tile;
  return map.residues() > 0 ? kernels::residue_bytes(tile, tile, map.residues())
                            : 2 * kernels::packed_elements(tile, tile, map.most_planes());
}

tiles::Inverse inverse_of(const RungMap& map, std::int64_t j, std::byte* data) {
  // A tile below may be at fp64 even if the diagonal tile is not.
  const Rung rung = map.uses(Rung::fp64) ? Rung::fp64 : map.at(j, j);
  tiles::Inverse inverse{rung, map.grid().size(j), map.most_planes(), false, data};
  inverse.fp32 = map.uses(Rung::fp32);
  return inverse;
}

tiles::ResidueDiagonal residue_diagonal_of(const RungMap& map, std::int64_t j, std::byte* data) {
  return tiles::residue_diagonal(data, map.grid().size(j), map.residues());
}

bool needs_inverse(const RungMap& map, std::int64_t j) {
  return j + 1 < map.grid().tiles() || map.residues() > 0;
}

std::int64_t inverse_bytes(const RungMap& map) {
  if (map.residues() > 0) {
    return core::round_up(tiles::residue_diagonal_bytes(map.grid().tile, map.residues()), 4096);
  }
  std::int64_t most = 0;
  for (std::int64_t j = 0; j < map.grid().tiles(); ++j) {
    most = std::max(most, inverse_of(map, j, nullptr).bytes());
  }
  return core::round_up(most, 4096);
}

}  // namespace stepwell::factor
