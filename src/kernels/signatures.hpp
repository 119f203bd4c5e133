// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "kernels/layout.hpp"
#include "stepwell/rung.hpp"
#include "stepwell/view.hpp"

/// Specification of each kernel: the contract that the reference loop defines and every other
/// version keeps. Kernels do not allocate, start threads or throw; they use less than 48 KiB of
/// stack.
namespace stepwell::kernels {

/// The part of C that is written. 'lower' leaves every element with i < j unchanged.
enum class Shape : unsigned char { full, lower };

/// How the product P is combined with C: C -= P, or C = P.
enum class Write : unsigned char { subtract, assign };

/// The operands of the next call, whose first parts are prefetched into L2 during this call. Either
/// may be empty.
struct Next {
  PackedIn a;
  PackedIn b;
};

/// C -= A B' (or C = A B') at a rung with planes. A: m x k in pairs order; B: n x k in rows order,
/// both with at least the rung's planes; C: m x n fp32.
/// Sums are fp32; the order of summation depends on k alone, so a block of C is the same whether it
/// is computed with its neighbours or without. Subnormal bf16 operands may be treated as zero.
/// Cost: 2mnk flops in bf16 for each product of the rung.
using UpdateFn = void(Rung rung, PackedIn a, PackedIn b, MatrixView<float> c, Shape shape,
                      Write write, const Next& next) noexcept;

/// The same for plain fp32 or fp64 operands: A m x k, B n x k, C m x n, all column-major.
template <class T>
using DenseUpdateFn = void(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                           Shape shape, Write write) noexcept;

/// Largest number of rows and of columns of C for which the operands are not copied.
inline constexpr std::int64_t kSmallUpdate = 256;

/// Scale factors of rows and columns, usually powers of two; null means one.
struct Scales {
  const double* row = nullptr;
  const double* col = nullptr;
};

/// Packs diag(row) A diag(col) at 'rung' into out (out.rows x out.depth as A, either order),
/// padding included. Each product with the scales is rounded to fp64 once, then split exactly as
/// core::split does: all versions give the same bits. With shape lower, elements above the diagonal
/// count as zero and are not read.
template <class T>
using PackFn = void(Rung rung, MatrixView<const T> a, Shape shape, Scales scales,
                    PackedOut out) noexcept;

/// Packs the transpose of A diag(scale) at 'rung' into out, in rows order, padding included:
/// out.rows is the number of columns of A, out.depth the number of its rows. Rounding as in PackFn.
/// scale: null means ones; its elements are positive.
using PackColumnsFn = void(Rung rung, MatrixView<const double> a, const double* scale,
                           PackedOut out) noexcept;

/// The reverse of PackFn: out = diag(row) P diag(col), with the terms summed in fp64, then rounded
/// to T.
template <class T>
using UnpackFn = void(PackedIn p, Scales scales, MatrixView<T> out) noexcept;

/// Copies a packed operand into the other order; out has p's shape and planes.
using ReorderFn = void(PackedIn p, PackedOut out) noexcept;

/// The failing pivot of a factorization.
struct Pivot {
  std::int64_t index = -1;  ///< -1: none failed
  double value = 0;         ///< the pivot that should have been positive (may be NaN)
  bool ok() const { return index < 0; }
};

/// Largest order of a leaf of the recursions.
inline constexpr std::int64_t kLeaf = 64;

/// Lower Cholesky factor of the n x n matrix A, n <= kLeaf, in place; the strict upper triangle is
/// not touched. Stops at the first pivot that is not positive and finite and reports it; the
/// columns before it hold L.
template <class T>
using PotrfLeafFn = Pivot(MatrixView<T> a) noexcept;

/// B <- B L^-T, B m x n, L n x n lower, n <= kLeaf.
template <class T>
using TrsmLeafFn = void(MatrixView<const T> l, MatrixView<T> b) noexcept;

/// Largest order of a leaf that is inverted.
inline constexpr std::int64_t kInvertLeaf = 128;

/// W = L^-1, n <= kInvertLeaf; W's strict upper triangle is set to zero. W and L do not overlap.
template <class T>
using InvertLeafFn = void(MatrixView<const T> l, MatrixView<T> w) noexcept;

/// Largest number of columns of a leaf of the recursion of a panel.
inline constexpr std::int64_t kPanelLeaf = 16;

/// P A = L U for a tall A, m x n with n <= kPanelLeaf and m >= n, in place: L strictly below the
/// diagonal, U on and above it. Step j exchanges row j with row rows[j], the first row that has the
/// largest element of column j; rows[j] = j if not 'pivoting'. Stops at a pivot that is zero or not
/// finite, and at a column with an element that is not finite, and returns its index; the columns
/// from there on are undefined.
template <class T>
using GetrfLeafFn = Pivot(MatrixView<T> a, bool pivoting, std::int64_t* rows) noexcept;

/// out = A', A m x n, out n x m. They do not overlap.
template <class T>
using TransposeFn = void(MatrixView<const T> a, MatrixView<T> out) noexcept;

/// One pass over an FP64 block A (m x n) for any number of vectors:
///   y += A x   if y.data is not null (x: n x r, y: m x r)
///   z += A' w  if z.data is not null (w: m x r, z: n x r)
/// To subtract, negate x or w. With both y and z, A is read only once, as the off-diagonal block of
/// a symmetric product needs it.
struct Products {
  MatrixView<const double> x;
  MatrixView<double> y;
  MatrixView<const double> w;
  MatrixView<double> z;
};
using ProductFn = void(MatrixView<const double> a, const Products& p) noexcept;

/// The same for a block of an fp32 copy of A; vectors and sums are FP64.
using RoundedProductFn = void(MatrixView<const float> a, const Products& p) noexcept;

/// Makes that copy: out = diag(row) A diag(col), each product rounded to fp64 and the result to
/// fp32, as LoadFn does.
using RoundFn = void(MatrixView<const double> a, Scales scales, MatrixView<float> out) noexcept;

/// y += A x for a symmetric n x n FP64 block of which only the lower triangle is read.
using SymmetricProductFn = void(MatrixView<const double> a, MatrixView<const double> x,
                                MatrixView<double> y) noexcept;

/// Largest numbers of rows and columns of a block of a blocked product.
inline constexpr std::int64_t kBlockedRows = 256;
inline constexpr std::int64_t kBlockedColumns = 64;
/// Number of roundings of a term in the sum that such a block adds to an element of y, and of z.
/// Adding the sum to the element is one more rounding.
inline constexpr std::int64_t kBlockedDepthY = 8;
inline constexpr std::int64_t kBlockedDepthZ = 12;

/// As ProductFn for a block of at most kBlockedRows x kBlockedColumns, with short chains of
/// products that are added pairwise: the error of the sum that is added to an element of y is at
/// most kBlockedDepthY (for z: kBlockedDepthZ) unit roundoffs times the sum of the magnitudes of
/// its terms (Higham 2002, section 4.2), if nothing underflows. Returns A's checksum: the bits of
/// its elements, added as integers modulo 2^64.
using BlockedProductFn = std::uint64_t(MatrixView<const double> a, const Products& p) noexcept;

/// One pass over an FP64 block A (m x n) for one vector, with products and sums in double-double:
///   y + y_low += A x   if y is not null
///   z + z_low += A' w  if z is not null
/// The error of an element of k terms is at most 2 (k + 2)^2 2^-106 times the sum of their
/// magnitudes (Ogita, Rump & Oishi 2005, Proposition 5.5; typically 4 (k + 2) 2^-106), if nothing
/// over- or underflows. Returns A's checksum, as BlockedProductFn; without y and z it computes
/// nothing else.
struct ExactProducts {
  const double* x = nullptr;
  double* y = nullptr;
  double* y_low = nullptr;
  const double* w = nullptr;
  double* z = nullptr;
  double* z_low = nullptr;
};
using ExactProductFn = std::uint64_t(MatrixView<const double> a, const ExactProducts& p) noexcept;

/// Vectors for a split product: v, its leading digits (head), and v - head.
struct SplitVectors {
  MatrixView<const double> whole, head, rest;
};

/// One pass over an FP64 block A (m x n) for r vectors, with the leading digits of A's elements
/// handled separately:
///   y += head x.head,  y_low += head x.rest + rest x.whole    if y.data is not null
///   z += head' w.head, z_low += head' w.rest + rest' w.whole  if z.data is not null
/// with head = (a + shift) - shift and rest = a - head, both exact: for shift = 1.5 2^52 g and
/// |a| <= 2^50 g, head is the multiple of g nearest to a. y and z are exact if all their products
/// are multiples of one number and no sum exceeds 2^53 times that number (Ozaki et al. 2012); the
/// low parts are plain FP64 sums. Only one of y and z may be given. Returns A's checksum, as
/// BlockedProductFn.
struct SplitProducts {
  const double* shift = nullptr;  ///< one for each column of A, or for each row if shift_of_rows
  bool shift_of_rows = false;
  SplitVectors x;
  MatrixView<double> y, y_low;
  SplitVectors w;
  MatrixView<double> z, z_low;
};
using SplitProductFn = std::uint64_t(MatrixView<const double> a, const SplitProducts& p) noexcept;

/// y -= L x (transposed: y -= L' x) for a packed tile in pairs order; the vectors and the sums are
/// in V = float or double. x: depth x r (transposed: rows x r).
template <class V>
using PackedProductFn = void(PackedIn l, bool transposed, MatrixView<const V> x,
                             MatrixView<V> y) noexcept;

/// The same for a plain fp32 tile.
template <class V>
using TileProductFn = void(MatrixView<const float> l, bool transposed, MatrixView<const V> x,
                           MatrixView<V> y) noexcept;

/// Unpacks a block of at most kPanel x kPanel elements, padding included, with their terms summed
/// in V: e + k kPanel is column k of a block in pairs order, and row k of one in rows order. e is
/// aligned to 64 bytes.
template <class V>
using BlockVectorsFn = void(PackedIn block, V* e) noexcept;

/// x <- T^-1 x for a triangle T of order n <= kPanel, whose column k is e + k kPanel: lower, or
/// upper if 'backward'. The other triangle may have any finite elements. e is aligned to 64 bytes
/// and overwritten. x: n x r.
template <class V>
using TrsvBlockFn = void(V* e, std::int64_t n, bool backward, MatrixView<V> x) noexcept;

/// Result of a scan of A. Sums of squares are kept in three ranges so that none over- or underflows
/// (Blue 1978); combine() and frobenius() are in scan.hpp.
struct Scan {
  double max_abs = 0;  ///< largest magnitude of the finite elements
  double big = 0, mid = 0, small = 0;
  std::int64_t non_finite = 0;  ///< number of elements that are not finite
  std::int64_t bad_row = -1;    ///< the first such element in column-major order
  std::int64_t bad_col = -1;
  double asymmetry = 0;  ///< max |a_ij - a_ji|, over finite pairs
  std::int64_t asymmetry_row = -1;
  std::int64_t asymmetry_col = -1;
  std::uint64_t checksum = 0;  ///< the bits of the elements, added as integers modulo 2^64
};

/// max_abs[i] = max_k |a_ik| and squares[i] = sum_k a_ik^2, for each row of A, summed in the order
/// of k. If row i has an element that is not finite, squares[i] is not finite and max_abs[i] is
/// undefined.
using ColumnSizesFn = void(MatrixView<const double> a, double* max_abs, double* squares) noexcept;

/// Plane rotations of each column j of L with each column t of V: cosines c[j * v.cols + t] and
/// sines s[j * v.cols + t]; L's columns in ascending or descending order, and V's in ascending
/// order.
struct Rotations {
  const double* c = nullptr;
  const double* s = nullptr;
  bool descending = false;
};
inline constexpr std::int64_t kMostRotated = 64;  ///< columns of V

/// (l_j, v_t) <- (c l_j + s v_t, c v_t - s l_j), with each product and sum rounded: the same bits
/// in all versions. L: m x n, V: m x at most kMostRotated columns. Cost: 6 m n v.cols flop.
using RotateFn = void(MatrixView<double> l, MatrixView<double> v, const Rotations& r) noexcept;

/// One pass over an m x n FP64 tile A of the caller's matrix; everything except A is optional.
/// Writes out = (row * a) * col, with each product rounded to fp64 and the result to out's format,
/// and scans A itself (unscaled). With shape lower, only elements on and below the diagonal are
/// read and written.
struct LoadArgs {
  MatrixView<const double> a;
  Shape shape = Shape::full;
  Scales scales;
  MatrixView<float> out32;  ///< at most one of the two outputs; with neither, A is only scanned
  MatrixView<double> out64;
  double* row_sums = nullptr;  ///< row_sums[i] += sum_j |a_ij|
  double* col_sums = nullptr;  ///< col_sums[j] += sum_i |a_ij|
  /// The n x m tile at the transposed position, to compare with.
  MatrixView<const double> transposed;
};
/// Adds to 'scan': start from a default Scan, or carry it from tile to tile (indices are relative
/// to the tile).
using LoadFn = void(const LoadArgs& args, Scan& scan) noexcept;

}  // namespace stepwell::kernels
