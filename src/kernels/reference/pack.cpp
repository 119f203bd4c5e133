// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/numeric/split.hpp"
#include "kernels/reference/reference.hpp"

namespace stepwell::kernels {
namespace {

double scaled(double x, std::int64_t i, std::int64_t j, Scales s) {
  if (s.row != nullptr) x *= s.row[i];
  if (s.col != nullptr) x *= s.col[j];
  return x;
}

template <class T>
void pack(Rung rung, MatrixView<const T> a, Shape shape, Scales scales, PackedOut out) noexcept {
  for (std::int64_t i = 0; i < out.panels() * kPanel; ++i) {
    for (std::int64_t k = 0; k < out.depth_blocks() * kDepth; ++k) {
      const bool inside = i < a.rows && k < a.cols && (shape == Shape::full || i >= k);
      const core::Terms t =
          inside ? core::split(scaled(a(i, k), i, k, scales), rung) : core::Terms{};
      for (int p = 0; p < out.planes; ++p) out.data[out.offset(i, k, p)] = t.term[p].bits;
    }
  }
}

void pack_columns(Rung rung, MatrixView<const double> a, const double* scale,
                  PackedOut out) noexcept {
  for (std::int64_t j = 0; j < out.panels() * kPanel; ++j) {
    for (std::int64_t k = 0; k < out.depth_blocks() * kDepth; ++k) {
      const bool inside = j < a.cols && k < a.rows;
      const core::Terms t =
          inside ? core::split(scaled(a(k, j), k, j, {nullptr, scale}), rung) : core::Terms{};
      for (int p = 0; p < out.planes; ++p) out.data[out.offset(j, k, p)] = t.term[p].bits;
    }
  }
}

template <class T>
void unpack(PackedIn p, Scales scales, MatrixView<T> out) noexcept {
  for (std::int64_t k = 0; k < out.cols; ++k) {
    for (std::int64_t i = 0; i < out.rows; ++i) {
      core::Terms t{};
      for (int plane = 0; plane < p.planes; ++plane) {
        t.term[plane].bits = p.data[p.offset(i, k, plane)];
      }
      out(i, k) = static_cast<T>(scaled(core::join(t), i, k, scales));
    }
  }
}

void reorder(PackedIn p, PackedOut out) noexcept {
  for (std::int64_t i = 0; i < p.panels() * kPanel; ++i) {
    for (std::int64_t k = 0; k < p.depth_blocks() * kDepth; ++k) {
      for (int plane = 0; plane < p.planes; ++plane) {
        out.data[out.offset(i, k, plane)] = p.data[p.offset(i, k, plane)];
      }
    }
  }
}

}  // namespace

void fill_reference_pack(Table& t) {
  constexpr auto isa = core::Isa::reference;
  t.pack_fp32 = {&pack<float>, "pack_fp32_reference", isa};
  t.pack_fp64 = {&pack<double>, "pack_fp64_reference", isa};
  t.pack_columns = {&pack_columns, "pack_columns_reference", isa};
  t.unpack_fp32 = {&unpack<float>, "unpack_fp32_reference", isa};
  t.unpack_fp64 = {&unpack<double>, "unpack_fp64_reference", isa};
  t.reorder = {&reorder, "reorder_reference", isa};
}

}  // namespace stepwell::kernels
