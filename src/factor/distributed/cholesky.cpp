// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/distributed/cholesky.hpp"

#include "core/machine/fp_scope.hpp"
#include "factor/cholesky/recovery.hpp"
#include "factor/cholesky/row_copies.hpp"
#include "stepwell/error.hpp"

namespace stepwell::factor {
namespace {

/// Each rank reads the diagonal of its diagonal tiles; the sum over the ranks is the whole
/// diagonal.
std::vector<double> read_diagonal(const ProcessContext& process, const BlockSource& source,
                                  const tiles::Grid& grid) {
  std::vector<double> value(static_cast<std::size_t>(grid.n));
  process.together([&] {
    const core::Buffer<double> scratch(grid.tile * grid.tile, core::Contents::any);
    for (std::int64_t j = 0; j < grid.tiles(); ++j) {
      if (!process.owns(j, j)) continue;
      const std::int64_t first = j * grid.tile;
      const auto tile = source.block({first, first, grid.size(j), grid.size(j)}, scratch.data());
      for (std::int64_t k = 0; k < tile.cols; ++k) {
        value[static_cast<std::size_t>(first + k)] = tile(k, k);
      }
    }
  });
  process.sum(value);
  return value;
}

/// A distributed matrix has the usual tile even where a single tile could hold all of A.
tiles::Grid grid_for(std::int64_t n, const FactorOptions& options) {
  if (n < 0) {
    throw Error(ErrorCode::invalid_argument,
                "cholesky: the order is " + std::to_string(n) + "; it can't be negative");
  }
  return {n, choose_tile(n, options.tile)};
}

}  // namespace

Factor distributed_cholesky(engine::Communicator& ranks, const tiles::Distribution& distribution,
                            std::int64_t n, const BlockSource& a, const FactorOptions& options,
                            Checkpointing* checkpoints) {
  const core::FpScope fp;
  check_options(options);
  if (options.spread) {
    throw Error(ErrorCode::invalid_argument,
                "cholesky: the option 'spread' is not supported for a distributed matrix");
  }
  if (options.jitter.tries > 0) {
    throw Error(ErrorCode::invalid_argument,
                "cholesky: the option 'jitter' is not supported for a distributed matrix");
  }
  if (options.triangle == Triangle::upper) {
    throw Error(ErrorCode::invalid_argument,
                "cholesky: a distributed matrix has its lower triangle");
  }
  if (distribution.ranks() != ranks.size()) {
    throw Error(ErrorCode::invalid_argument,
                "cholesky: the tiles are distributed over " + std::to_string(distribution.ranks()) +
                    " ranks, but the number of ranks is " + std::to_string(ranks.size()));
  }
  tiles::require_mixable(options.map, "cholesky");
  const tiles::Grid grid = grid_for(n, options);
  const ProcessContext process(ranks, distribution);
  Diagonal diagonal = diagonal_of(read_diagonal(process, a, grid));
  return BreakdownRecovery(a, std::move(diagonal), {}, grid, options, process, checkpoints).run();
}

std::int64_t distributed_factor_bytes(std::int64_t n, const FactorOptions& options,
                                      const tiles::Distribution& distribution, Windows windows,
                                      int rank, int workers) {
  const tiles::Grid grid = grid_for(n, options);
  const PrecisionMap most = options.map.adaptive() ? uniform(Rung::fp64) : options.map;
  const tiles::RungMap map(grid, most);
  engine::GraphOptions g = graph_for(map, options, {}, true);
  g.run_by = engine::RunBy::starpu;
  g.settings.threads = workers;
  return peak_bytes(map, g, distribution, schedule_for(map, distribution, windows), rank);
}

std::int64_t distributed_bytes_to_send(std::int64_t n, const FactorOptions& options,
                                       const tiles::Distribution& distribution) {
  const tiles::RungMap map(grid_for(n, options), options.map);
  return tiles::bytes_to_send(map, distribution, inverse_of(map, 0, nullptr).bytes_to_solve_with());
}

}  // namespace stepwell::factor
