// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include "engine/graph.hpp"
#include "tiles/operations.hpp"

/// The kinds of tasks of syrk.
namespace stepwell::factor {

/// Tiles of a row of A that are narrowed in one task, and travel together.
inline constexpr std::int64_t kSyrkGroup = 8;

/// What the tasks share.
struct Syrk {
  double alpha = 1;
  double beta = 0;
  MatrixView<const double> a;
  MatrixView<double> c;
  tiles::RungMap map;              ///< of C
  tiles::Grid across;              ///< A's columns in tiles
  Rung packed = Rung::bf16;        ///< of A's packed form
  int planes = 0;                  ///< of the packed form; 0: there is none
  bool fp32 = false;               ///< there is a plain fp32 form
  double scale = 1;                ///< of A in the narrow forms
  std::atomic<double> largest{0};  ///< of the finite |a_ij|, when A has been narrowed

  tiles::TileShape packed_shape(std::int64_t i, std::int64_t k) const {
    return {packed, map.grid().size(i), across.size(k)};
  }
  /// Bytes of one tile in all narrow forms: packed first, then fp32.
  std::int64_t packed_bytes() const {
    return 2 * kernels::packed_numbers(map.grid().tile, across.tile, planes);
  }
  std::int64_t tile_bytes() const {
    return packed_bytes() + (fp32 ? map.grid().tile * across.tile * 4 : 0);
  }
};

/// Bytes of scratch for a task: the sums of a tile, and what the operations on tiles need.
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

/// Data: row i of A in groups (read), then what the rung needs of row j: in rows order (read), or
/// in groups (read; not if i == j), or nothing.
struct SyrkTileTask {
  Syrk* s;
  std::int64_t i, j;
};

const engine::Codelet& syrk_tile_codelet();

}  // namespace stepwell::factor
