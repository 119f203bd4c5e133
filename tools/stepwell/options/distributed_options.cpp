// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "options/distributed_options.hpp"

#include "options/verb.hpp"

namespace stepwell::tool {

void add_distributed_options(Verb verb, DistributedRequest& r) {
  verb.add_option("--tile", r.tile, "Order of a generated A's tiles, a multiple of 32")
      .check(Range(32, 8192));
  verb.add_option("--layout", r.layout,
                  "Distribution of tiles over ranks: grid, or symmetric (3, 6, 10, ... ranks)")
      .check(OneOf{"grid", "symmetric"})
      .capture_default_str();
  verb.add_option("--grid-rows", r.grid_rows, "Rows of the grid of ranks; default: most square")
      .check(Range(1, 1 << 20));
  verb.add_flag("--regenerate", r.regenerate,
                "Over ranks: generate A's tiles again for every product instead of keeping them");
}

DistributedOptions distributed_options_of(const DistributedRequest& r) {
  DistributedOptions distributed;
  distributed.layout = r.layout == "symmetric" ? Layout::symmetric : Layout::grid;
  distributed.grid_rows = r.grid_rows;
  distributed.keep_tiles = !r.regenerate;
  return distributed;
}

}  // namespace stepwell::tool
