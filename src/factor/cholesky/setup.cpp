// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/cholesky/setup.hpp"

#include <algorithm>

#include "core/checked.hpp"
#include "core/checks.hpp"
#include "factor/cholesky/residue_codelets.hpp"
#include "factor/setup.hpp"
#include "kernels/kernels.hpp"
#include "stepwell/error.hpp"
#include "tiles/operations.hpp"

namespace stepwell::factor {
namespace {

using tiles::Distribution;
using tiles::Grid;
using tiles::RungMap;

/// Matrices of at most this order at fp64 or fp32 are a single tile: the recursion inside it beats
/// LAPACK's own factorization by a sixth there, and needs no copies and no inverses.
constexpr std::int64_t kOneTile = 1024;

[[noreturn]] void misuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, "cholesky: " + text);
}

}  // namespace

bool is_in_residues(const PrecisionMap& map) {
  return !map.adaptive() && map.layers.size() == 1 && info(map.layers[0]).residues > 0;
}

Grid choose_grid(std::int64_t n, const FactorOptions& options) {
  if (n < 0) misuse("the order is " + std::to_string(n) + "; it can't be negative");
  const bool plain = !options.map.adaptive() && options.map.layers.size() == 1 &&
                     info(options.map.layers[0]).planes == 0 && !is_in_residues(options.map);
  if (plain && options.tile == 0 && n > 0 && n <= kOneTile) {
    return {n, core::round_up(n, kernels::kPanel)};
  }
  return {n, choose_tile(n, options.tile)};
}

void check_options(const FactorOptions& options) {
  if (options.spread && options.map.adaptive()) misuse("an adaptive map can't be spread");
  if (!(options.theta > 0 && options.theta <= 1)) misuse("theta must lie in (0, 1]");
  if (!(options.cholesky.shift >= 0 && options.cholesky.shift < 1e9))
    misuse("shift must be from 0 to 1e9");
  const Jitter& jitter = options.jitter;
  if (!(jitter.start > 0 && jitter.start <= 1)) misuse("jitter.start must lie in (0, 1]");
  if (!(jitter.factor > 1 && jitter.factor <= 1e6)) misuse("jitter.factor must lie in (1, 1e6]");
  if (!(jitter.tries >= 0 && jitter.tries <= 100)) misuse("jitter.tries must be from 0 to 100");
  if (is_in_residues(options.map) && options.tile > kernels::kResidueChunk) {
    misuse("tile = " + std::to_string(options.tile) + "; int8 rungs have tiles up to " +
           std::to_string(kernels::kResidueChunk));
  }
  if (options.low_memory && options.map == uniform(Rung::int8x15)) {
    misuse("low_memory does not keep the redundant residues of int8x15; choose one of the two");
  }
}

Rung fp64_rung(const Grid& grid) {
  const bool engine = kernels::table().residues.update.isa == core::Isa::amx;
  const bool exact = engine && grid.n >= kExactFrom && grid.tile <= kernels::kResidueChunk;
  return exact ? Rung::int8x14 : Rung::fp64;
}

RungMap choose_fp64_map(const Grid& grid, const FactorOptions& options, bool alone,
                        const std::function<std::int64_t(const RungMap&)>& bytes) {
  const bool asked = is_in_residues(options.map);
  const Rung rung = asked ? options.map.layers[0] : alone ? fp64_rung(grid) : Rung::fp64;
  if (rung == Rung::fp64) return {grid, uniform(Rung::fp64)};
  RungMap exact(grid, uniform(rung));
  if (options.low_memory) exact.store_numbers();
  if (asked || core::has_memory(bytes(exact))) return exact;
  exact.store_numbers();
  return core::has_memory(bytes(exact)) ? exact : RungMap(grid, uniform(Rung::fp64));
}

engine::GraphOptions graph_for(const RungMap& map, const FactorOptions& options,
                               const ProcessContext& process, bool scratch_for_blocks) {
  engine::GraphOptions g = graph_options(useful_threads(map.grid().tiles()), options.engine.context,
                                         options.engine.progress);
  if (!process.alone()) {
    g.run_by = engine::RunBy::starpu;
    g.settings.threads = process.threads(options.engine.context);
    g.ranks = process.ranks();
  }
  if (map.residues() > 0) {
    g.scratch_bytes = residue_scratch_bytes(map, scratch_for_blocks);
    return g;
  }
  g.scratch_bytes = tiles::scratch_bytes(map);
  if (scratch_for_blocks) {
    g.scratch_bytes = std::max(g.scratch_bytes, 8 * map.grid().tile * map.grid().tile);
  }
  return g;
}

std::int64_t peak_bytes(const RungMap& map, const engine::GraphOptions& g,
                        const Distribution& distribution, const Schedule& schedule, int rank) {
  const auto scans = map.grid().count() * static_cast<std::int64_t>(sizeof(kernels::Scan) + 9);
  return tiles::tile_matrix_bytes(map, distribution, rank) +
         Needs(map, distribution, schedule, rank, static_cast<int>(workers_of(g))).bytes() +
         workers_of(g) * g.scratch_bytes + scans + map.grid().n * 32;
}

}  // namespace stepwell::factor
