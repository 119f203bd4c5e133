// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/pieces.hpp"
#include "kernels/table.hpp"

/// The factorization of a diagonal tile and the solves with it: Algorithms 1-3 of Carrica et al.,
/// all three recursive, built on the table's leaves and updates. T is float or double.
///
/// The caller provides the memory that a function needs: 'scratch' points to at least the number of
/// bytes that the matching *_scratch() returns, aligned to 64. tree_potrf, tree_trsm and tree_syrk
/// need none if all rungs are T's own format or above.
namespace stepwell::kernels {

using core::PieceRunner;

/// The rungs of the off-diagonal products by the depth of the recursion at which they occur: the
/// products of the first split are at rung[0], those of the next at rung[1], ..., all deeper ones
/// at the last rung. Leaves are computed in T. A rung above T's own format counts as T's.
struct Layers {
  std::array<Rung, 8> rung{};
  int count = 1;

  Rung at(int depth) const { return rung[depth < count ? depth : count - 1]; }
};
Layers uniform_layers(Rung rung);

/// How the elements of a factor are rounded to a rung's format. With rounding toward zero the
/// errors of L L' all have the same sign, and a matrix stays positive definite that rounding to
/// nearest makes indefinite.
enum class Rounding : unsigned char { nearest, toward_zero };

/// Truncates the elements of A (on and below the diagonal if shape is lower) to the significant
/// bits that 'rung' stores, so that packing them does not round again (except at fp16 below its
/// normal range). Does nothing for fp32 and finer rungs.
void truncate(MatrixView<float> a, Rung rung, Shape shape);

/// Algorithm 1: A = L L', lower, in place; A's strict upper triangle is neither read nor written.
/// Stops at the first pivot that is not positive and finite and reports its index within A.
/// Cost n^3/3.
template <class T>
Pivot tree_potrf(const Table& t, MatrixView<T> a, const Layers& layers, std::byte* scratch);

/// A = L L' for a tile that is stored at a rung with planes, left-looking by block columns of order
/// kLeaf. A block column takes the products of all earlier ones at the rung, is factored in fp32,
/// and is rounded and packed at once, so that every element is packed once. On exit a holds L
/// before rounding; l the tile, in pairs order; 'rows' its blocks below the diagonal blocks of
/// order kLeaf, in rows order. Stops as tree_potrf does; l and 'rows' are undefined then. Cost
/// n^3/3. Scratch: n kLeaf elements. Several cores may share the rows below a diagonal block, with
/// the same bits.
Pivot packed_potrf(const Table& t, Rung rung, MatrixView<float> a, Rounding rounding, PackedOut l,
                   PackedOut rows, std::byte* scratch, const PieceRunner& share = {});

/// Algorithm 2: B <- B L^-T, B m x n, L n x n lower. Cost m n^2.
template <class T>
void tree_trsm(const Table& t, MatrixView<const T> l, MatrixView<T> b, const Layers& layers,
               std::byte* scratch);

/// Algorithm 3: C <- C - A A', lower, C n x n, A n x k. Cost n^2 k.
template <class T>
void tree_syrk(const Table& t, MatrixView<const T> a, MatrixView<T> c, const Layers& layers,
               std::byte* scratch);

/// X Q = G L' for a wide X, r x m with m >= r: a block row of a matrix that is factored with column
/// exchanges. The lower triangular G replaces the first r columns of X (X is undefined afterwards
/// above their diagonal and in the other columns). L, m x r with a unit diagonal, is written to
/// 'l', whose first r rows are undefined above the diagonal. exchanged[k] is the column that was
/// exchanged with column k: the one with the largest element in row k, or k itself if not
/// 'pivoting'. Recursive by rows down to kPanelLeaf; products of at least kPanelWide rows are at
/// 'rung' (T's own format if the rung is above it), the others in T. Stops where GetrfLeafFn does.
/// Several cores may share what grows with m ('share'): pieces that do not depend on their number,
/// so that the bits do not. Cost m r^2.
template <class T>
Pivot tree_getrf(const Table& t, Rung rung, MatrixView<T> x, MatrixView<T> l, bool pivoting,
                 std::int64_t* exchanged, std::byte* scratch, const PieceRunner& share = {});

/// Below this size, packing the operands takes longer than an fp32 product.
inline constexpr std::int64_t kPanelWide = 128;

/// Bytes of scratch for tree_getrf with r rows.
std::int64_t panel_scratch(std::int64_t r);

/// Bytes of scratch for a tree_* call whose matrices have at most 'order' rows and columns.
std::int64_t tree_scratch(std::int64_t order);

/// W = L with its diagonal blocks of order 'block' (a multiple of 32, at most kInvertLeaf; the last
/// block may be smaller) replaced by their inverses and the strict upper triangle set to zero: the
/// input of solve_inverted. Cost n block^2 / 3.
template <class T>
void invert_diagonal_blocks(const Table& t, MatrixView<const T> l, std::int64_t block,
                            MatrixView<T> w);

/// The same in place: replaces the diagonal blocks of 'rows', which is L in rows order, by the
/// inverses of those of l at 'rung'. Blocks above them are not touched. Scratch: block^2 elements.
/// Several cores may share the blocks.
void invert_diagonal_blocks(const Table& t, Rung rung, MatrixView<const float> l,
                            std::int64_t block, PackedOut rows, std::byte* scratch,
                            const PieceRunner& share = {});

/// B <- B L^-T by multiplication with inverted blocks, plain fp32.
/// w: from invert_diagonal_blocks with the same 'block'. Scratch: m x block elements.
void solve_inverted(const Table& t, MatrixView<const float> w, std::int64_t block,
                    MatrixView<float> b, std::byte* scratch);

/// solve_inverted at a rung with planes, for an off-diagonal tile of the factorization: X = B L^-T
/// rounded to the rung and packed in pairs order into x, which is the tile of L; b holds X before
/// that last rounding. Block column c of X is computed from the rounded block columns before it,
/// the same values that later updates use. w: packed in rows order with at least the rung's planes.
/// Scratch: packed_elements(m, block, planes) x 2 bytes.
void solve_inverted(const Table& t, Rung rung, PackedIn w, std::int64_t block, MatrixView<float> b,
                    PackedOut x, std::byte* scratch, Rounding rounding = Rounding::nearest);

/// x <- L^-1 x, or L^-T x if transposed, with a diagonal tile: packed in pairs order, or plain
/// fp32 or fp64. x: n x r, V float or double. Cost n^2 r.
template <class V>
void tile_trsv(const Table& t, PackedIn l, bool transposed, MatrixView<V> x);
template <class V>
void tile_trsv(const Table& t, MatrixView<const float> l, bool transposed, MatrixView<V> x);
void tile_trsv(const Table& t, MatrixView<const double> l, bool transposed, MatrixView<double> x);

/// y -= L x (transposed: y -= L' x) for a plain fp64 tile, as the table's products do for the other
/// rungs.
void tile_product(const Table& t, MatrixView<const double> l, bool transposed,
                  MatrixView<const double> x, MatrixView<double> y);

}  // namespace stepwell::kernels
