// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "core/buffer.hpp"
#include "factor/cholesky/row_copies.hpp"
#include "factor/cholesky/workspace.hpp"
#include "replay.hpp"
#include "tiles/tile_matrix.hpp"

namespace stepwell::bench::scaling {

Bounds bounds(const Work& work, const Platform& platform) {
  const tiles::RungMap& map = work.map();
  const tiles::Grid& grid = map.grid();
  const tiles::Distribution& distribution = work.distribution();
  const auto ranks = static_cast<std::size_t>(distribution.ranks());
  Bounds b;

  std::vector<double> busy(ranks), out(ranks), in(ranks);
  for (const Task& task : work.tasks()) {
    busy[static_cast<std::size_t>(task.rank)] += work.seconds(task, platform);
  }
  b.compute = *std::max_element(busy.begin(), busy.end()) / platform.workers;

  const auto inverse = static_cast<double>(inverse_message(map, 0));
  const auto send = [&](int from, const std::vector<int>& to, double bytes) {
    out[static_cast<std::size_t>(from)] += bytes * static_cast<double>(to.size());
    for (const int rank : to) in[static_cast<std::size_t>(rank)] += bytes;
  };
  for (std::int64_t j = 0; j < grid.tiles(); ++j) {
    send(distribution.owner(j, j), distribution.solvers(grid, j), inverse);
    for (std::int64_t i = j + 1; i < grid.tiles(); ++i) {
      send(distribution.owner(i, j), distribution.readers(grid, i, j),
           static_cast<double>(shape_of(map, i, j).bytes()));
    }
  }
  b.network =
      std::max(*std::max_element(out.begin(), out.end()), *std::max_element(in.begin(), in.end())) /
      platform.bandwidth;

  const auto task = [&](std::int64_t i, std::int64_t j, std::int64_t products) {
    Task t;
    t.i = static_cast<std::int32_t>(i);
    t.j = static_cast<std::int32_t>(j);
    t.k0 = static_cast<std::int32_t>(j - products);
    t.k1 = static_cast<std::int32_t>(j);
    t.last = true;
    return t;
  };
  const auto hop = [&](int from, int to, double bytes) {
    return from == to ? 0 : platform.latency + bytes / platform.bandwidth;
  };
  for (std::int64_t j = 0; j < grid.tiles(); ++j) {
    b.panel += work.seconds(task(j, j, j > 0 ? 1 : 0), platform);
    if (j + 1 == grid.tiles()) break;
    const int below = distribution.owner(j + 1, j);
    Task copy = task(j + 1, j + 1, 1);
    copy.rows = true;
    b.panel += hop(distribution.owner(j, j), below, inverse);
    b.panel += work.seconds(task(j + 1, j, 0), platform) + work.seconds(copy, platform);
    b.panel += hop(below, distribution.owner(j + 1, j + 1),
                   static_cast<double>(shape_of(map, j + 1, j).bytes()));
  }
  return b;
}

Memory memory(const Work& work, int workers) {
  const tiles::RungMap& map = work.map();
  const tiles::Distribution& distribution = work.distribution();
  const tiles::Grid& grid = map.grid();
  std::vector<std::int64_t> matrix(static_cast<std::size_t>(distribution.ranks()));
  for (std::int64_t j = 0; j < grid.tiles(); ++j) {
    for (std::int64_t i = j; i < grid.tiles(); ++i) {
      matrix[static_cast<std::size_t>(distribution.owner(i, j))] += 8 * grid.size(i) * grid.size(j);
    }
  }
  // The first few ranks are representative of hundreds: tiles are distributed block-cyclically.
  const int ranks = std::min(distribution.ranks(), 4);
  Memory most;
  for (int rank = 0; rank < ranks; ++rank) {
    const factor::Needs needs(map, distribution, work.schedule(), rank, workers);
    Memory m;
    m.factor = tiles::tile_matrix_bytes(map, distribution, rank);
    m.sums = needs.sums * needs.sums_bytes;
    m.rows = needs.rows * (needs.rows_bytes + needs.last_row_bytes);
    m.received = needs.received_bytes();
    if (m.all() > most.all()) most = m;
  }
  most.matrix = *std::max_element(matrix.begin(), matrix.end());
  return most;
}

Iteration iteration(const Work& work, const Platform& platform) {
  const tiles::Grid& grid = work.map().grid();
  const auto n = static_cast<double>(grid.n);
  const auto tile = static_cast<double>(grid.tile);
  const auto tiles = static_cast<double>(grid.tiles());
  const double ranks = work.distribution().ranks();
  const double hops = std::ceil(std::log2(std::max(ranks, 1.0)));
  const double elements = n * n / 2 / ranks;
  const double planes = std::max(1, work.map().most_planes());
  Iteration it;
  it.kept = 8 * elements / platform.memory;
  it.regenerated = elements / platform.regenerate;
  it.reduction = ranks > 1 ? 2 * 8 * n / platform.bandwidth + 2 * hops * platform.latency : 0;
  // One step of a sweep: one worker solves with a diagonal tile, a block of the vector is
  // broadcast, and a block of the sums is reduced. The rest of L is read concurrently.
  const double one_worker = platform.memory / platform.workers;
  const double step =
      planes * tile * tile / one_worker +
      (ranks > 1 ? 2 * (hops * platform.latency + 8 * tile / platform.bandwidth) : 0);
  it.sweeps = 2 * std::max(2 * planes * elements / platform.memory, tiles * step);
  return it;
}

}  // namespace stepwell::bench::scaling
