// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/amx/tile.hpp"

namespace stepwell::kernels::amx {

/// While it lives, all eight tiles are 16 rows of 64 bytes; then the caller's tile state comes
/// back. A caller without live tiles (nearly all) gets a released state and pays about 230 cycles;
/// one with live tiles has their contents saved and loaded again.
class TileScope {
 public:
  TileScope();
  ~TileScope();
  TileScope(const TileScope&) = delete;
  TileScope& operator=(const TileScope&) = delete;

 private:
  Config callers_;
  TileBytes contents_[8];  // written only if the caller has live tiles
};

}  // namespace stepwell::kernels::amx
