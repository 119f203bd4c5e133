// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/self_test.hpp"

#include <cmath>
#include <vector>

#include "core/buffer.hpp"
#include "kernels/kernels.hpp"

namespace stepwell::kernels {
namespace {

// Not multiples of a panel, so that tails are tested too.
constexpr std::int64_t kRows = 33;
constexpr std::int64_t kCols = 35;
constexpr std::int64_t kInner = 64;

/// Values in (-1, 1) with a full significand, the same on every machine.
std::vector<double> random_values(std::int64_t count, std::uint64_t seed) {
  std::vector<double> x(static_cast<std::size_t>(count));
  for (double& v : x) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    v = static_cast<double>(static_cast<std::int64_t>(seed) >> 11) * 0x1p-52;
  }
  return x;
}

/// Whether C = 1 - A B' up to the rung's rounding errors, for every element.
template <class T>
bool agrees(MatrixView<const double> a, MatrixView<const double> b, MatrixView<const T> c,
            Rung rung) {
  const RungInfo r = info(rung);
  const double sums = (kInner + 2) * (rung == Rung::fp64 ? 0x1p-53 : 0x1p-24);
  for (std::int64_t j = 0; j < kCols; ++j) {
    for (std::int64_t i = 0; i < kRows; ++i) {
      double exact = 1;
      double size = 1;
      for (std::int64_t k = 0; k < kInner; ++k) {
        exact -= a(i, k) * b(j, k);
        size += std::abs(a(i, k) * b(j, k));
      }
      const double bound = size * (2.02 * r.unit_roundoff + r.product_error + sums);
      if (!(std::abs(c(i, j) - exact) <= bound)) return false;
    }
  }
  return true;
}

bool packed_update_agrees(const Table& t, Rung rung, MatrixView<const double> a,
                          MatrixView<const double> b) {
  const int planes = info(rung).planes;
  const core::Buffer<std::uint16_t> a_data(packed_elements(kRows, kInner, planes));
  const core::Buffer<std::uint16_t> b_data(packed_elements(kCols, kInner, planes));
  const PackedOut pa = packed(a_data.data(), kRows, kInner, rung, Order::pairs);
  const PackedOut pb = packed(b_data.data(), kCols, kInner, rung, Order::rows);
  pack(t, rung, a, pa);
  pack(t, rung, b, pb);
  std::vector<float> c(kRows * kCols, 1.0F);
  const auto view_c = view(c.data(), kRows, kCols);
  update(t, rung, pa, pb, view_c);
  return agrees<float>(a, b, view_c, rung);
}

template <class T>
bool dense_update_agrees(const Table& t, Rung rung, MatrixView<const double> a,
                         MatrixView<const double> b) {
  const std::vector<T> da(a.data, a.data + kRows * kInner);
  const std::vector<T> db(b.data, b.data + kCols * kInner);
  std::vector<T> c(kRows * kCols, T{1});
  const auto view_c = view(c.data(), kRows, kCols);
  update(t, view(da.data(), kRows, kInner), view(db.data(), kCols, kInner), view_c);
  return agrees<T>(a, b, view_c, rung);
}

/// Whether 1 - A B' is what integers give: the numbers have 20 bits, so all digits are exact. The
/// reference loops need no test, and would take a millisecond.
bool residues_agree(const Table& t) {
  if (t.residues.update.isa == core::Isa::reference) return true;
  const std::int64_t size = residue_bytes(kCols, kInner, kResiduePlanes);
  const core::Buffer<std::int8_t> left(size), copy(size), right(size);
  std::vector<double> a = random_values(kRows * kInner, 3), b = random_values(kCols * kInner, 4);
  for (std::vector<double>* x : {&a, &b}) {
    for (double& v : *x) v = 0x1p-23 * std::nearbyint(0x1p20 * v);
  }
  const ResiduesOut qa = residues(left.data(), kRows, kInner, kResiduePlanes, ResidueOrder::quads);
  const ResiduesOut qb = residues(copy.data(), kCols, kInner, kResiduePlanes, ResidueOrder::quads);
  const ResiduesOut rb = residues(right.data(), kCols, kInner, kResiduePlanes, ResidueOrder::rows);
  to_residues(t, view(a.data(), kRows, kInner), qa);
  to_residues(t, view(b.data(), kCols, kInner), qb);
  reorder(t, qb, rb);
  const core::Buffer<std::int8_t> memory(residue_sums_bytes(kRows, kCols, kResiduePlanes));
  const ResidueSums sums = residue_sums(memory.data(), kRows, kCols, kResiduePlanes);
  const ResidueFactors product[] = {{qa, rb}};
  for (int p = 0; p < kResiduePlanes; ++p) update(t, {p, product, sums, Shape::full, true, 0, {}});
  std::vector<double> c(kRows * kCols, 1.0);
  subtract_sums(t, sums, view(c.data(), kRows, kCols));
  for (std::int64_t j = 0; j < kCols; ++j) {
    for (std::int64_t i = 0; i < kRows; ++i) {
      double exact = 1;
      for (std::int64_t k = 0; k < kInner; ++k) exact -= a[k * kRows + i] * b[k * kCols + j];
      if (!(c[j * kRows + i] == exact)) return false;
    }
  }
  return true;
}

}  // namespace

std::string self_test(const Table& t) {
  const std::vector<double> a = random_values(kRows * kInner, 1);
  const std::vector<double> b = random_values(kCols * kInner, 2);
  const auto va = view(a.data(), kRows, kInner);
  const auto vb = view(b.data(), kCols, kInner);
  for (Rung rung : mixable_rungs) {
    const bool ok = rung == Rung::fp64   ? dense_update_agrees<double>(t, rung, va, vb)
                    : rung == Rung::fp32 ? dense_update_agrees<float>(t, rung, va, vb)
                                         : packed_update_agrees(t, rung, va, vb);
    if (!ok)
      return "the numeric self-test failed in the update at rung " + std::string(to_string(rung));
  }
  if (!residues_agree(t)) return "the numeric self-test failed in the update of residues";
  return "";
}

}  // namespace stepwell::kernels
