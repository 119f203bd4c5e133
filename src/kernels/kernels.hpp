// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "core/machine/fp_scope.hpp"
#include "kernels/table.hpp"

/// The kernels as the layers above call them: the table's entry, run in the default floating-point
/// environment. signatures.hpp specifies each kernel.
namespace stepwell::kernels {

inline void update(const Table& t, Rung rung, PackedIn a, PackedIn b, MatrixView<float> c,
                   Shape shape = Shape::full, Write write = Write::subtract,
                   const Next& next = {}) {
  const core::FpScope fp;
  t.update_at(rung).run(rung, a, b, c, shape, write, next);
}

inline void update(const Table& t, MatrixView<const float> a, MatrixView<const float> b,
                   MatrixView<float> c, Shape shape = Shape::full, Write write = Write::subtract) {
  const core::FpScope fp;
  const bool small = std::max(c.rows, c.cols) <= kSmallUpdate;
  (small ? t.small_update_fp32 : t.update_fp32).run(a, b, c, shape, write);
}

inline void update(const Table& t, MatrixView<const double> a, MatrixView<const double> b,
                   MatrixView<double> c, Shape shape = Shape::full, Write write = Write::subtract) {
  const core::FpScope fp;
  const bool small = std::max(c.rows, c.cols) <= kSmallUpdate;
  (small ? t.small_update_fp64 : t.update_fp64).run(a, b, c, shape, write);
}

inline void pack(const Table& t, Rung rung, MatrixView<const float> a, PackedOut out,
                 Shape shape = Shape::full, Scales scales = {}) {
  const core::FpScope fp;
  t.pack_fp32.run(rung, a, shape, scales, out);
}

inline void pack(const Table& t, Rung rung, MatrixView<const double> a, PackedOut out,
                 Shape shape = Shape::full, Scales scales = {}) {
  const core::FpScope fp;
  t.pack_fp64.run(rung, a, shape, scales, out);
}

inline void pack_columns(const Table& t, Rung rung, MatrixView<const double> a, const double* scale,
                         PackedOut out) {
  const core::FpScope fp;
  t.pack_columns.run(rung, a, scale, out);
}
inline void unpack(const Table& t, PackedIn p, MatrixView<float> out, Scales scales = {}) {
  const core::FpScope fp;
  t.unpack_fp32.run(p, scales, out);
}

inline void unpack(const Table& t, PackedIn p, MatrixView<double> out, Scales scales = {}) {
  const core::FpScope fp;
  t.unpack_fp64.run(p, scales, out);
}

inline void reorder(const Table& t, PackedIn p, PackedOut out) {
  t.reorder.run(p, out);
}

inline void transpose(const Table& t, MatrixView<const float> a, MatrixView<float> out) {
  t.transpose_fp32.run(a, out);
}

inline void transpose(const Table& t, MatrixView<const double> a, MatrixView<double> out) {
  t.transpose_fp64.run(a, out);
}

inline void product(const Table& t, MatrixView<const double> a, const Products& p) {
  const core::FpScope fp;
  t.product.run(a, p);
}

inline void product(const Table& t, MatrixView<const float> a, const Products& p) {
  const core::FpScope fp;
  t.rounded_product.run(a, p);
}

inline void round(const Table& t, MatrixView<const double> a, Scales scales,
                  MatrixView<float> out) {
  const core::FpScope fp;
  t.round.run(a, scales, out);
}

inline void symmetric_product(const Table& t, MatrixView<const double> a,
                              MatrixView<const double> x, MatrixView<double> y) {
  const core::FpScope fp;
  t.symmetric_product.run(a, x, y);
}

inline std::uint64_t blocked_product(const Table& t, MatrixView<const double> a,
                                     const Products& p) {
  const core::FpScope fp;
  return t.blocked_product.run(a, p);
}

inline std::uint64_t exact_product(const Table& t, MatrixView<const double> a,
                                   const ExactProducts& p) {
  const core::FpScope fp;
  return t.exact_product.run(a, p);
}

inline std::uint64_t split_product(const Table& t, MatrixView<const double> a,
                                   const SplitProducts& p) {
  const core::FpScope fp;
  return t.split_product.run(a, p);
}

/// A's checksum: the bits of its elements, added as integers modulo 2^64.
inline std::uint64_t checksum(const Table& t, MatrixView<const double> a) {
  return t.exact_product.run(a, {});
}

inline void packed_product(const Table& t, PackedIn l, bool transposed, MatrixView<const float> x,
                           MatrixView<float> y) {
  const core::FpScope fp;
  t.packed_product_fp32.run(l, transposed, x, y);
}

inline void packed_product(const Table& t, PackedIn l, bool transposed, MatrixView<const double> x,
                           MatrixView<double> y) {
  const core::FpScope fp;
  t.packed_product_fp64.run(l, transposed, x, y);
}

inline void tile_product(const Table& t, MatrixView<const float> l, bool transposed,
                         MatrixView<const float> x, MatrixView<float> y) {
  const core::FpScope fp;
  t.tile_product_fp32.run(l, transposed, x, y);
}

inline void tile_product(const Table& t, MatrixView<const float> l, bool transposed,
                         MatrixView<const double> x, MatrixView<double> y) {
  const core::FpScope fp;
  t.tile_product_fp64.run(l, transposed, x, y);
}

inline void column_sizes(const Table& t, MatrixView<const double> a, double* max_abs,
                         double* squares) {
  const core::FpScope fp;
  t.column_sizes.run(a, max_abs, squares);
}

inline void rotate(const Table& t, MatrixView<double> l, MatrixView<double> v, const Rotations& r) {
  const core::FpScope fp;
  t.rotate.run(l, v, r);
}

inline void gather_gram(const Table& t, const GatherGram& args) {
  const core::FpScope fp;
  t.gather_gram.run(args);
}

inline void to_residues(const Table& t, MatrixView<double> x, ResiduesOut out,
                        Shape shape = Shape::full) {
  const core::FpScope fp;
  t.residues.convert.run(x, shape, out);
}

inline void to_residues(const Table& t, MatrixView<const double> x, const double* scale,
                        ResiduesOut out) {
  const core::FpScope fp;
  t.residues.convert_scaled.run(x, scale, out);
}

inline std::int64_t from_residues(const Table& t, ResiduesIn x, MatrixView<double> out) {
  const core::FpScope fp;
  return t.residues.restore.run(x, out);
}

/// From one order to the other: the bytes of a plane move as those of a packed bf16 operand do,
/// and a transpose is its own inverse.
inline void reorder(const Table& t, ResiduesIn x, ResiduesOut out) {
  const std::int64_t depth = x.depth_blocks() * kDepth;
  for (int p = 0; p < x.planes; ++p) {
    reorder(t,
            PackedIn{reinterpret_cast<const std::uint16_t*>(x.at(p, 0, 0)), x.rows, depth,
                     x.panel_stride / 2, 1, Order::pairs},
            PackedOut{reinterpret_cast<std::uint16_t*>(out.at(p, 0, 0)), x.rows, depth,
                      out.panel_stride / 2, 1, Order::rows});
  }
}

inline void update(const Table& t, const ResidueUpdate& args) {
  const core::FpScope fp;
  t.residues.update.run(args);
}

inline std::int64_t subtract_sums(const Table& t, ResidueSums sums, MatrixView<double> out,
                                  Shape shape = Shape::full, SumScales scales = {}) {
  const core::FpScope fp;
  return t.residues.subtract.run(sums, shape, scales, out);
}

inline void load(const Table& t, const LoadArgs& args, Scan& scan) {
  const core::FpScope fp;
  t.load.run(args, scan);
}

}  // namespace stepwell::kernels
