// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/simulation.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <string>

#include "core/buffer.hpp"
#include "core/memory_error.hpp"
#include "core/numeric/hash.hpp"
#include "factor/block_source.hpp"
#include "factor/cholesky/graph.hpp"
#include "factor/cholesky/setup.hpp"
#include "factor/cholesky/workspace.hpp"
#include "factor/lu/codelets.hpp"
#include "factor/lu/graph.hpp"
#include "factor/setup.hpp"
#include "stepwell/error.hpp"
#include "tiles/operations.hpp"

namespace stepwell::factor {
namespace {

using tiles::RungMap;
using tiles::TileMatrix;

struct Input {
  MatrixView<const double> a;
  Scale scale;
};

/// Addresses of a matrix that does not exist, because no task runs.
class Addresses {
 public:
  explicit Addresses(std::int64_t n)
      : bytes_(static_cast<std::size_t>(core::size_product(n, n, 8, "A"))),
        data_(
            mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (data_ == MAP_FAILED) core::throw_out_of_memory();
  }
  ~Addresses() { munmap(data_, bytes_); }
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;
  const double* data() const { return static_cast<const double*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

RungMap map_of(const SimulatedFactor& f) {
  return RungMap({f.n, tile_of(f)}, uniform(f.rung));
}

void insert_cholesky(engine::Graph& graph, const RungMap& map, const Input& in) {
  const TileMatrix l(map);
  const StoredBlocks source(in.a, {});
  CholeskyState state;
  state.source = &source;
  state.scale = &in.scale;
  if (map.residues() > 0) state.diagonal = in.scale.row;  // ones
  state.l = &l;
  left_looking(graph, state, schedule_for(map, {}, Windows::by_memory, graph.workers()));
}

void insert_lu(engine::Graph& graph, const RungMap& map, const Input& in) {
  const TileMatrix g(map, {}, 0, tiles::TileOrder::by_rows);
  const TileMatrix l(map, {}, 0, tiles::TileOrder::by_rows);
  LuState state;
  state.a = in.a;
  state.scale = &in.scale;
  state.g = &g;
  state.l = &l;
  run_lu_graph(graph, state);
}

void run(const SimulatedFactor& f, MatrixView<const double> a, engine::GraphOptions options) {
  const RungMap map = map_of(f);
  const bool general = f.kind == Factorization::lu;
  options.run_by = engine::RunBy::caller;
  options.scratch_bytes =
      general ? lu_scratch_bytes(map) : graph_for(map, {}, {}, false).scratch_bytes;
  Input in{a, {}};
  in.scale.row.assign(static_cast<std::size_t>(f.n), 1.0);
  in.scale.col = in.scale.row;
  engine::Graph graph(options);
  general ? insert_lu(graph, map, in) : insert_cholesky(graph, map, in);
}

}  // namespace

std::int64_t tile_of(const SimulatedFactor& f) {
  if (f.tile > 0) return f.tile;
  return f.kind == Factorization::lu ? choose_lu_tile(f.n, 0) : choose_tile(f.n, 0);
}

engine::TaskTimes measure_tasks(const SimulatedFactor& f) {
  SimulatedFactor small = f;
  small.tile = tile_of(f);
  small.n = 18 * small.tile;
  core::Buffer<double> memory(core::size_product(small.n, small.n, "a matrix to measure with"),
                              core::Contents::any);
  const MatrixView<double> a = view(memory.data(), small.n, small.n);
  // Symmetric, and with a dominant diagonal for Cholesky only: LU is to exchange rows. Elements of
  // random size, because zeros might be faster.
  const bool dominant = f.kind == Factorization::cholesky;
  for (std::int64_t j = 0; j < small.n; ++j) {
    for (std::int64_t i = 0; i < small.n; ++i) {
      const auto index = static_cast<std::uint64_t>(std::min(i, j) * small.n + std::max(i, j));
      const double random = 0x1p-64 * static_cast<double>(core::hash(index));
      a(i, j) = dominant ? (i == j ? 1 : random / static_cast<double>(small.n)) : random - 0.5;
    }
  }
  engine::TaskTimes times;
  engine::GraphOptions options;
  // The memory of the factor is mapped first, as it is in a program's later calls.
  run(small, a, options);
  options.measured = &times;
  for (int runs = 0; runs < 8; ++runs) {  // in turn, because the machine's speed changes
    options.settings.threads = runs % 2 == 0 ? 1 : 64;
    run(small, a, options);
  }
  return times;
}

std::int64_t largest_simulated(const SimulatedFactor& f) {
  return 256 * tile_of(f);
}

engine::SimulatedTimes simulate(const SimulatedFactor& f, const engine::SimulatedMachine& machine,
                                const engine::TaskTimes& times) {
  if (f.n > largest_simulated(f)) {
    throw Error(ErrorCode::too_large, "n = " + std::to_string(f.n) +
                                          " has too many tasks to be simulated; up to n = " +
                                          std::to_string(largest_simulated(f)) + " it is possible");
  }
  engine::SimulatedRun simulated(machine, times);
  engine::GraphOptions options;
  options.simulated = &simulated;
  const Addresses a(f.n);
  run(f, view(a.data(), f.n, f.n), options);
  return simulated.times();
}

}  // namespace stepwell::factor
