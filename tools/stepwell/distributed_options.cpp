// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "distributed_options.hpp"

namespace stepwell::tool {

void add_rank_options(CLI::App& verb, RanksRequest& r) {
  verb.add_option("--tile", r.tile, "Order of a generated A's tiles, a multiple of 32")
      ->check(CLI::Range(32, 8192));
  verb.add_option("--layout", r.layout,
                  "How tiles are dealt out to ranks: grid, or symmetric (3, 6, 10, ... ranks)")
      ->check(CLI::IsMember({"grid", "symmetric"}))
      ->capture_default_str();
  verb.add_option("--grid-rows", r.grid_rows, "Rows of the grid of ranks; default: most square")
      ->check(CLI::Range(1, 1 << 20));
  verb.add_flag("--regenerate", r.regenerate,
                "Over ranks: make A's tiles anew for every product instead of keeping them");
}

DistributedOptions distributed_options_of(const RanksRequest& r) {
  DistributedOptions distributed;
  distributed.layout = r.layout == "symmetric" ? Layout::symmetric : Layout::grid;
  distributed.grid_rows = r.grid_rows;
  distributed.keep_tiles = !r.regenerate;
  return distributed;
}

}  // namespace stepwell::tool
