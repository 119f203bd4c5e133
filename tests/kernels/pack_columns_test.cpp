// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fixture/fixture.hpp"

/// Packing the transpose of a column-major block gives the same as packing a transposed copy, for
/// every instruction set.
namespace stepwell::kernels::test {
namespace {

class PackColumnsTest : public PerIsaAndRung {};
INSTANTIATE_TEST_SUITE_P(Kernels, PackColumnsTest, every_vector_isa_and_packed_rung(),
                         isa_rung_name);

/// Any values: Gaussian ones, arbitrary bit patterns, and the ends of the formats' ranges.
double any_number(Random& random) {
  switch (random.bits() % 8) {
    case 0:
      return std::bit_cast<double>(random.bits());
    case 1:
      return std::ldexp(random.gaussian(), static_cast<int>(random.bits() % 300) - 150);
    case 2:
      return random.bits() % 2 == 0 ? 0.0 : -0.0;
    default:
      return random.gaussian();
  }
}

TEST_P(PackColumnsTest, IsPackingOfTheTranspose) {
  const int planes = info(rung()).planes;
  std::uint64_t turn = 0;
  for (const auto& [m, n] : contract_pairs()) {
    Random random(kSeed + turn);
    SCOPED_TRACE(::testing::Message() << m << " x " << n << " seed " << kSeed << "+" << turn);
    Guarded<double> a(m, n, turn % 3, turn % 4, kNaN<double>);
    a.fill([&](auto, auto) { return any_number(random); });
    std::vector<double> scale;
    for (std::int64_t j = 0; j < n; ++j) {
      scale.push_back(std::ldexp(1.0, static_cast<int>(random.bits() % 40) - 20));
    }
    const double* const factors = turn++ % 2 == 0 ? nullptr : scale.data();
    Dense<double> transpose(n, m);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < m; ++i) transpose(j, i) = a(i, j);
    }
    core::Buffer<std::uint16_t> got(packed_elements(n, m, planes)), expected(got.size());
    std::fill(got.begin(), got.end(), kUnwritten);
    pack(reference_table(), rung(), std::as_const(transpose).view(),
         packed(expected.data(), n, m, rung(), Order::rows), Shape::full, {factors, nullptr});
    pack_columns(table_, rung(), a.view(), factors, packed(got.data(), n, m, rung(), Order::rows));
    for (std::int64_t p = 0; p < got.size(); ++p) {
      ASSERT_EQ(got[p], expected[p]) << "number " << p;
    }
  }
}

TEST_P(PackColumnsTest, FillsABlockOfALargerOperandAndNothingAroundIt) {
  const int planes = info(rung()).planes;
  Random random(kSeed);
  const Dense<double> a = gaussian(64, 32, random);
  core::Buffer<std::uint16_t> large(packed_elements(160, 129, planes));
  core::Buffer<std::uint16_t> alone(packed_elements(32, 64, planes));
  std::fill(large.begin(), large.end(), kUnwritten);
  const PackedOut whole = packed(large.data(), 160, 129, rung(), Order::rows);
  const PackedOut single = packed(alone.data(), 32, 64, rung(), Order::rows);
  pack_columns(table_, rung(), a.view(), nullptr, whole.block(96, 32, 32, 64));
  pack_columns(table_, rung(), a.view(), nullptr, single);
  std::int64_t inside = 0;
  for (std::int64_t j = 0; j < 32; ++j) {
    for (std::int64_t k = 0; k < 64; ++k) {
      for (int p = 0; p < planes; ++p) {
        ASSERT_EQ(large[whole.offset(96 + j, 32 + k, p)], alone[single.offset(j, k, p)]);
        ++inside;
      }
    }
  }
  EXPECT_EQ(std::count(large.begin(), large.end(), kUnwritten), large.size() - inside);
}

TEST_P(PackColumnsTest, ReadsNothingPastTheEndOfItsSource) {
  for (const auto& [m, n] : {std::pair{1, 1}, {31, 33}, {33, 2}, {64, 64}, {5, 70}}) {
    const PageEnd end(m * n * 8);
    core::Buffer<std::uint16_t> out(packed_elements(n, m, info(rung()).planes));
    std::fill(out.begin(), out.end(), kUnwritten);
    pack_columns(table_, rung(), view<const double>(end.as<double>(), m, n), nullptr,
                 packed(out.data(), n, m, rung(), Order::rows));
    EXPECT_EQ(std::count(out.begin(), out.end(), 0), out.size());
  }
}

}  // namespace
}  // namespace stepwell::kernels::test
