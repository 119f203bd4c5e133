// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/table.hpp"

// The targets that Highway compiles; include this header before any of Highway's. On x86 the static
// target must not be plain x86-64, for which Highway has scalars only: there the reference loops
// are used. The kernels keep arrays of vectors, which SVE's sizeless types forbid, so ARM uses
// NEON. The sanitizers' build has no SSE4 (STEPWELL_WITHOUT_SSE4): a third of its time to compile.
#if defined(__x86_64__) && !defined(HWY_BASELINE_TARGETS)
#if defined(STEPWELL_WITHOUT_SSE4)
#define HWY_BASELINE_TARGETS HWY_AVX2
#else
#define HWY_BASELINE_TARGETS HWY_SSE4
#endif
#endif
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif

// Highway's assertions are in its library; its headers are all that is used here.
#ifndef HWY_IS_DEBUG_BUILD
#define HWY_IS_DEBUG_BUILD 0
#endif

/// SIMD kernels from one source for every width (Google Highway): each function overrides the
/// table's entries of its family with those compiled for 'isa' (baseline, avx2 or avx512).
namespace stepwell::kernels {

void fill_portable_update(core::Isa isa, Table& t);          ///< update at the bf16 rungs and fp16
void fill_portable_pack(core::Isa isa, Table& t);            ///< pack, unpack, reorder
void fill_portable_pack_columns(core::Isa isa, Table& t);    ///< pack_columns
void fill_portable_small_update(core::Isa isa, Table& t);    ///< C -= A B' without packing
void fill_portable_leaf(core::Isa isa, Table& t);            ///< potrf, trsm, invert leaves
void fill_portable_fused_leaf(core::Isa isa, Table& t);      ///< residues: potrf, trsm
void fill_portable_panel(core::Isa isa, Table& t);           ///< getrf leaf, transpose
void fill_portable_residue_update(core::Isa isa, Table& t);  ///< residues: update
void fill_portable_product(core::Isa isa, Table& t);         ///< product, symmetric_, split_product
void fill_portable_rounded(core::Isa isa, Table& t);         ///< rounded_product, round
void fill_portable_blocked(core::Isa isa, Table& t);         ///< blocked_product
void fill_portable_exact(core::Isa isa, Table& t);           ///< exact_product
void fill_portable_solve(core::Isa isa, Table& t);           ///< packed_product, tile_product
void fill_portable_trsv(core::Isa isa, Table& t);            ///< block_vectors, trsv_block
void fill_portable_column_sizes(core::Isa isa, Table& t);    ///< column_sizes
void fill_portable_rotate(core::Isa isa, Table& t);          ///< rotate
void fill_portable_batch_move(core::Isa isa, Table& t);      ///< batch: load, store
void fill_portable_batch_factor(core::Isa isa, Table& t);    ///< batch: factor
void fill_portable_batch_solve(core::Isa isa, Table& t);     ///< batch: forward, backward
void fill_portable_batch_residual(core::Isa isa, Table& t);  ///< batch: norm, residual
void fill_portable_load(core::Isa isa, Table& t);            ///< load
void fill_portable_gather_gram(core::Isa isa, Table& t);     ///< gather_gram

}  // namespace stepwell::kernels
