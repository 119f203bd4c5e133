// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "factor/lu/codelets.hpp"
#include "factor/scaling.hpp"
#include "tiles/tile_matrix.hpp"

namespace stepwell::factor {

/// The matrices of an LU factorization, and what it finds.
struct LuState {
  MatrixView<const double> a;
  const Scale* scale = nullptr;
  bool pivoting = true;
  const tiles::TileMatrix* g = nullptr;  ///< stored by rows, and so is l
  const tiles::TileMatrix* l = nullptr;

  std::vector<std::int64_t> order;  ///< column of A at each position
  LuResults results;
};

}  // namespace stepwell::factor
