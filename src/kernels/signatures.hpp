// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "kernels/layout.hpp"
#include "stepwell/rung.hpp"
#include "stepwell/view.hpp"

/// What each kernel does: the contract that the reference loop states and every other version
/// keeps. Kernels allocate nothing, start no threads and throw nothing; they use less than 48 KiB
/// of stack.
namespace stepwell::kernels {

/// Which part of C is written. 'lower' leaves every element with i < j as it is.
enum class Shape : unsigned char { full, lower };

/// What is done with the product P: C -= P, or C = P.
enum class Write : unsigned char { subtract, assign };

/// The operands of the next call: their beginning is fetched into L2 meanwhile. Either may be
/// empty.
struct Next {
  PackedIn a;
  PackedIn b;
};

/// C -= A B' (or C = A B') at a rung with planes. A: m x k in pairs order; B: n x k in rows order,
/// both with at least the rung's planes; C: m x n fp32.
/// Sums are fp32; the order of summation depends on k alone, so a block of C is the same whether it
/// is computed with its neighbours or without. Subnormal bf16 operands may count as zero.
/// Cost 2mnk products of bf16 per rung product.
using UpdateFn = void(Rung rung, PackedIn a, PackedIn b, MatrixView<float> c, Shape shape,
                      Write write, const Next& next) noexcept;

/// The same for plain fp32 or fp64 operands: A m x k, B n x k, C m x n, all column-major.
template <class T>
using DenseUpdateFn = void(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                           Shape shape, Write write) noexcept;

/// Scale factors of rows and columns, powers of two as a rule; null means one.
struct Scales {
  const double* row = nullptr;
  const double* col = nullptr;
};

/// Packs diag(row) A diag(col) at 'rung' into out (out.rows x out.depth as A, either order),
/// padding included. Each product with the scales is rounded to fp64 once, then split exactly as
/// core::split does: all versions give the same bits. shape lower takes elements above the diagonal
/// as zero without reading them.
template <class T>
using PackFn = void(Rung rung, MatrixView<const T> a, Shape shape, Scales scales,
                    PackedOut out) noexcept;

/// Packs the transpose of A diag(scale) at 'rung' into out, in rows order, padding included:
/// out.rows is A's columns, out.depth its rows. Rounded as by PackFn. scale: null means ones; its
/// numbers are positive.
using PackColumnsFn = void(Rung rung, MatrixView<const double> a, const double* scale,
                           PackedOut out) noexcept;

/// The reverse: out = diag(row) P diag(col), the terms summed in fp64, then rounded to T.
template <class T>
using UnpackFn = void(PackedIn p, Scales scales, MatrixView<T> out) noexcept;

/// Copies a packed operand into the other order; out has p's shape and planes.
using ReorderFn = void(PackedIn p, PackedOut out) noexcept;

/// The failing pivot of a factorization.
struct Pivot {
  std::int64_t index = -1;  ///< -1: none failed
  double value = 0;         ///< what should have been positive (NaN included)
  bool ok() const { return index < 0; }
};

/// A leaf of the recursions has at most this order.
inline constexpr std::int64_t kLeaf = 64;

/// Lower Cholesky factor of the n x n matrix A, n <= kLeaf, in place; the strict upper triangle is
/// not touched. Stops at the first pivot that is not a positive finite number and reports it; the
/// columns before it hold L.
template <class T>
using PotrfLeafFn = Pivot(MatrixView<T> a) noexcept;

/// B <- B L^-T, B m x n, L n x n lower, n <= kLeaf.
template <class T>
using TrsmLeafFn = void(MatrixView<const T> l, MatrixView<T> b) noexcept;

/// W = L^-1, n <= kLeaf; W's strict upper triangle is set to zero. W and L do not overlap.
template <class T>
using InvertLeafFn = void(MatrixView<const T> l, MatrixView<T> w) noexcept;

/// The leaf of a panel's recursion has at most this many columns.
inline constexpr std::int64_t kPanelLeaf = 16;

/// P A = L U for a tall A, m x n with n <= kPanelLeaf and m >= n, in place: L strictly below the
/// diagonal, U on and above it. Column j exchanges row j with row rows[j], the first of those whose
/// element is the largest; rows[j] = j if not 'pivoting'. A pivot that is zero or not finite, or a
/// column with an element that is not finite, ends it: its index, and columns from it on undefined.
template <class T>
using GetrfLeafFn = Pivot(MatrixView<T> a, bool pivoting, std::int64_t* rows) noexcept;

/// out = A', A m x n, out n x m. They do not overlap.
template <class T>
using TransposeFn = void(MatrixView<const T> a, MatrixView<T> out) noexcept;

/// One pass over an FP64 block A (m x n) for any number of vectors:
///   y += A x   if y.data is not null (x: n x r, y: m x r)
///   z += A' w  if z.data is not null (w: m x r, z: n x r)
/// To subtract, negate x or w. With both, A is read once: a symmetric product's off-diagonal block.
struct Products {
  MatrixView<const double> x;
  MatrixView<double> y;
  MatrixView<const double> w;
  MatrixView<double> z;
};
using ProductFn = void(MatrixView<const double> a, const Products& p) noexcept;

/// y += A x for a symmetric n x n FP64 block of which only the lower triangle is read.
using SymmetricProductFn = void(MatrixView<const double> a, MatrixView<const double> x,
                                MatrixView<double> y) noexcept;

/// A block of a blocked product has at most so many rows and columns.
inline constexpr std::int64_t kBlockedRows = 256;
inline constexpr std::int64_t kBlockedColumns = 64;
/// How often a term is rounded in what such a block adds to an element of y, and of z. The addition
/// to the element is one more.
inline constexpr std::int64_t kBlockedDepthY = 8;
inline constexpr std::int64_t kBlockedDepthZ = 12;

/// As ProductFn for a block of at most kBlockedRows x kBlockedColumns, with short chains of
/// products that are added in pairs: the sum that is added to an element errs by at most
/// kBlockedDepthY (of z: kBlockedDepthZ) units of its terms' sizes (Higham 2002, section 4.2),
/// where nothing underflows. Returns A's checksum: the bits of its elements, added as integers
/// modulo 2^64.
using BlockedProductFn = std::uint64_t(MatrixView<const double> a, const Products& p) noexcept;

/// One pass over an FP64 block A (m x n) for one vector, with products and sums in double-double:
///   y + y_low += A x   if y is not null
///   z + z_low += A' w  if z is not null
/// An element of k terms errs by at most 2 (k + 2)^2 2^-106 of the sum of their sizes (Ogita, Rump
/// & Oishi 2005, Proposition 5.5; by 4 (k + 2) 2^-106 as a rule), where nothing over- or
/// underflows. Returns A's checksum, as BlockedProductFn; without y and z it computes nothing else.
struct ExactProducts {
  const double* x = nullptr;
  double* y = nullptr;
  double* y_low = nullptr;
  const double* w = nullptr;
  double* z = nullptr;
  double* z_low = nullptr;
};
using ExactProductFn = std::uint64_t(MatrixView<const double> a, const ExactProducts& p) noexcept;

/// Vectors for a split product: v, its leading digits, and v - head.
struct SplitVectors {
  MatrixView<const double> whole, head, rest;
};

/// One pass over an FP64 block A (m x n) for r vectors, the leading digits of its elements apart:
///   y += head x.head,  y_low += head x.rest + rest x.whole    if y.data is not null
///   z += head' w.head, z_low += head' w.rest + rest' w.whole  if z.data is not null
/// with head = (a + shift) - shift and rest = a - head, both exact: for shift = 1.5 2^52 g and
/// |a| <= 2^50 g, head is the multiple of g nearest to a. y and z are exact if all their products
/// are multiples of one number, of which no sum exceeds 2^53 (Ozaki et al. 2012); the low parts are
/// plain FP64 sums. One of y and z. Returns A's checksum, as BlockedProductFn.
struct SplitProducts {
  const double* shift = nullptr;  ///< of A's columns, or, if shift_of_rows, of its rows
  bool shift_of_rows = false;
  SplitVectors x;
  MatrixView<double> y, y_low;
  SplitVectors w;
  MatrixView<double> z, z_low;
};
using SplitProductFn = std::uint64_t(MatrixView<const double> a, const SplitProducts& p) noexcept;

/// y -= L x (transposed: y -= L' x) for a packed tile in pairs order; vectors are V = float or
/// double and so are the sums. x: depth x r (transposed: rows x r).
template <class V>
using PackedProductFn = void(PackedIn l, bool transposed, MatrixView<const V> x,
                             MatrixView<V> y) noexcept;

/// The same for a plain fp32 tile.
template <class V>
using TileProductFn = void(MatrixView<const float> l, bool transposed, MatrixView<const V> x,
                           MatrixView<V> y) noexcept;

/// What a pass over A found. Sums of squares are kept in three ranges so that none over- or
/// underflows (Blue 1978); combine() and frobenius() are in scan.hpp.
struct Scan {
  double max_abs = 0;  ///< of the finite elements
  double big = 0, mid = 0, small = 0;
  std::int64_t non_finite = 0;  ///< how many
  std::int64_t bad_row = -1;    ///< the first of them in column-major order
  std::int64_t bad_col = -1;
  double asymmetry = 0;  ///< max |a_ij - mirror_ji|, over finite pairs
  std::int64_t asymmetry_row = -1;
  std::int64_t asymmetry_col = -1;
  std::uint64_t checksum = 0;  ///< the bits of the elements, added as integers modulo 2^64
};

/// max_abs[i] = max_k |a_ik| and squares[i] = sum_k a_ik^2, of each row of A. Where a number is not
/// finite squares[i] is not, and max_abs[i] is undefined. Sums are in the order of k.
using ColumnSizesFn = void(MatrixView<const double> a, double* max_abs, double* squares) noexcept;

/// What to do in one pass over an FP64 tile A of the caller's (m x n), all parts but A optional:
/// out = (row * a) * col, each product rounded to fp64, then rounded to out's format; and what the
/// scan finds of A itself (unscaled). shape lower reads and writes only elements on and below the
/// diagonal.
struct LoadArgs {
  MatrixView<const double> a;
  Shape shape = Shape::full;
  Scales scales;
  MatrixView<float> out32;  ///< one of the two outputs, or neither: then it only scans
  MatrixView<double> out64;
  double* row_sums = nullptr;       ///< row_sums[i] += sum_j |a_ij|
  double* col_sums = nullptr;       ///< col_sums[j] += sum_i |a_ij|
  MatrixView<const double> mirror;  ///< the tile across the diagonal, n x m, to compare with
};
/// 'scan' is added to: start from a default one, or carry it from tile to tile (indices are the
/// tile's own).
using LoadFn = void(const LoadArgs& args, Scan& scan) noexcept;

}  // namespace stepwell::kernels
