// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include "engine/graph.hpp"
#include "tiles/operations.hpp"

/// The kinds of tasks of syrk.
namespace stepwell::factor {

/// Number of tiles of a block row of A that one task narrows; they are one piece of data.
inline constexpr std::int64_t kSyrkGroup = 8;

/// State shared by the tasks.
struct Syrk {
  double alpha = 1;
  double beta = 0;
  MatrixView<const double> a;
  MatrixView<double> c;
  tiles::RungMap map;              ///< rungs of C's tiles
  tiles::Grid across;              ///< grid of A's columns
  Rung packed = Rung::bf16;        ///< rung of A's packed form
  int planes = 0;                  ///< planes of the packed form; 0: there is none
  bool fp32 = false;               ///< whether there is a plain fp32 form
  double scale = 1;                ///< scale factor of A in the narrow forms
  std::atomic<double> largest{0};  ///< largest finite |a_ij|, once A has been narrowed

  tiles::TileShape packed_shape(std::int64_t i, std::int64_t k) const {
    return {packed, map.grid().size(i), across.size(k)};
  }
  /// Bytes of the packed form of one tile.
  std::int64_t packed_bytes() const {
    return 2 * kernels::packed_elements(map.grid().tile, across.tile, planes);
  }
  /// Bytes of one tile in all narrow forms: packed first, then fp32.
  std::int64_t tile_bytes() const {
    return packed_bytes() + (fp32 ? map.grid().tile * across.tile * 4 : 0);
  }
};

/// Bytes of scratch memory of a task: the sums of a tile, and the scratch of the operations on
/// tiles.
std::int64_t syrk_scratch_bytes(std::int64_t tile);

/// Data: the group's narrow tiles (write).
struct SyrkNarrowTask {
  Syrk* s;
  std::int64_t i, k0, k1;
};

const engine::Codelet& syrk_narrow_codelet();

/// Data: row j of A in rows order (write), row j in groups (read).
struct SyrkRowTask {
  const Syrk* s;
  std::int64_t j;
};

const engine::Codelet& syrk_rows_codelet();

/// Data: row i of A in groups (read), then what the rung needs of row j: row j in rows order
/// (read), or in groups (read; not if i == j), or nothing.
struct SyrkTileTask {
  Syrk* s;
  std::int64_t i, j;
};

const engine::Codelet& syrk_tile_codelet();

}  // namespace stepwell::factor
