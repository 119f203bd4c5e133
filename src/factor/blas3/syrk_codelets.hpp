// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include "engine/graph.hpp"
#include "tiles/operations.hpp"

/// The kinds of tasks of syrk. Their data comes from the engine.
namespace stepwell::factor {

/// Number of tiles of a block row of A that one task narrows; they are one piece of data.
inline constexpr std::int64_t kSyrkGroup = 8;

/// How to compute.
struct SyrkRules {
  double alpha = 1;
  double beta = 0;
  tiles::RungMap map;        ///< rungs of C's tiles
  tiles::Grid across;        ///< grid of A's columns
  Rung packed = Rung::bf16;  ///< rung of A's packed form
  int planes = 0;            ///< planes of the packed form; 0: there is none
  bool fp32 = false;         ///< whether there is a plain fp32 form
  double scale = 1;          ///< scale factor of A in the narrow forms

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

/// A result in the host's memory, which the caller reads after wait().
struct SyrkResults {
  std::atomic<double> largest{0};  ///< largest finite |a_ij|, once A has been narrowed
};

/// Bytes of scratch memory of a task: the sums of a tile, and the scratch of the operations on
/// tiles.
std::int64_t syrk_scratch_bytes(std::int64_t tile);

/// Data: the group's narrow tiles (write), block row i of A (read).
struct SyrkNarrowTask {
  const SyrkRules* rules;
  SyrkResults* results;
  std::int64_t i, k0, k1;
};

const engine::Codelet& syrk_narrow_codelet();

/// Data: row j of A in rows order (write), row j in groups (read).
struct SyrkRowTask {
  const SyrkRules* rules;
  std::int64_t j;
};

const engine::Codelet& syrk_rows_codelet();

/// Data: C(i, j) (read_write; write if beta is 0 and i != j), then what the rung needs of A:
///   fp64           block rows i and j of A (read; once if i == j)
///   fp32           rows i and j in groups (read; once if i == j)
///   with planes    row i in groups, row j in rows order (read)
struct SyrkTileTask {
  const SyrkRules* rules;
  std::int64_t i, j;
};

const engine::Codelet& syrk_tile_codelet();

}  // namespace stepwell::factor
