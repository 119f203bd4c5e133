// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <sys/mman.h>

#include "kernels/fixture/fixture.hpp"
#include "kernels/recursive.hpp"

/// A leading dimension of ten million puts the last columns of a small matrix beyond 2^31 elements,
/// where 32-bit index arithmetic wraps. The pages between the columns are never touched.
namespace stepwell::kernels::test {
namespace {

constexpr std::int64_t kOrder = 300;
constexpr std::int64_t kHugeLd = 10'000'000;
static_assert(kHugeLd * (kOrder - 1) > (std::int64_t{1} << 31));

/// A kOrder x kOrder matrix with columns far apart; address space is reserved, little memory used.
template <class T>
class FarApart {
 public:
  FarApart() {
    void* const map = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map != MAP_FAILED) data_ = static_cast<T*>(map);
  }
  ~FarApart() {
    if (data_ != nullptr) munmap(data_, bytes());
  }
  FarApart(const FarApart&) = delete;
  FarApart& operator=(const FarApart&) = delete;

  bool ok() const { return data_ != nullptr; }
  MatrixView<T> view() const { return {data_, kOrder, kOrder, kHugeLd}; }
  MatrixView<T> copy_of(const Dense<T>& from) const {
    for (std::int64_t j = 0; j < kOrder; ++j) {
      std::copy_n(&from(0, j), kOrder, view().column(j));
    }
    return view();
  }

 private:
  static std::size_t bytes() { return kHugeLd * kOrder * sizeof(T); }
  T* data_ = nullptr;
};

class HugeStrideTest : public PerIsa {
 protected:
  void SetUp() override {
    PerIsa::SetUp();
    if (IsSkipped()) return;
    if (!far64_.ok() || !far32_.ok()) GTEST_SKIP() << "no address space for 36 GB";
    Random random(11);
    a64_ = gaussian(kOrder, kOrder, random);
    a32_ = Dense<float>::generate(kOrder, kOrder, [&] { return random.gaussian(); });
  }

  FarApart<double> far64_;
  FarApart<float> far32_;
  Dense<double> a64_;
  Dense<float> a32_;
};
INSTANTIATE_TEST_SUITE_P(Kernels, HugeStrideTest, every_isa(), isa_name);

TEST_P(HugeStrideTest, PackingReadsTheSameElements) {
  const std::int64_t count = packed_elements(kOrder, kOrder, 1);
  const core::Buffer<std::uint16_t> near(count), far(count);

  pack(table_, Rung::bf16, a64_.view(),
       packed(near.data(), kOrder, kOrder, Rung::bf16, Order::pairs));
  pack(table_, Rung::bf16, far64_.copy_of(a64_),
       packed(far.data(), kOrder, kOrder, Rung::bf16, Order::pairs));

  EXPECT_TRUE(std::equal(near.begin(), near.end(), far.begin()));
}

TEST_P(HugeStrideTest, LoadingReadsAndWritesTheSameElements) {
  Dense<float> near(kOrder, kOrder);
  Scan near_scan, far_scan;

  LoadArgs args;
  args.a = a64_.view();
  args.out32 = near.view();
  load(table_, args, near_scan);
  args.a = far64_.copy_of(a64_);
  args.out32 = far32_.view();
  load(table_, args, far_scan);

  EXPECT_TRUE(same_bits(near.view(), far32_.view()));
  EXPECT_EQ(near_scan.mid, far_scan.mid);
  EXPECT_EQ(near_scan.max_abs, far_scan.max_abs);
}

TEST_P(HugeStrideTest, UpdatesWriteTheSameSums) {
  const std::int64_t count = packed_elements(kOrder, kOrder, 1);
  const core::Buffer<std::uint16_t> pairs(count), rows(count);
  const PackedOut pa = packed(pairs.data(), kOrder, kOrder, Rung::bf16, Order::pairs);
  const PackedOut pb = packed(rows.data(), kOrder, kOrder, Rung::bf16, Order::rows);
  pack(table_, Rung::bf16, a64_.view(), pa);
  pack(table_, Rung::bf16, a64_.view(), pb);
  const MatrixView<float> far = far32_.copy_of(a32_);

  update(table_, Rung::bf16, pa, pb, a32_.view(), Shape::lower);
  update(table_, Rung::bf16, pa, pb, far, Shape::lower);

  EXPECT_TRUE(same_bits(a32_.view(), far));
}

TEST_P(HugeStrideTest, SymmetricProductsReadTheSameTriangle) {
  const Dense<double> x(a64_);
  Dense<double> near(kOrder, 3), far(kOrder, 3);

  symmetric_product(table_, a64_.view(), x.view().block(0, 0, kOrder, 3), near.view());
  symmetric_product(table_, far64_.copy_of(a64_), x.view().block(0, 0, kOrder, 3), far.view());

  EXPECT_TRUE(same_bits(near.view(), far.view()));
}

// The trailing updates use CBLAS, which may sum in another order: the difference is compared at the
// scale of the residual. With diagonal 2 and a spread of at most 1 the condition number of the
// factor is below 3.
TEST_P(HugeStrideTest, FactorsAreTheSame) {
  for (std::int64_t j = 0; j < kOrder; ++j) {
    for (std::int64_t i = 0; i < kOrder; ++i) {
      a64_(i, j) = i == j ? 2 : std::cos(static_cast<double>(i + j)) / kOrder;
    }
  }
  const MatrixView<double> far = far64_.copy_of(a64_);
  const core::Buffer<std::byte> scratch(tree_scratch(kOrder));
  const Layers layers = uniform_layers(Rung::fp64);

  ASSERT_TRUE(tree_potrf(table_, a64_.view(), layers, scratch.data()).ok());
  ASSERT_TRUE(tree_potrf(table_, far, layers, scratch.data()).ok());

  for (std::int64_t j = 0; j < kOrder; ++j) {
    for (std::int64_t i = j; i < kOrder; ++i) {
      ASSERT_TRUE(std::abs(a64_(i, j) - far(i, j)) <= 2 * kOrder * kU64) << i << ", " << j;
    }
  }
}

}  // namespace
}  // namespace stepwell::kernels::test
