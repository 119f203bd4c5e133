// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/table.hpp"

/// The plain loop of every kernel: the oracle. Each function sets the table's entries of its
/// family.
namespace stepwell::kernels {

void fill_reference_update(Table& t);
void fill_reference_pack(Table& t);
void fill_reference_leaf(Table& t);
void fill_reference_panel(Table& t);
void fill_reference_product(Table& t);
void fill_reference_exact(Table& t);
void fill_reference_solve(Table& t);
void fill_reference_load(Table& t);
void fill_reference_survey(Table& t);
void fill_reference_gather_gram(Table& t);

}  // namespace stepwell::kernels
