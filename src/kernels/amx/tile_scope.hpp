// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/amx/tile.hpp"

namespace stepwell::kernels::amx {

/// Configures all eight tiles as 16 rows of 64 bytes; the destructor restores the caller's tile
/// state. A caller without live tiles (nearly all callers) gets a released state and pays about 230
/// cycles; if the caller has live tiles, their contents are saved and restored.
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
