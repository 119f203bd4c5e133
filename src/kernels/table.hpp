// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "core/machine/cpu.hpp"
#include "core/machine/isa.hpp"
#include "kernels/batch.hpp"
#include "kernels/gather_gram.hpp"
#include "kernels/residues.hpp"
#include "kernels/signatures.hpp"

namespace stepwell::kernels {

/// One kernel: the function, its name (operation, instruction set, shape) and the instruction set
/// that it needs.
template <class F>
struct Entry {
  F* run = nullptr;
  const char* name = "";
  core::Isa isa = core::Isa::reference;
};

/// The kernels for batched small systems.
template <class T>
struct BatchEntries {
  int lanes = 1;                       ///< systems in one vector
  std::span<const BatchBlock> blocks;  ///< blocks that 'factor' implements
  Entry<BatchLoadFn<T>> load;
  Entry<BatchStoreFn<T>> store;
  Entry<BatchLoadColumnsFn<T>> load_columns;
  Entry<BatchStoreColumnsFn<T>> store_columns;
  Entry<BatchFactorFn<T>> factor;
  Entry<BatchForwardFn<T>> forward;
  Entry<BatchBackwardFn<T>> backward;
  Entry<BatchNormFn<T>> norm;
  Entry<BatchResidualFn<T>> residual;
};

/// The kernels for matrices in residue numbers.
struct ResidueEntries {
  Entry<ToResiduesFn> convert;
  Entry<ScaledToResiduesFn> convert_scaled;
  Entry<FromResiduesFn> restore;
  Entry<ResidueUpdateFn> update;
  Entry<SubtractSumsFn> subtract;
  /// FP64 leaves in which each element is its old value minus a sum of fused products, in the
  /// order of the columns, times the pivot's reciprocal: the same bits in all versions. The sum
  /// starts from zero, because its roundings are then relative to the sum, which is mostly smaller.
  /// Groups of kFusedTerms products are summed first and then these sums: if all products have one
  /// sign, the error is that of a quarter of them.
  Entry<PotrfLeafFn<double>> potrf;
  Entry<TrsmLeafFn<double>> trsm;
};

/// The kernel of each operation. Filled with the reference loops first and then overridden,
/// instruction set by instruction set: a missing optimized kernel costs speed, never correctness.
struct Table {
  core::Isa cap = core::Isa::reference;  ///< the best instruction set in the table

  std::array<Entry<UpdateFn>, 4> update;  ///< by rung: bf16, bf16x2, bf16x3, fp16
  Entry<DenseUpdateFn<float>> update_fp32;
  Entry<DenseUpdateFn<double>> update_fp64;
  Entry<DenseUpdateFn<float>> small_update_fp32;  ///< of at most kSmallUpdate rows and columns
  Entry<DenseUpdateFn<double>> small_update_fp64;
  Entry<PackFn<float>> pack_fp32;
  Entry<PackFn<double>> pack_fp64;
  Entry<PackColumnsFn> pack_columns;
  Entry<UnpackFn<float>> unpack_fp32;
  Entry<UnpackFn<double>> unpack_fp64;
  Entry<ReorderFn> reorder;
  Entry<PotrfLeafFn<float>> potrf_fp32;
  Entry<PotrfLeafFn<double>> potrf_fp64;
  Entry<TrsmLeafFn<float>> trsm_fp32;
  Entry<TrsmLeafFn<double>> trsm_fp64;
  Entry<InvertLeafFn<float>> invert_fp32;
  Entry<InvertLeafFn<double>> invert_fp64;
  Entry<GetrfLeafFn<float>> getrf_fp32;
  Entry<GetrfLeafFn<double>> getrf_fp64;
  Entry<TransposeFn<float>> transpose_fp32;
  Entry<TransposeFn<double>> transpose_fp64;
  Entry<ProductFn> product;
  Entry<RoundedProductFn> rounded_product;
  Entry<RoundFn> round;
  Entry<SymmetricProductFn> symmetric_product;
  Entry<BlockedProductFn> blocked_product;
  Entry<ExactProductFn> exact_product;
  Entry<SplitProductFn> split_product;
  Entry<PackedProductFn<float>> packed_product_fp32;
  Entry<PackedProductFn<double>> packed_product_fp64;
  Entry<TileProductFn<float>> tile_product_fp32;
  Entry<TileProductFn<double>> tile_product_fp64;
  Entry<BlockVectorsFn<float>> block_vectors_fp32;
  Entry<BlockVectorsFn<double>> block_vectors_fp64;
  Entry<TrsvBlockFn<float>> trsv_block_fp32;
  Entry<TrsvBlockFn<double>> trsv_block_fp64;
  Entry<LoadFn> load;
  Entry<ColumnSizesFn> column_sizes;
  Entry<RotateFn> rotate;
  BatchEntries<float> batch_fp32;
  BatchEntries<double> batch_fp64;
  Entry<GatherGramFn> gather_gram;
  ResidueEntries residues;

  const Entry<UpdateFn>& update_at(Rung rung) const { return update[static_cast<unsigned>(rung)]; }
};

/// The table that this process uses: what the CPU, the operating system, the self-test and
/// STEPWELL_ISA allow. Built at the first call; thread-safe.
const Table& table();

/// The table for an instruction set that usable() reports as usable. It has no kernels above 'cap'.
Table make_table(core::Isa cap);

/// The usability of each instruction set, according to CPUID, XCR0, the operating system and the
/// numeric self-test, in the order of core::all_isas. Ignores STEPWELL_ISA, except that 'amx' is
/// not probed when STEPWELL_ISA excludes it (requesting AMX has side effects).
const std::array<core::Usable, core::all_isas.size()>& usable();

}  // namespace stepwell::kernels
