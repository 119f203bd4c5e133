// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/table.hpp"

namespace stepwell::kernels {

/// The bf16 update with AVX-512's dot product of bf16 pairs. The other rungs would need three to
/// six dot products where one fp32 product (portable) does the same work.
void fill_avx512_update(Table& t);

void fill_avx512_residues(Table& t);        ///< convert, restore, reorder, subtract
void fill_avx512_residue_update(Table& t);  ///< update

}  // namespace stepwell::kernels
