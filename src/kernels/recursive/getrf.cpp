// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include "kernels/recursive/product.hpp"

namespace stepwell::kernels {
namespace {

Pivot getrf_leaf(const Table& t, MatrixView<float> a, bool pivoting, std::int64_t* rows) {
  return t.getrf_fp32.run(a, pivoting, rows);
}
Pivot getrf_leaf(const Table& t, MatrixView<double> a, bool pivoting, std::int64_t* rows) {
  return t.getrf_fp64.run(a, pivoting, rows);
}

constexpr std::int64_t kWidth = 512;

// Columns of X in a piece of work that cores may share.
constexpr std::int64_t kShared = 512;

// Columns of L whose exchanged elements are fetched ahead.
constexpr std::int64_t kAhead = 4;

template <class T>
class Panel {
 public:
  Panel(const Table& t, Rung rung, MatrixView<T> x, MatrixView<T> l, bool pivoting,
        std::int64_t* exchanged, std::byte* scratch, const PieceRunner& share)
      : t_(t),
        rung_(rung),
        x_(x),
        l_(l),
        pivoting_(pivoting),
        exchanged_(exchanged),
        scratch_(scratch),
        runner_(share) {}

  /// Factors rows first .. first + count, which have been updated with the rows before them.
  Pivot factor(std::int64_t first, std::int64_t count) {
    if (count <= kPanelLeaf) return leaf(first, count);
    const std::int64_t half = core::round_up(count / 2, kPanelLeaf);
    const std::int64_t middle = first + half;
    const std::int64_t rest = x_.cols - middle;
    if (const Pivot pivot = factor(first, half); !pivot.ok()) return pivot;
    const MatrixView<T> g21 = x_.block(middle, first, count - half, half);
    constexpr Rung own = std::is_same_v<T, double> ? Rung::fp64 : Rung::fp32;
    tree_trsm<T>(t_, l_.block(first, first, half, half), g21, uniform_layers(own), scratch_);
    subtract(g21, l_.block(middle, first, rest, half),
             x_.block(middle, middle, count - half, rest));
    return factor(middle, count - half);
  }

 private:
  /// c -= a b'.
  void subtract(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
    if constexpr (std::is_same_v<T, float>) {
      if (info(rung_).planes > 0 && std::min(a.rows, a.cols) >= kPanelWide) {
        return subtract_packed(a, b, c);
      }
    }
    // In blocks that are multiplied without copies of the operands.
    for_pieces(c.cols, kShared, [&](std::int64_t first, std::int64_t count, std::byte*) {
      for (std::int64_t j = first; j < first + count; j += kSmallUpdate) {
        const std::int64_t width = std::min(kSmallUpdate, first + count - j);
        update(t_, a, b.block(j, 0, width, b.cols), c.block(0, j, c.rows, width));
      }
    });
  }

  /// Calls body(first, size, scratch) for the pieces of 'all', which cores may share.
  template <class Body>
  void for_pieces(std::int64_t all, std::int64_t size, const Body& body) {
    const std::int64_t count = (all + size - 1) / size;
    const auto piece = [&](std::int64_t i, std::byte* scratch) {
      body(i * size, std::min(size, all - i * size), scratch);
    };
    core::run_pieces(runner_, count, scratch_, piece);
  }

  /// The same at the rung, kWidth columns of c at a time, so that their operand stays in L2.
  void subtract_packed(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c) {
    const PackedOut left =
        packed(reinterpret_cast<std::uint16_t*>(scratch_), a.rows, a.cols, rung_, Order::pairs);
    const std::int64_t left_elements = packed_elements(a.rows, a.cols, left.planes);
    pack(t_, rung_, a, left);
    for_pieces(c.cols, kWidth, [&](std::int64_t j, std::int64_t width, std::byte* scratch) {
      auto* const memory = reinterpret_cast<std::uint16_t*>(scratch) + left_elements;
      const PackedOut right = packed(memory, width, b.cols, rung_, Order::rows);
      pack(t_, rung_, b.block(j, 0, width, b.cols), right);
      update(t_, rung_, left, right, c.block(0, j, c.rows, width));
    });
  }

  /// Exchanges two columns of X from row 'first' on, in pieces that are copied as vectors.
  void exchange_columns(std::int64_t one, std::int64_t other, std::int64_t first) {
    constexpr std::int64_t kPiece = 128;
    T piece[kPiece];
    for (std::int64_t i = first; i < x_.rows; i += kPiece) {
      const std::int64_t count = std::min(kPiece, x_.rows - i);
      std::copy_n(&x_(i, one), count, piece);
      std::copy_n(&x_(i, other), count, &x_(i, one));
      std::copy_n(piece, count, &x_(i, other));
    }
  }

  /// Exchanges rows of columns [begin, end) of L as the leaf of rows first .. first + count did.
  void exchange_rows(std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t count) {
    for (std::int64_t c = begin; c < end; ++c) {
      for (std::int64_t k = first; k < first + count; ++k) {
        if (c + kAhead < end) __builtin_prefetch(&l_(exchanged_[k], c + kAhead), 1);
        std::swap(l_(k, c), l_(exchanged_[k], c));
      }
    }
  }

  /// s = the transpose of the rows from 'first' on. Each column of X is one cache line, in a page
  /// of its own: the next ones are fetched ahead.
  void read_rows(std::int64_t first, MatrixView<T> s) {
    constexpr std::int64_t kColumns = 64;
    for_pieces(s.rows, 2 * kShared, [&](std::int64_t begin, std::int64_t count, std::byte*) {
      const std::int64_t end = begin + count;
      for (std::int64_t c = begin; c < end; c += kColumns) {
        const std::int64_t width = std::min(kColumns, end - c);
        for (std::int64_t j = c + kColumns; j < std::min(end, c + 2 * kColumns); ++j) {
          __builtin_prefetch(&x_(first, first + j));
        }
        transpose(t_, x_.block(first, first + c, s.cols, width), s.block(c, 0, width, s.cols));
      }
    });
  }

  /// Factors the rows of a leaf as columns of L, where they stay.
  Pivot leaf(std::int64_t first, std::int64_t count) {
    const MatrixView<T> s = l_.block(first, first, l_.rows - first, count);
    read_rows(first, s);
    std::int64_t rows[kPanelLeaf];
    const Pivot pivot = getrf_leaf(t_, s, pivoting_, rows);
    if (!pivot.ok()) return {first + pivot.index, pivot.value};
    for (std::int64_t k = 0; k < count; ++k) exchanged_[first + k] = first + rows[k];
    for_pieces(first, 64, [&](std::int64_t begin, std::int64_t columns, std::byte*) {
      exchange_rows(begin, begin + columns, first, count);
    });
    for (std::int64_t k = first; k < first + count; ++k) {
      if (exchanged_[k] != k) exchange_columns(k, exchanged_[k], first + count);
    }
    for (std::int64_t c = 0; c < count; ++c) {  // U' is the leaf's part of G
      for (std::int64_t k = 0; k <= c; ++k) {
        x_(first + c, first + k) = s(k, c);
        s(k, c) = k == c ? T{1} : T{0};
      }
    }
    return pivot;
  }

  const Table& t_;
  Rung rung_;
  MatrixView<T> x_, l_;
  bool pivoting_;
  std::int64_t* exchanged_;
  std::byte* scratch_;
  const PieceRunner& runner_;
};

}  // namespace

std::int64_t panel_scratch(std::int64_t r) {
  const std::int64_t half = core::round_up((r + 1) / 2, kPanelLeaf);
  return std::max(tree_scratch(r),
                  2 * (packed_elements(half, half, 3) + packed_elements(kWidth, half, 3)));
}

template <class T>
Pivot tree_getrf(const Table& t, Rung rung, MatrixView<T> x, MatrixView<T> l, bool pivoting,
                 std::int64_t* exchanged, std::byte* scratch, const PieceRunner& share) {
  const core::FpScope fp;
  return Panel<T>(t, rung, x, l, pivoting, exchanged, scratch, share).factor(0, x.rows);
}

template Pivot tree_getrf(const Table&, Rung, MatrixView<float>, MatrixView<float>, bool,
                          std::int64_t*, std::byte*, const PieceRunner&);
template Pivot tree_getrf(const Table&, Rung, MatrixView<double>, MatrixView<double>, bool,
                          std::int64_t*, std::byte*, const PieceRunner&);

}  // namespace stepwell::kernels
