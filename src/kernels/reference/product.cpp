// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <bit>

#include "kernels/reference/reference.hpp"

namespace stepwell::kernels {
namespace {

template <class T>
void product(MatrixView<const T> a, const Products& p) noexcept {
  if (p.y.data != nullptr) {
    for (std::int64_t c = 0; c < p.y.cols; ++c) {
      for (std::int64_t i = 0; i < a.rows; ++i) {
        double sum = 0;
        for (std::int64_t j = 0; j < a.cols; ++j) {
          sum += a(i, j) * p.x(j, c);
        }
        p.y(i, c) += sum;
      }
    }
  }
  if (p.z.data != nullptr) {
    for (std::int64_t c = 0; c < p.z.cols; ++c) {
      for (std::int64_t j = 0; j < a.cols; ++j) {
        double sum = 0;
        for (std::int64_t i = 0; i < a.rows; ++i) {
          sum += a(i, j) * p.w(i, c);
        }
        p.z(j, c) += sum;
      }
    }
  }
}

void round(MatrixView<const double> a, Scales scales, MatrixView<float> out) noexcept {
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const double col = scales.col != nullptr ? scales.col[j] : 1;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      const double row = scales.row != nullptr ? scales.row[i] : 1;
      out(i, j) = static_cast<float>((row * a(i, j)) * col);
    }
  }
}

void symmetric_product(MatrixView<const double> a, MatrixView<const double> x,
                       MatrixView<double> y) noexcept {
  for (std::int64_t c = 0; c < y.cols; ++c) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < a.rows; ++j) {
        sum += (i >= j ? a(i, j) : a(j, i)) * x(j, c);
      }
      y(i, c) += sum;
    }
  }
}

/// The sum of term(k) for k in [begin, end): chains of four terms, added pairwise.
template <class Term>
double pairwise_sum(std::int64_t begin, std::int64_t end, Term term) {
  if (end - begin > 4) {
    const std::int64_t middle = begin + (end - begin) / 2;
    return pairwise_sum(begin, middle, term) + pairwise_sum(middle, end, term);
  }
  double sum = 0;
  for (std::int64_t k = begin; k < end; ++k) sum += term(k);
  return sum;
}

std::uint64_t blocked_product(MatrixView<const double> a, const Products& p) noexcept {
  for (std::int64_t c = 0; p.y.data != nullptr && c < p.y.cols; ++c) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      p.y(i, c) += pairwise_sum(0, a.cols, [&](std::int64_t j) { return a(i, j) * p.x(j, c); });
    }
  }
  for (std::int64_t c = 0; p.z.data != nullptr && c < p.z.cols; ++c) {
    for (std::int64_t j = 0; j < a.cols; ++j) {
      p.z(j, c) += pairwise_sum(0, a.rows, [&](std::int64_t i) { return a(i, j) * p.w(i, c); });
    }
  }
  std::uint64_t checksum = 0;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) checksum += std::bit_cast<std::uint64_t>(a(i, j));
  }
  return checksum;
}

std::uint64_t split_product(MatrixView<const double> a, const SplitProducts& p) noexcept {
  std::uint64_t checksum = 0;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      checksum += std::bit_cast<std::uint64_t>(a(i, j));
      const double shift = p.shift[p.shift_of_rows ? i : j];
      const double head = (a(i, j) + shift) - shift, rest = a(i, j) - head;
      for (std::int64_t c = 0; c < p.y.cols; ++c) {
        p.y(i, c) += head * p.x.head(j, c);
        p.y_low(i, c) += head * p.x.rest(j, c) + rest * p.x.whole(j, c);
      }
      for (std::int64_t c = 0; c < p.z.cols; ++c) {
        p.z(j, c) += head * p.w.head(i, c);
        p.z_low(j, c) += head * p.w.rest(i, c) + rest * p.w.whole(i, c);
      }
    }
  }
  return checksum;
}

}  // namespace

void fill_reference_product(Table& t) {
  t.product = {&product<double>, "product_reference", core::Isa::reference};
  t.rounded_product = {&product<float>, "rounded_product_reference", core::Isa::reference};
  t.round = {&round, "round_reference", core::Isa::reference};
  t.blocked_product = {&blocked_product, "blocked_product_reference", core::Isa::reference};
  t.symmetric_product = {&symmetric_product, "symmetric_product_reference", core::Isa::reference};
  t.split_product = {&split_product, "split_product_reference", core::Isa::reference};
}

}  // namespace stepwell::kernels
