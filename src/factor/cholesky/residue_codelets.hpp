// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/graph.hpp"
#include "tiles/rung_map.hpp"

namespace stepwell::factor {

/// The bodies of the codelets of left_looking on tiles in residues; their arguments are in
/// codelets.hpp.
struct ResidueBodies {
  engine::Body sweep, diagonal, solve, restore;
};
ResidueBodies residue_bodies();

/// Bytes of scratch for a map in residues; 'computed': A is computed block by block.
std::int64_t residue_scratch_bytes(const tiles::RungMap& map, bool computed);

}  // namespace stepwell::factor
