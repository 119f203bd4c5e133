// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fixture/fixture.hpp"

/// A product of depth 4096 keeps the accuracy of its rung, including the rounding of the operands:
/// relative Frobenius error against the fp64 product of the values before packing.
namespace stepwell::kernels::test {
namespace {

constexpr std::int64_t kLong = 4096;
constexpr std::int64_t kChunk = 512;

struct Promise {
  Rung rung;
  double error;
};
// bf16 and fp16: about sqrt(2/3) times the unit roundoff; the others are the rungs' guarantees.
constexpr std::array<Promise, 4> kPromises = {
    Promise{Rung::bf16, 4e-3}, {Rung::fp16, 5e-4}, {Rung::bf16x2, 1e-5}, {Rung::bf16x3, 5e-7}};

class LongProductTest : public PerIsa {
 protected:
  void expect_promises(const Dense<double>& x, const Dense<double>& y) {
    if (kSanitized && GetParam() == core::Isa::reference) GTEST_SKIP() << "slow";
    const std::int64_t m = x.rows, n = y.rows;
    const Product exact = exact_product(x, y);
    for (const auto& [rung, promised] : kPromises) {
      const Operand a = make_operand(x, rung, Order::pairs);
      const Operand b = make_operand(y, rung, Order::rows);
      const Guarded<float> once(m, n), chunks(m, n);
      update(table_, rung, a.packed, b.packed, once.view(), Shape::full, Write::assign);
      chunks.fill([](auto, auto) { return 0; });
      for (std::int64_t k = 0; k < kLong; k += kChunk) {
        update(table_, rung, a.packed.block(0, k, m, kChunk), b.packed.block(0, k, n, kChunk),
               chunks.view());
      }
      chunks.fill([&](auto i, auto j) { return -chunks(i, j); });
      const double in_one_call = relative_frobenius(once.view(), exact.value);
      const double in_chunks = relative_frobenius(chunks.view(), exact.value);
      const std::string name(to_string(rung));
      RecordProperty(name, ::testing::PrintToString(std::pair(in_one_call, in_chunks)));
      EXPECT_TRUE(in_one_call <= promised) << name << " in one call: " << in_one_call;
      EXPECT_TRUE(in_chunks <= promised) << name << " in eight calls: " << in_chunks;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Kernels, LongProductTest, every_vector_isa(), isa_name);

TEST_P(LongProductTest, GaussianElementsKeepTheRungsAccuracy) {
  Random random(kSeed);
  expect_promises(gaussian(64, kLong, random), gaussian(64, kLong, random));
}

TEST_P(LongProductTest, ElementsOfWideRangeKeepTheRungsAccuracy) {
  Random random(kSeed + 1);
  const auto wide = [&] {
    return Dense<double>::generate(64, kLong, [&] { return random.wide(); });
  };
  const Dense<double> x = wide(), y = wide();
  expect_promises(x, y);
}

TEST_P(LongProductTest, AWholeTileKeepsTheRungsAccuracy) {
  for (core::Isa better : core::all_isas) {
    if (better > GetParam() && usable()[static_cast<unsigned>(better)].yes) {
      GTEST_SKIP() << "slow: only for the best instruction set, " << to_string(better);
    }
  }
  if (kSanitized) GTEST_SKIP() << "slow";
  Random random(kSeed + 2);
  expect_promises(gaussian(kChunk, kLong, random), gaussian(kChunk, kLong, random));
}

}  // namespace
}  // namespace stepwell::kernels::test
