// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/table.hpp"

/// The reference loop of every kernel: the oracle for the tests. Each function sets the table's
/// entries of its family.
namespace stepwell::kernels {

void fill_reference_update(Table& t);
void fill_reference_pack(Table& t);
void fill_reference_leaf(Table& t);
void fill_reference_panel(Table& t);
void fill_reference_product(Table& t);
void fill_reference_exact(Table& t);
void fill_reference_solve(Table& t);
void fill_reference_load(Table& t);
void fill_reference_column_sizes(Table& t);
void fill_reference_rotate(Table& t);
void fill_reference_batch(Table& t);
void fill_reference_batch_residual(Table& t);

// The other versions call these for packs with missing or failed systems.
template <class T>
void reference_batch_load(BatchMatrices<const T> a, Triangle triangle, BatchPack<T> p) noexcept;
template <class T>
void reference_batch_store(BatchPack<T> p, BatchMatrices<T> a, Triangle triangle, bool both,
                           const std::int32_t* pivots) noexcept;
template <class T>
void reference_batch_load_columns(BatchMatrices<const T> b, BatchPack<T> p) noexcept;
template <class T>
void reference_batch_store_columns(BatchPack<T> p, BatchMatrices<T> b,
                                   const std::int32_t* pivots) noexcept;
void fill_reference_gather_gram(Table& t);
void fill_reference_residues(Table& t);

}  // namespace stepwell::kernels
