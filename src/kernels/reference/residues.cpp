// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "kernels/reference/reference.hpp"
#include "kernels/residue_constants.hpp"

namespace stepwell::kernels {
namespace {

std::int64_t modulus(int plane) {
  return kModuli[static_cast<std::size_t>(plane)];
}

/// 'number' is X of each element of the operand; padding is zero.
template <class Number>
void fill(ResiduesOut out, const Number& number) {
  for (std::int64_t k = 0; k < out.depth_blocks() * kResidueDepth; ++k) {
    for (std::int64_t i = 0; i < out.panels() * kResiduePanel; ++i) {
      const std::int64_t x = i < out.rows && k < out.depth ? number(i, k) : 0;
      for (int p = 0; p < out.planes; ++p) {
        out.at(p, 0, 0)[out.offset(i, k)] = static_cast<std::int8_t>(residue(x, modulus(p)));
      }
    }
  }
}

void to_residues(MatrixView<double> x, Shape shape, ResiduesOut out) noexcept {
  fill(out, [&](std::int64_t i, std::int64_t k) -> std::int64_t {
    if (shape == Shape::lower && i < k) return 0;
    const std::int64_t number = std::llrint(0x1p54 * x(i, k));
    x(i, k) = 0x1p-54 * static_cast<double>(number);
    return number;
  });
}

void scaled_to_residues(MatrixView<const double> x, const double* scale, ResiduesOut out) noexcept {
  fill(out, [&](std::int64_t i, std::int64_t k) -> std::int64_t {
    const double element = out.order == ResidueOrder::quads ? x(i, k) : x(k, i);
    const double scaled = scale == nullptr ? element : element * scale[i];
    return std::isfinite(scaled) ? std::llrint(0x1p54 * scaled) : 0;
  });
}

void update(const ResidueUpdate& u) noexcept {
  const std::int64_t rows = core::round_up(u.sums.rows, 32);
  const std::int64_t cols = core::round_up(u.sums.cols, 32);
  std::int8_t* const sums = u.sums.at(u.plane, 0, 0);
  for (std::int64_t j = 0; j < cols; ++j) {
    for (std::int64_t i = u.shape == Shape::lower ? j / 32 * 32 : 0; i < rows; ++i) {
      std::int8_t& r = sums[u.sums.offset(i, j)];
      std::int64_t sum = u.first ? 0 : r;
      for (const ResidueFactors& f : u.products) {
        for (std::int64_t k = 0; k < f.a.depth_blocks() * kResidueDepth; k += kResidueDepth) {
          const std::int8_t* const a = f.a.at(u.plane, 0, 0) + f.a.offset(i, k);  // quads
          const std::int8_t* const b = f.b.at(u.plane, 0, 0) + f.b.offset(j, k);  // rows
          std::int32_t block = 0;
          for (int c = 0; c < kResidueDepth; ++c) block += a[c / 4 * 64 + c % 4] * b[c];
          sum += block;
        }
      }
      r = static_cast<std::int8_t>(residue(sum, modulus(u.plane)));
    }
  }
}

/// The three parts of a number modulo M, and the multiple of M that was subtracted.
struct Parts {
  double high = 0, middle = 0, low = 0, multiple = 0;
};
template <class ResidueOfPlane>
Parts parts_of(const Reconstruction& c, const ResidueOfPlane& residue_of) {
  Parts s;
  for (int q = 0; q < c.pairs(); ++q) {
    const PairConstants& pair = c.pair[static_cast<std::size_t>(q)];
    std::int32_t v = residue_of(2 * q) * static_cast<std::int32_t>(pair.a);
    if (2 * q + 1 < c.planes) v += residue_of(2 * q + 1) * static_cast<std::int32_t>(pair.b);
    s.high = std::fma(v, pair.w[0], s.high);
    s.middle = std::fma(v, pair.w[1], s.middle);
    s.low = std::fma(v, pair.w[2], s.low);
  }
  const double multiple = std::nearbyint(s.high * c.inverse);
  return {std::fma(-multiple, c.m[0], s.high), std::fma(-multiple, c.m[1], s.middle),
          std::fma(-multiple, c.m[2], s.low), multiple};
}

/// Whether the residues of four numbers from column k on agree with them.
bool numbers_agree(const ResiduesIn& x, std::int64_t i, std::int64_t k,
                   MatrixView<double> numbers) {
  for (int p = kNumberPlanes; p < kVerifiedPlanes; ++p) {
    std::int64_t f = 0;
    for (std::int64_t t = 0; t < kCheckedColumns; ++t) {
      const std::int64_t number =
          k + t < numbers.cols ? std::llrint(0x1p54 * numbers(i, k + t)) : 0;
      f += check_weight(t) * (number - x.at(p, 0, 0)[x.offset(i, k + t)]);
    }
    if (f % modulus(p) != 0) return false;
  }
  return true;
}

std::int64_t from_residues(ResiduesIn x, MatrixView<double> out) noexcept {
  for (std::int64_t k = 0; k < out.cols; ++k) {
    for (std::int64_t i = 0; i < out.rows; ++i) {
      const auto place = x.offset(i, k);
      const Parts s = parts_of(kNumbers, [&](int p) { return x.at(p, 0, 0)[place]; });
      out(i, k) = s.high + s.middle;
    }
  }
  std::int64_t wrong = 0;
  if (x.planes != kVerifiedPlanes) return wrong;
  for (std::int64_t k = 0; k < out.cols; k += kCheckedColumns) {
    for (std::int64_t i = 0; i < out.rows; ++i) wrong += numbers_agree(x, i, k, out) ? 0 : 1;
  }
  return wrong;
}

/// Four columns of a row of sums: what the redundant residues are compared with.
class RedundantSum {
 public:
  template <class ResidueOfPlane>
  void add(std::int64_t t, const Parts& s, const ResidueOfPlane& residue_of) {
    sum_ -= static_cast<std::int64_t>(s.multiple * kRedundant.m[static_cast<std::size_t>(t)]);
    for (int p = 0; p < kVerifiedPlanes; ++p) {
      const std::uint32_t c = kRedundant.c[static_cast<std::size_t>(p)] >> (8 * t) & 255U;
      sum_ += residue_of(p) * static_cast<std::int32_t>(c);
    }
    if (!(std::fabs(s.high) <= kLargestSum)) inside_ = false;
  }
  bool agrees() const { return inside_ && sum_ % modulus(kResiduePlanes) == 0; }

 private:
  std::int64_t sum_ = 0;
  bool inside_ = true;
};

std::int64_t subtract_sums(ResidueSums sums, Shape shape, SumScales scales,
                           MatrixView<double> t) noexcept {
  const bool checked = sums.planes == kVerifiedPlanes && !scales.wide;
  std::int64_t wrong = 0;
  for (std::int64_t group = 0; group < t.cols; group += kCheckedColumns) {
    const std::int64_t end = std::min(group + kCheckedColumns, t.cols);
    for (std::int64_t i = shape == Shape::lower ? group : 0; i < t.rows; ++i) {
      RedundantSum together;
      bool right = true;
      for (std::int64_t j = group; j < end && (shape == Shape::full || j <= i); ++j) {
        const auto residue_of = [&, place = sums.offset(i, j)](int p) -> std::int32_t {
          return sums.at(p, 0, 0)[place];
        };
        const Parts s = parts_of(scales.wide ? kWideSums : kSums, residue_of);
        if (checked && shape == Shape::lower) {
          RedundantSum alone;
          alone.add(j - group, s, residue_of);
          right = right && alone.agrees();
        } else if (checked) {
          together.add(j - group, s, residue_of);
        }
        const double scale = (scales.rows == nullptr ? 1 : scales.rows[i]) *
                             (scales.cols == nullptr ? 1 : scales.cols[j]);
        const double high = std::fma(-s.high, scale, t(i, j));
        t(i, j) = std::fma(-s.low, scale, std::fma(-s.middle, scale, high));
      }
      if (!right || !together.agrees()) ++wrong;
    }
  }
  return wrong;
}

/// sum of x_ik y_jk, k < j: the groups of kFusedTerms, one after the other.
double fused_sum(MatrixView<const double> x, std::int64_t i, MatrixView<const double> y,
                 std::int64_t j) {
  double total = 0;
  for (std::int64_t k = 0; k < j;) {
    double sum = 0;
    for (const std::int64_t end = std::min(k + kFusedTerms, j); k < end; ++k) {
      sum = std::fma(x(i, k), y(j, k), sum);
    }
    total += sum;
  }
  return total;
}

Pivot potrf(MatrixView<double> a) noexcept {
  for (std::int64_t j = 0; j < a.rows; ++j) {
    double reciprocal = 0;
    for (std::int64_t i = j; i < a.rows; ++i) {
      const double value = a(i, j) - fused_sum(a, i, a, j);
      if (i > j) {
        a(i, j) = value * reciprocal;
        continue;
      }
      if (!(value > 0) || !std::isfinite(value)) return {j, value};
      a(j, j) = std::sqrt(value);
      reciprocal = 1 / a(j, j);
    }
  }
  return {};
}

void trsm(MatrixView<const double> l, MatrixView<double> b) noexcept {
  for (std::int64_t j = 0; j < l.rows; ++j) {
    const double reciprocal = 1 / l(j, j);
    for (std::int64_t i = 0; i < b.rows; ++i) {
      b(i, j) = (b(i, j) - fused_sum(b, i, l, j)) * reciprocal;
    }
  }
}

}  // namespace

void fill_reference_residues(Table& t) {
  constexpr auto isa = core::Isa::reference;
  t.residues = {{&to_residues, "to_residues_reference", isa},
                {&scaled_to_residues, "scaled_to_residues_reference", isa},
                {&from_residues, "from_residues_reference", isa},
                {&update, "residue_update_reference", isa},
                {&subtract_sums, "subtract_sums_reference", isa},
                {&potrf, "potrf_fused_reference", isa},
                {&trsm, "trsm_fused_reference", isa}};
}

}  // namespace stepwell::kernels
