// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <sys/mman.h>

#include <cmath>
#include <limits>

#include "core/machine/system.hpp"
#include "factor/fixture.hpp"

/// Inputs that cholesky() accepts, leaves unchanged and refuses.
namespace stepwell::factor::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Address space without memory behind it.
class Promised {
 public:
  explicit Promised(std::size_t bytes) : bytes_(bytes) {
    void* const map = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map != MAP_FAILED) data_ = static_cast<double*>(map);
  }
  ~Promised() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  Promised(const Promised&) = delete;
  Promised& operator=(const Promised&) = delete;
  double* data() const { return data_; }

 private:
  std::size_t bytes_;
  double* data_ = nullptr;
};

class FactorInput : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Maps, FactorInput,
                         ::testing::Values("bf16", "fp16", "fp32", "fp64", "int8x14",
                                           "bf16,bf16x2,fp32", "adaptive:1e-5"));

// A is not written, although it is read again after each breakdown.
TEST_P(FactorInput, IsNotWrittenEvenWhenAttemptsFail) {
  const Dense<double> before = geometric(300, 1e8);
  Dense<double> a(before);
  (void)factor_of(a, options_for(GetParam()));
  EXPECT_TRUE(kernels::test::same_bits(a.view(), before.view()));

  Dense<double> bad = indefinite(300, 150, -9);
  const Dense<double> bad_before(bad);
  (void)factor_of(bad, options_for(GetParam()));
  EXPECT_TRUE(kernels::test::same_bits(bad.view(), bad_before.view()));
}

TEST_P(FactorInput, IsReadInItsLowerTriangleOnly) {
  const std::int64_t n = 300;
  const Dense<double> a = well_conditioned(n);  // NaN above the diagonal
  const Factor expected = factor_of(symmetric_copy(a), options_for(GetParam()));
  EXPECT_TRUE(same_factor(factor_of(a, options_for(GetParam())), expected));
  for (const std::int64_t pad : {1, 5, 64}) {
    kernels::test::Guarded<double> padded(n, n, pad, 3, kNaN);
    padded.fill([&](auto i, auto j) { return a(i, j); });
    EXPECT_TRUE(same_factor(cholesky(padded.view(), options_for(GetParam())), expected)) << pad;
    EXPECT_TRUE(padded.untouched_outside(kernels::Shape::lower));
  }
}

// Columns ten million elements apart: the last ones lie beyond 2^31 elements.
TEST_P(FactorInput, MayHaveColumnsFarApart) {
  const std::int64_t n = 300, ld = 10'000'000;
  const Promised memory(static_cast<std::size_t>(ld) * n * sizeof(double));
  if (memory.data() == nullptr) GTEST_SKIP() << "no address space for 24 GB";
  const Dense<double> a = well_conditioned(n);
  for (std::int64_t j = 0; j < n; ++j) {
    std::copy_n(&a(0, j), n, memory.data() + j * ld);
  }
  const MatrixView<const double> far{memory.data(), n, n, ld};
  EXPECT_TRUE(
      same_factor(cholesky(far, options_for(GetParam())), factor_of(a, options_for(GetParam()))));
}

TEST(FactorMisuse, OfTheMatrixIsExplained) {
  std::vector<double> memory(100, 1.0);
  double* const data = memory.data();
  const auto refuse = [](MatrixView<const double> a) {
    return message_of(ErrorCode::invalid_argument, [&] { (void)cholesky(a); });
  };
  EXPECT_NE(refuse({data, 4, 3, 4}).find("4 x 3"), std::string::npos);
  EXPECT_NE(refuse({data, 4, 4, 3}).find("leading dimension 3"), std::string::npos);
  EXPECT_NE(refuse({data, 0, 0, 0}).find("leading dimension 0"), std::string::npos);
  EXPECT_NE(refuse({nullptr, 4, 4, 4}).find("no data"), std::string::npos);
  EXPECT_NE(refuse({data, -1, -1, 4}).find("-1"), std::string::npos);
  const std::int64_t huge = std::int64_t{1} << 32;
  message_of(ErrorCode::too_large, [&] { (void)cholesky({data, huge, huge, huge}); });
}

TEST(FactorMisuse, OfTheOptionsIsExplained) {
  const Dense<double> a = well_conditioned(10);
  const auto refuse = [&](auto&& change) {
    FactorOptions options;
    change(options);
    return message_of(ErrorCode::invalid_argument, [&] { (void)factor_of(a, options); });
  };
  for (const std::int64_t tile : {-32, -1, 1, 31, 33, 100, 8224}) {
    EXPECT_NE(refuse([&](auto& o) { o.tile = tile; }).find("multiple of 32"), std::string::npos);
  }
  for (const double theta : {0.0, -1.0, 1.5, kNaN, kInfinity}) {
    EXPECT_NE(refuse([&](auto& o) { o.theta = theta; }).find("theta"), std::string::npos);
  }
  for (const double shift : {-1.0, 1e9, kNaN, kInfinity}) {
    EXPECT_NE(refuse([&](auto& o) { o.cholesky.shift = shift; }).find("shift"), std::string::npos);
  }
  EXPECT_NE(refuse([](auto& o) { o.map.layers.clear(); }).find("map"), std::string::npos);
  message_of(ErrorCode::invalid_argument, [] { Context(-1); });
  message_of(ErrorCode::invalid_argument, [] { (void)factor_bytes(-1); });
}

TEST(FactorMisuse, OfTheOutputIsExplained) {
  const Factor factor = factor_of(well_conditioned(10), {});
  std::vector<double> memory(200);
  const auto refuse = [&](const Factor& f, MatrixView<double> l) {
    return message_of(ErrorCode::invalid_argument, [&] { f.copy_to(l); });
  };
  EXPECT_NE(refuse(factor, {memory.data(), 9, 10, 10}).find("10 x 10"), std::string::npos);
  refuse(factor, {memory.data(), 10, 11, 10});
  refuse(factor, {memory.data(), 10, 10, 9});
  refuse(factor, {nullptr, 10, 10, 10});
  const Factor failed = factor_of(indefinite(10, 4, -9), {});
  EXPECT_NE(refuse(failed, {memory.data(), 10, 10, 10}).find("no factor"), std::string::npos);
}

/// The peak address space of this process, in KiB.
std::int64_t peak_kib() {
  std::FILE* const status = std::fopen("/proc/self/status", "r");
  if (status == nullptr) return 0;
  char line[256];
  long long kib = 0;
  while (std::fgets(line, sizeof(line), status) != nullptr) {
    if (std::sscanf(line, "VmPeak: %lld", &kib) == 1) break;
  }
  std::fclose(status);
  return kib;
}

// A factor larger than the machine's memory is refused before it is allocated; only the diagonal of
// the zero matrix is read.
TEST(FactorMemory, ThatIsNotThereIsRefusedBeforehand) {
  const std::int64_t total = core::memory_allowance().total;
  if (total == 0) GTEST_SKIP() << "not known how much there is";
  const auto n = static_cast<std::int64_t>(std::sqrt(static_cast<double>(total) / 4)) + 1000;
  const Promised memory(static_cast<std::size_t>(n) * n * sizeof(double));
  if (memory.data() == nullptr) GTEST_SKIP() << "no address space for the matrix";
  const std::int64_t before = peak_kib();
  const std::string message = message_of(ErrorCode::out_of_memory, [&] {
    (void)cholesky({memory.data(), n, n, n}, options_for("fp64", 512));
  });
  EXPECT_LT(peak_kib() - before, 256 * 1024);
  EXPECT_NE(message.find(std::to_string(n)), std::string::npos) << message;
  EXPECT_NE(message.find("MiB"), std::string::npos) << message;
}

TEST(FactorMemory, IsPredicted) {
  for (const char* map : {"bf16", "bf16x2", "bf16x3", "fp16", "fp32", "fp64", "int8x14", "int8x15",
                          "bf16,bf16x2,fp64"}) {
    for (const std::int64_t n : {0, 1, 100, 129, 700}) {
      for (const int threads : {1, 2, 3}) {
        Context context(threads);
        FactorOptions options = options_for(map);
        options.engine.context = &context;
        const Factor factor = factor_of(well_conditioned(n), options);
        EXPECT_EQ(factor.report().peak_bytes, factor_bytes(n, options)) << map << ", " << n;
        EXPECT_LT(factor.report().bytes, factor.report().peak_bytes);
      }
    }
  }
}

// One off-diagonal tile is zero, so that the map mixes packed tiles with fp64 tiles.
TEST(FactorMemory, OfAnAdaptiveMapIsAtMostThePrediction) {
  Context context(1);
  for (const std::int64_t n : {64, 256, 700}) {
    Dense<double> a = well_conditioned(n);
    for (std::int64_t j = 0; j < std::min<std::int64_t>(n / 2, 64); ++j) {
      for (std::int64_t i = n - std::min<std::int64_t>(n / 2, 64); i < n; ++i) a(i, j) = 0;
    }
    for (const double eps : {1e-2, 1e-4, 1e-7, 1e-10, 1e-15}) {
      FactorOptions options = options_for("bf16");
      options.map.eps = eps;
      options.engine.context = &context;
      const Factor factor = factor_of(a, options);
      EXPECT_LE(factor.report().peak_bytes, factor_bytes(n, options)) << n << ", " << eps;
    }
  }
}

TEST(FactorMemory, OfLIsThatOfItsFormats) {
  const std::int64_t n = 640;  // ten tiles: 55 on and below the diagonal
  const auto bytes = [&](const char* map) {
    return factor_of(well_conditioned(n), options_for(map)).report().bytes;
  };
  EXPECT_EQ(bytes("bf16"), 55 * 64 * 64 * 2);
  EXPECT_EQ(bytes("bf16x2"), 55 * 64 * 64 * 4);
  EXPECT_EQ(bytes("bf16x3"), 55 * 64 * 64 * 6);
  EXPECT_EQ(bytes("fp16"), 55 * 64 * 64 * 4);
  EXPECT_EQ(bytes("fp32"), 55 * 64 * 64 * 4);
  EXPECT_EQ(bytes("fp64"), 55 * 64 * 64 * 8);
}

}  // namespace
}  // namespace stepwell::factor::test
