// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <functional>

#include "batched/batch_fixture.hpp"
#include "batched/refusal.hpp"

/// Arguments that the entry points refuse, and empty batches that they accept.
namespace stepwell::test {
namespace {

constexpr auto kWrong = ErrorCode::invalid_argument;

TEST(BatchMisuse, OfTheMatrices) {
  Plain<double> a = definite<double>(10, 4, 61);
  const auto refuse = [&](ErrorCode code, const std::string& text,
                          const std::function<void(BatchView<double>&)>& spoil) {
    BatchView<double> bad = a.view();
    spoil(bad);
    Plain<double> b(10, 4, 1);
    expect_refusal(code, text, [&] { (void)batch_cholesky(bad); });
    expect_refusal(code, text, [&] { (void)batch_factor_solve(bad, b.view()); });
  };
  refuse(kWrong, "null", [](auto& v) { v.data = nullptr; });
  refuse(kWrong, "negative", [](auto& v) { v.count = -1; });
  refuse(kWrong, "negative", [](auto& v) { v.rows = -1; });
  refuse(kWrong, "square", [](auto& v) { v.cols = 3; });
  refuse(kWrong, "leading dimension", [](auto& v) { v.ld = 3; });
  refuse(kWrong, "stride", [](auto& v) { v.stride = 15; });
  refuse(kWrong, "lanes", [](auto& v) { v.lanes = -1; });
  refuse(kWrong, "solve_spd", [](auto& v) {
    v.rows = v.cols = v.ld = kBatchOrder + 1;
    v.stride = v.ld * v.ld;
  });
  refuse(ErrorCode::too_large, "", [](auto& v) { v.ld = std::int64_t{1} << 62; });
  std::vector<double*> pointers(10, a[0]);
  pointers[7] = nullptr;
  refuse(kWrong, "7", [&](auto& v) { v = batch(pointers.data(), 10, 4, 4, 4); });
  refuse(kWrong, "both pointers and lanes", [&](auto& v) {
    v.pointers = pointers.data();
    v.lanes = 4;
  });
}

TEST(BatchMisuse, OfTheRightHandSides) {
  Plain<float> a = definite<float>(10, 4, 62);
  const auto refuse = [&](const std::string& text, BatchView<float> b) {
    expect_refusal(kWrong, text, [&] { (void)batch_solve(std::as_const(a).view(), b); });
    expect_refusal(kWrong, text, [&] { (void)batch_factor_solve(a.view(), b); });
    expect_refusal(kWrong, text, [&] { (void)batch_substitute(std::as_const(a).view(), b); });
  };
  Plain<float> b(10, 4, 2);
  refuse("null", batch<float>(static_cast<float*>(nullptr), 10, 4, 2));
  refuse("right-hand sides", batch(b[0], 9, 4, 2));
  refuse("rows", batch(b[0], 10, 3, 2));
  refuse("stride", batch(b[0], 10, 4, 2, 4, 7));
}

TEST(BatchMisuse, OfOptionsAndOutputs) {
  Plain<float> a = definite<float>(10, 4, 63);
  BatchOptions options;
  options.tuning = BatchTuning{99, 99, 1, 0};
  expect_refusal(kWrong, "tuning", [&] { (void)batch_cholesky(a.view(), options); });
  std::vector<std::int32_t> pivots(9);
  std::vector<double> logs(11);
  expect_refusal(kWrong, "pivots", [&] {
    (void)batch_cholesky(a.view(), {}, {pivots, {}, {}, {}});
  });
  expect_refusal(kWrong, "log_determinants", [&] {
    (void)batch_cholesky(a.view(), {}, {{}, logs, {}, {}});
  });
  expect_refusal(kWrong, "fp64", [] { batch_lanes(Format::bf16); });
}

TEST(BatchMisuse, NothingToDoIsNoMisuse) {
  Plain<float> a = definite<float>(10, 4, 64);
  BatchView<float> none = a.view();
  none.count = 0;
  EXPECT_TRUE(batch_cholesky(none).ok());
  none.data = nullptr;
  EXPECT_TRUE(batch_cholesky(none).ok());
  std::vector<std::int32_t> pivots(10, 5);
  BatchOutputs outputs;
  outputs.pivots = pivots;
  EXPECT_TRUE(batch_cholesky(batch(a[0], 10, 0, 0), {}, outputs).ok());
  EXPECT_EQ(pivots, std::vector<std::int32_t>(10, -1));
  const Plain<float> before = a;
  EXPECT_TRUE(batch_solve(before.view(), batch(a[0], 10, 4, 0)).ok());
  EXPECT_TRUE(same_bits(a[0], before[0], 160));
}

}  // namespace
}  // namespace stepwell::test
