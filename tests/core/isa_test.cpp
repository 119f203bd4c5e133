// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/machine/isa.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "core/machine/cpu.hpp"

namespace stepwell::core {
namespace {

/// Lets a test set STEPWELL_ISA, and restores it afterwards.
class IsaCapTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* value = std::getenv("STEPWELL_ISA")) before_ = value;
    unsetenv("STEPWELL_ISA");
  }
  void TearDown() override {
    unsetenv("STEPWELL_ISA");
    if (before_) setenv("STEPWELL_ISA", before_->c_str(), 1);
  }
  static IsaCap cap_from(const char* value) {
    setenv("STEPWELL_ISA", value, 1);
    return isa_cap_from_environment();
  }

 private:
  std::optional<std::string> before_;
};

TEST_F(IsaCapTest, UnsetOrEmptyMeansNoCap) {
  IsaCap cap = isa_cap_from_environment();
  EXPECT_EQ(cap.isa, Isa::amx);
  EXPECT_EQ(cap.text, "");
  EXPECT_EQ(cap.problem, "");
  cap = cap_from("");
  EXPECT_EQ(cap.isa, Isa::amx);
  EXPECT_EQ(cap.problem, "");
}

TEST_F(IsaCapTest, EveryNameIsHonoured) {
  for (const Isa isa : all_isas) {
    const IsaCap cap = cap_from(std::string(to_string(isa)).c_str());
    EXPECT_EQ(cap.isa, isa);
    EXPECT_EQ(cap.text, to_string(isa));
    EXPECT_EQ(cap.problem, "");
  }
}

TEST_F(IsaCapTest, AnUnknownNameIsIgnoredAndTheKnownOnesAreListed) {
  for (const char* value : {"AVX2", "avx", " avx2", "avx2 ", "sse4", "0", "amx,avx2", "\xff\n"}) {
    const IsaCap cap = cap_from(value);
    EXPECT_EQ(cap.isa, Isa::amx) << value;
    for (const Isa isa : all_isas) {
      EXPECT_NE(cap.problem.find(to_string(isa)), std::string::npos) << cap.problem;
    }
    for (const char c : cap.text + cap.problem) EXPECT_TRUE(c >= ' ' && c <= '~') << cap.problem;
  }
}

TEST(Isa, NamesGoThereAndBack) {
  for (const Isa isa : all_isas) EXPECT_EQ(isa_from_string(to_string(isa)), isa);
  EXPECT_EQ(isa_from_string(""), std::nullopt);
}

TEST(CpuProbe, AnInstructionSetIsUsableOnlyIfAllBeforeItAre) {
  const Cpu cpu = probe_cpu(Isa::amx);
  EXPECT_TRUE(cpu[Isa::reference].yes);
  for (unsigned i = 1; i < all_isas.size(); ++i) {
    EXPECT_LE(cpu.isa[i].yes, cpu.isa[i - 1].yes) << to_string(all_isas[i]);
  }
}

TEST(CpuProbe, GivesAReasonExactlyWhenItRefuses) {
  for (const Isa cap : all_isas) {
    const Cpu cpu = probe_cpu(cap);
    for (const Isa isa : all_isas) {
      EXPECT_EQ(cpu[isa].yes, cpu[isa].reason.empty()) << to_string(isa);
    }
  }
}

TEST(CpuProbe, NamesTheFirstMissingInstructionSetInTheReasonsOfThoseAboveIt) {
  const Cpu cpu = probe_cpu(Isa::amx);
  std::optional<Isa> missing;
  for (const Isa isa : all_isas) {
    if (missing) {
      EXPECT_EQ(cpu[isa].reason,
                "needs " + std::string(to_string(*missing)) + ": " + cpu[*missing].reason);
    } else if (!cpu[isa].yes) {
      missing = isa;
    }
  }
}

TEST(CpuProbe, DoesNotTryAmxBelowItsCap) {
  const Cpu capped = probe_cpu(Isa::avx2);
  EXPECT_FALSE(capped[Isa::amx].yes);
  const Cpu all = probe_cpu(Isa::amx);
  if (!all[Isa::amx].yes) GTEST_SKIP() << "no AMX here: " << all[Isa::amx].reason;
  EXPECT_EQ(capped[Isa::amx].reason, "not tried: STEPWELL_ISA=avx2");
}

}  // namespace
}  // namespace stepwell::core
