// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "rank_options.hpp"

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

RankedOptions ranked_options_of(const RanksRequest& r) {
  RankedOptions ranked;
  ranked.layout = r.layout == "symmetric" ? Layout::symmetric : Layout::grid;
  ranked.grid_rows = r.grid_rows;
  ranked.keep_tiles = !r.regenerate;
  return ranked;
}

}  // namespace stepwell::tool
