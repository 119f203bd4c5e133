// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

#include "factor/distributed/cholesky.hpp"
#include "gallery/gallery.hpp"
#include "stepwell/distributed.hpp"

/// Measures the real distributed factorization, for comparison with the simulator:
///
///   mpirun -n 2 stepwell_distributed_run --n 8192 --threads 1
namespace stepwell::bench::scaling {
namespace {

using nlohmann::json;

struct Options {
  std::int64_t n = 8192, tile = 512;
  int threads = 1, runs = 1;
  std::string map = "bf16", layout = "grid";
};

/// The gallery's dominant matrix: its elements are cheap to compute, and no rung breaks down.
factor::FilledBlocks matrix(std::int64_t n) {
  return factor::FilledBlocks([n](std::int64_t row, std::int64_t col, MatrixView<double> tile) {
    for (std::int64_t j = 0; j < tile.cols; ++j) {
      for (std::int64_t i = 0; i < tile.rows; ++i) {
        tile(i, j) = row + i == col + j ? static_cast<double>(n)
                                        : gallery::element_noise(1, row + i, col + j);
      }
    }
  });
}

json run(const Ranks& world, const Options& o) {
  engine::Communicator& ranks = RanksData::of(world);
  DistributedOptions distributed;
  distributed.layout = o.layout == "grid" ? Layout::grid : Layout::symmetric;
  const tiles::Distribution distribution = tiles::Distribution::choose(ranks.size(), distributed);
  Context context(o.threads);
  FactorOptions options;
  options.map = parse_map(o.map);
  options.tile = o.tile;
  options.engine.context = &context;

  json runs = json::array();
  for (int k = 0; k < o.runs; ++k) {
    const std::int64_t before = ranks.bytes_sent();
    ranks.barrier();
    const std::clock_t cpu = std::clock();
    const Factor factor =
        factor::distributed_cholesky(ranks, distribution, o.n, matrix(o.n), options);
    const PhaseTimes& t = factor.report().times;
    std::vector<double> sums = {t.load,
                                t.update,
                                t.diagonal,
                                t.solve,
                                t.reorder,
                                static_cast<double>(t.tasks),
                                static_cast<double>(ranks.bytes_sent() - before)};
    sums.push_back(static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC);
    ranks.sum(sums);
    std::vector<std::int64_t> most = {static_cast<std::int64_t>(t.wall * 1e9),
                                      factor.report().peak_bytes};
    ranks.largest(most);
    runs.push_back({{"ok", factor.ok()},
                    {"seconds", static_cast<double>(most[0]) * 1e-9},
                    {"peak_bytes", most[1]},
                    {"load", sums[0]},
                    {"update", sums[1]},
                    {"diagonal", sums[2]},
                    {"solve", sums[3]},
                    {"reorder", sums[4]},
                    {"tasks", sums[5]},
                    {"bytes", sums[6]},
                    {"cpu", sums[7]}});
  }
  return {{"n", o.n},
          {"tile", o.tile},
          {"map", o.map},
          {"ranks", ranks.size()},
          {"threads", o.threads},
          {"layout", distribution.name()},
          {"bytes_model", factor::distributed_bytes_to_send(o.n, options, distribution)},
          {"runs", runs}};
}

}  // namespace
}  // namespace stepwell::bench::scaling

int main(int argc, char** argv) {
  CLI::App app("Factors a distributed matrix and prints the times as JSON.");
  stepwell::bench::scaling::Options o;
  app.add_option("--n", o.n, "order of the matrix");
  app.add_option("--tile", o.tile, "order of a tile");
  app.add_option("--threads", o.threads, "workers of a rank");
  app.add_option("--runs", o.runs, "number of runs");
  app.add_option("--map", o.map, "precision map");
  app.add_option("--layout", o.layout, "grid or symmetric")
      ->check(CLI::IsMember({"grid", "symmetric"}));
  CLI11_PARSE(app, argc, argv);
  try {
    const stepwell::Ranks world = stepwell::mpi_world();
    const nlohmann::json result = stepwell::bench::scaling::run(world, o);
    if (world.rank() == 0) std::puts(result.dump().c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stepwell_distributed_run: %s\n", error.what());
    return 2;
  }
}
