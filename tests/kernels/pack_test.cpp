// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>
#include <type_traits>

#include "kernels/fixture/fixture.hpp"

/// Packing, unpacking and reordering: the same bits for every instruction set.
namespace stepwell::kernels::test {
namespace {

/// Values that are hard to round: both formats' limits, ties of every rung, subnormals, non-finite.
std::vector<double> hard_values() {
  std::vector<double> x = {0.0, -0.0, 1, -1, 1e300, -1e300, 1e-300, 0x1p-1074, -0x1p-1074};
  for (double edge : {65504.0, 65519.0, 65520.0, 0x1.fep127, 0x1.fffffep127, 0x1.ffp127, 0x1p-14,
                      0x1p-24, 0x1p-25, 0x1p-126, 0x1p-133, 0x1p-134, 0x1p-149, 0x1p-150}) {
    for (double near : {edge, std::nextafter(edge, 0), std::nextafter(edge, 1e308)}) {
      x.push_back(near);
      x.push_back(-near);
    }
  }
  for (int bit = 7; bit <= 26; ++bit) {  // ties: half a unit in the last place of 1, 2 or 3 terms
    for (double even : {1.0, 1 + 0x1p-7, 1 + 0x1p-10, 1 - 0x1p-16}) {
      const double tie = even + std::ldexp(1.0, -bit);
      for (double near : {tie, std::nextafter(tie, 0), std::nextafter(tie, 2)}) x.push_back(near);
    }
  }
  x.push_back(std::numeric_limits<double>::infinity());
  x.push_back(-std::numeric_limits<double>::infinity());
  x.push_back(kNaN<double>);
  x.push_back(-kNaN<double>);
  x.push_back(std::bit_cast<double>(0x7ff123456789abcdULL));
  return x;
}

/// A matrix of Gaussian and arbitrary values of T with hard ones among them; NaN above the diagonal
/// if 'shape' says that it must not be read.
template <class T>
Guarded<T> source(std::int64_t m, std::int64_t n, Shape shape, std::int64_t pad, Random& random) {
  static const std::vector<double> hard = hard_values();
  Guarded<T> a(m, n, pad, pad % 4, kNaN<T>);
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  a.fill(
      [&](auto, auto) {
        switch (random.bits() % 8) {
          case 0:
            return static_cast<T>(hard[random.bits() % hard.size()]);
          case 1:  // any value, subnormal or NaN with any payload
            return std::bit_cast<T>(static_cast<Bits>(random.bits()));
          case 2:  // a NaN whose payload is below bf16's bits
            return std::bit_cast<T>(
                static_cast<Bits>(std::bit_cast<Bits>(std::numeric_limits<T>::infinity()) |
                                  (random.bits() % 99 + 1)));
          default:
            return static_cast<T>(random.gaussian());
        }
      },
      shape);
  return a;
}

std::vector<double> scale_factors(std::int64_t n, bool powers_of_two, Random& random) {
  std::vector<double> s(n);
  for (double& x : s) {
    x = std::ldexp(powers_of_two ? 1.0 : random.gaussian(),
                   static_cast<int>(random.bits() % 40) - 20);
  }
  return s;
}

class PackTest : public PerIsaAndRung {
 protected:
  int planes() const { return info(rung()).planes; }

  struct Memory {
    core::Buffer<std::uint16_t> elements;
    PackedOut packed;
  };
  Memory memory(std::int64_t m, std::int64_t n, Order order) const {
    Memory x{core::Buffer<std::uint16_t>(packed_elements(m, n, planes())), {}};
    std::fill(x.elements.begin(), x.elements.end(), kUnwritten);
    x.packed = packed(x.elements.data(), m, n, rung(), order);
    return x;
  }

  static ::testing::AssertionResult same_numbers(const Memory& got, const Memory& expected) {
    for (std::int64_t p = 0; p < got.elements.size(); ++p) {
      if (got.elements[p] != expected.elements[p]) {
        return ::testing::AssertionFailure() << std::hex << "number " << p << ": "
                                             << got.elements[p] << ", not " << expected.elements[p];
      }
    }
    return ::testing::AssertionSuccess();
  }

  /// The result that the contract requires, computed with core::split.
  template <class T>
  Memory expected_pack(MatrixView<const T> a, Order order, Shape shape, Scales s) const {
    Memory x = memory(a.rows, a.cols, order);
    std::fill(x.elements.begin(), x.elements.end(), 0);
    for (std::int64_t j = 0; j < a.cols; ++j) {
      for (std::int64_t i = shape == Shape::lower ? j : 0; i < a.rows; ++i) {
        double value = a(i, j);
        if (s.row != nullptr) value *= s.row[i];
        if (s.col != nullptr) value *= s.col[j];
        const core::Terms t = core::split(value, rung());
        for (int p = 0; p < planes(); ++p) x.elements[x.packed.offset(i, j, p)] = t.term[p].bits;
      }
    }
    return x;
  }

  template <class T>
  void expect_pack_is_the_split_of_every_number() {
    std::int64_t turn = 0;
    for (const auto& [m, n] : contract_pairs()) {
      for (Order order : {Order::pairs, Order::rows}) {
        Random random(kSeed + turn);
        const Shape shape = turn / 2 % 2 == 0 ? Shape::full : Shape::lower;
        const bool powers = turn % 3 != 0;
        const std::vector<double> row = scale_factors(m, powers, random);
        const std::vector<double> col = scale_factors(n, powers, random);
        const Scales scales = {turn / 4 % 2 == 0 ? nullptr : row.data(),
                               turn / 8 % 2 == 0 ? nullptr : col.data()};
        SCOPED_TRACE(::testing::Message()
                     << m << " x " << n << " rows order " << int(order) << " lower " << int(shape)
                     << " scales " << turn / 4 % 4 << " seed " << kSeed << "+" << turn);
        constexpr std::array<std::int64_t, 3> pads = {0, 1, 7};
        const Guarded<T> a = source<T>(m, n, shape, pads[turn % 3], random);
        ++turn;
        const MatrixView<const T> view = a.view();
        const Memory expected = expected_pack<T>(view, order, shape, scales);
        const Memory got = memory(m, n, order);
        pack(table_, rung(), view, got.packed, shape, scales);
        ASSERT_TRUE(same_numbers(got, expected));
      }
    }
  }

  template <class T>
  void expect_unpack_reverses_pack() {
    std::int64_t turn = 0;
    for (const auto& [m, n] : contract_pairs()) {
      Random random(kSeed + turn);
      SCOPED_TRACE(::testing::Message() << m << " x " << n << " seed " << kSeed << "+" << turn);
      const Dense<double> x = gaussian(m, n, random);
      const Memory p = memory(m, n, turn % 2 == 0 ? Order::pairs : Order::rows);
      pack(table_, rung(), x.view(), p.packed);
      const Guarded<T> got(m, n, turn % 3, turn % 4), twin(m, n);
      unpack(table_, p.packed, got.view());
      unpack(reference_table(), p.packed, twin.view());
      ASSERT_TRUE(same_bits(got.view(), twin.view()));
      ASSERT_TRUE(got.untouched_outside());
      const double roundoff = info(rung()).unit_roundoff + kRoundoff<T>;
      const double tiny = rung() == Rung::fp16 ? 0x1p-25 : 0;  // below 2^-14 the error is absolute
      ASSERT_TRUE(within(
          got.view(), [&](auto i, auto j) { return x(i, j); },
          [&](auto i, auto j) { return roundoff * std::abs(x(i, j)) + tiny; }));

      const std::vector<double> row = scale_factors(m, true, random);
      const std::vector<double> col = scale_factors(n, true, random);
      const Guarded<T> scaled(m, n, turn % 2, 1);
      unpack(table_, p.packed, scaled.view(), {row.data(), col.data()});
      ASSERT_TRUE(within(
          scaled.view(), [&](auto i, auto j) { return double(got(i, j)) * row[i] * col[j]; },
          [](auto, auto) { return 0.0; }))
          << "powers of two";
      ++turn;
    }
  }

  /// For any bits and any scale factors, only the payload of a NaN may differ.
  template <class T>
  void expect_unpack_agrees_with_the_reference() {
    Random random(kSeed);
    for (const auto& [m, n] : {std::pair{1, 1}, {70, 33}, {33, 70}, {129, 127}}) {
      const Memory p = memory(m, n, random.bits() % 2 == 0 ? Order::pairs : Order::rows);
      for (std::uint16_t& x : p.elements) x = static_cast<std::uint16_t>(random.bits());
      const std::vector<double> row = scale_factors(m, false, random);
      const std::vector<double> col = scale_factors(n, false, random);
      for (const Scales& s :
           {Scales{}, {row.data(), nullptr}, {nullptr, col.data()}, {row.data(), col.data()}}) {
        const Guarded<T> got(m, n, 1, 1), twin(m, n);
        unpack(table_, p.packed, got.view(), s);
        unpack(reference_table(), p.packed, twin.view(), s);
        for (std::int64_t j = 0; j < n; ++j) {
          for (std::int64_t i = 0; i < m; ++i) {
            if (std::isnan(twin(i, j)) && std::isnan(got(i, j))) continue;
            ASSERT_EQ(std::memcmp(&got(i, j), &twin(i, j), sizeof(T)), 0)
                << got(i, j) << " instead of " << twin(i, j) << " at " << i << ", " << j;
          }
        }
        ASSERT_TRUE(got.untouched_outside());
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Kernels, PackTest, every_vector_isa_and_packed_rung(), isa_rung_name);

TEST_P(PackTest, Fp32BecomesTheSplitOfEveryElementWithZeroPadding) {
  expect_pack_is_the_split_of_every_number<float>();
}
TEST_P(PackTest, Fp64BecomesTheSplitOfEveryElementWithZeroPadding) {
  expect_pack_is_the_split_of_every_number<double>();
}
TEST_P(PackTest, UnpackingToFp32ReversesPackingWithinTheRoundoff) {
  expect_unpack_reverses_pack<float>();
}
TEST_P(PackTest, UnpackingToFp64ReversesPackingWithinTheRoundoff) {
  expect_unpack_reverses_pack<double>();
}
TEST_P(PackTest, UnpackingAnyBitsAgreesWithTheReference) {
  expect_unpack_agrees_with_the_reference<float>();
  expect_unpack_agrees_with_the_reference<double>();
}

TEST_P(PackTest, ScalingByPowersOfTwoCommutesWithPacking) {
  if (rung() == Rung::fp16) GTEST_SKIP() << "fp16's range ends within these numbers";
  Random random(kSeed);
  const std::int64_t m = 67, n = 101;
  const Dense<double> x = gaussian(m, n, random);
  const std::vector<double> row = scale_factors(m, true, random);
  const std::vector<double> col = scale_factors(n, true, random);
  Dense<double> scaled = x;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < m; ++i) scaled(i, j) *= row[i] * col[j];
  }
  for (Order order : {Order::pairs, Order::rows}) {
    const Memory fused = memory(m, n, order), before = memory(m, n, order);
    pack(table_, rung(), x.view(), fused.packed, Shape::full, {row.data(), col.data()});
    pack(table_, rung(), std::as_const(scaled).view(), before.packed);
    EXPECT_TRUE(same_numbers(fused, before));
    const Guarded<double> out(m, n), plain(m, n);
    const Memory unscaled = memory(m, n, order);
    pack(table_, rung(), x.view(), unscaled.packed);
    unpack(table_, unscaled.packed, plain.view());
    unpack(table_, fused.packed, out.view());
    EXPECT_TRUE(within(
        out.view(), [&](auto i, auto j) { return plain(i, j) * row[i] * col[j]; },
        [](auto, auto) { return 0.0; }));
  }
}

TEST_P(PackTest, ABlockOfALargerOperandIsFilledAndNothingAroundIt) {
  Random random(kSeed);
  const Dense<double> x = gaussian(64, 32, random);
  for (Order order : {Order::pairs, Order::rows}) {
    const Memory large = memory(160, 129, order), alone = memory(64, 32, order);
    const PackedOut block = large.packed.block(32, 64, 64, 32);
    pack(table_, rung(), x.view(), block);
    pack(table_, rung(), x.view(), alone.packed);
    std::vector<bool> inside(large.elements.size());
    for (std::int64_t i = 0; i < 64; ++i) {
      for (std::int64_t k = 0; k < 32; ++k) {
        for (int p = 0; p < planes(); ++p) {
          const std::int64_t at = large.packed.offset(32 + i, 64 + k, p);
          inside[at] = true;
          ASSERT_EQ(large.elements[at], alone.elements[alone.packed.offset(i, k, p)]);
        }
      }
    }
    for (std::int64_t p = 0; p < large.elements.size(); ++p) {
      ASSERT_TRUE(inside[p] || large.elements[p] == kUnwritten) << "wrote number " << p;
    }
    const Guarded<float> from_block(64, 32, 1), from_alone(64, 32);
    unpack(table_, PackedIn(block), from_block.view());
    unpack(table_, alone.packed, from_alone.view());
    EXPECT_TRUE(same_bits(from_block.view(), from_alone.view()));
  }
}

TEST_P(PackTest, ReorderingMovesEveryElementAndTwiceChangesNothing) {
  Random random(kSeed);
  for (const auto& [m, n] : contract_pairs()) {
    for (Order order : {Order::pairs, Order::rows}) {
      const Order other = order == Order::pairs ? Order::rows : Order::pairs;
      const Memory x = memory(m, n, order), y = memory(m, n, other), back = memory(m, n, order);
      for (std::uint16_t& number : x.elements) number = static_cast<std::uint16_t>(random.bits());
      reorder(table_, x.packed, y.packed);
      reorder(table_, y.packed, back.packed);
      ASSERT_TRUE(same_numbers(back, x)) << m << " x " << n;
      for (std::int64_t i = 0; i < x.packed.panels() * kPanel; ++i) {
        for (std::int64_t k = 0; k < x.packed.depth_blocks() * kDepth; ++k) {
          for (int p = 0; p < planes(); ++p) {
            if (y.elements[y.packed.offset(i, k, p)] != x.elements[x.packed.offset(i, k, p)]) {
              FAIL() << m << " x " << n << " at " << i << ", " << k << ", " << p;
            }
          }
        }
      }
    }
  }
}

TEST_P(PackTest, ReadsNothingPastTheEndOfItsSource) {
  for (const auto& [m, n] : {std::pair{1, 1}, {31, 33}, {47, 5}, {64, 64}, {70, 1}}) {
    const PageEnd end32(m * n * 4), end64(m * n * 8);
    const Memory p32 = memory(m, n, Order::pairs), p64 = memory(m, n, Order::rows);
    pack(table_, rung(), view<const float>(end32.as<float>(), m, n), p32.packed);
    pack(table_, rung(), view<const double>(end64.as<double>(), m, n), p64.packed);
    unpack(table_, p32.packed, view(end32.as<float>(), m, n));
    unpack(table_, p64.packed, view(end64.as<double>(), m, n));
    EXPECT_EQ(end32.as<float>()[m * n - 1], 0);
    EXPECT_EQ(end64.as<double>()[m * n - 1], 0);
  }
}

}  // namespace
}  // namespace stepwell::kernels::test
