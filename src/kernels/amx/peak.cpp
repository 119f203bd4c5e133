// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>

#include "kernels/amx/amx.hpp"
#include "kernels/amx/tile_scope.hpp"

namespace stepwell::kernels {
namespace {

/// The four products of a 2 x 2 block of tiles, operands in tiles 4-7, as in the update kernel.
void multiply_block() {
  amx::multiply<0, 4, 6>();
  amx::multiply<1, 4, 7>();
  amx::multiply<2, 5, 6>();
  amx::multiply<3, 5, 7>();
}

void load_operands(const std::uint16_t* operands) {
  amx::load<4>(operands);
  amx::load<5>(operands + kTileElements);
  amx::load<6>(operands + 2 * kTileElements);
  amx::load<7>(operands + 3 * kTileElements);
}

template <bool fed>
void peak(std::int64_t products) {
  const amx::TileScope tiles;
  alignas(64) std::uint16_t operands[4 * kTileElements];
  for (auto& x : operands) x = 0x3c01;  // small normal values, so that sums stay finite
  amx::zero<0>();
  amx::zero<1>();
  amx::zero<2>();
  amx::zero<3>();
  load_operands(operands);
  for (std::int64_t i = 0; i < products; i += 8) {
    if (fed) load_operands(operands);
    multiply_block();
    if (fed) load_operands(operands);
    multiply_block();
  }
}

}  // namespace

void amx_peak(std::int64_t products) noexcept {
  peak<false>(products);
}

void amx_fed_peak(std::int64_t products) noexcept {
  peak<true>(products);
}

}  // namespace stepwell::kernels
