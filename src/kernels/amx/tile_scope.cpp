// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/amx/tile_scope.hpp"

#include <utility>

namespace stepwell::kernels::amx {
namespace {

constexpr Config whole_tiles() {
  Config c;
  c.palette = 1;
  for (int i = 0; i < 8; ++i) {
    c.row_bytes[i] = 64;
    c.rows[i] = 16;
  }
  return c;
}

// A tile without rows or columns can't be stored or loaded: the instruction faults.
bool is_live(const Config& c, int tmm) {
  return c.rows[tmm] > 0 && c.row_bytes[tmm] > 0;
}

template <int... tmm>
void save(const Config& c, TileBytes* to, std::integer_sequence<int, tmm...>) {
  ((is_live(c, tmm) ? store<tmm>(to + tmm) : void()), ...);
}

template <int... tmm>
void restore(const Config& c, const TileBytes* from, std::integer_sequence<int, tmm...>) {
  ((is_live(c, tmm) ? load<tmm>(from + tmm) : void()), ...);
}

constexpr std::make_integer_sequence<int, 8> kAllTiles{};

}  // namespace

TileScope::TileScope() {
  store_config(callers_);
  if (callers_.palette != 0) save(callers_, contents_, kAllTiles);
  static constexpr Config kWhole = whole_tiles();
  load_config(kWhole);
}

TileScope::~TileScope() {
  if (callers_.palette == 0) {
    release();
  } else {
    load_config(callers_);
    restore(callers_, contents_, kAllTiles);
  }
}

}  // namespace stepwell::kernels::amx
