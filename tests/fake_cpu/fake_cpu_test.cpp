// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Runs two programs on simulated CPUs (fake_cpu.cpp): the product program, which must give the
// right answer with the kernels of the right instruction set, and 'stepwell doctor', which must say
// why the others are refused. The expected results are computed from /proc/cpuinfo minus the
// features that the case hides, so the test works on any CPU.

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "child.hpp"
#include "core/machine/isa.hpp"

namespace stepwell::fake_cpu {
namespace {

using core::Isa;

struct Case {
  std::string name;
  std::vector<std::string> hidden;  ///< features, as /proc/cpuinfo spells them; and "osxsave"
  std::string more;                 ///< further parts of FAKE_CPU
  std::string cap;                  ///< value of STEPWELL_ISA
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

bool has(const Case& c, const std::string& option) {
  return c.more.find(option) != std::string::npos;
}

const std::vector<Case> kCases = {
    {"NothingHidden", {}, "", ""},
    {"NoAmxBf16", {"amx_bf16"}, "", ""},
    {"AmxTileWithoutArithmetic", {"amx_bf16", "amx_int8"}, "", ""},
    {"AmxBf16WithoutTiles", {"amx_tile"}, "", ""},
    {"NoAmx", {"amx_tile", "amx_bf16", "amx_int8"}, "", ""},
    {"NoAmxInt8", {"amx_int8"}, "", ""},
    {"NoAvx512Bf16", {"avx512_bf16"}, "", ""},
    {"NoAvx512Vnni", {"avx512_vnni"}, "", ""},
    {"Avx512WithoutVl", {"avx512vl"}, "", ""},
    {"Avx512WithoutDq", {"avx512dq"}, "", ""},
    {"Avx512WithoutBw", {"avx512bw"}, "", ""},
    {"Avx512WithoutCd", {"avx512cd"}, "", ""},
    {"Avx2Only",
     {"avx512f", "avx512cd", "avx512dq", "avx512bw", "avx512vl", "avx512_bf16", "avx512_fp16",
      "amx_tile", "amx_bf16", "amx_int8"},
     "",
     ""},
    {"NoFma", {"fma"}, "", ""},
    {"NoF16c", {"f16c"}, "", ""},
    {"NoBmi2", {"bmi2"}, "", ""},
    {"NoLzcnt", {"abm"}, "", ""},
    {"NoAvx2", {"avx2"}, "", ""},
    {"NoAvx", {"avx", "avx2", "fma", "f16c"}, "", ""},
    {"NoSse42", {"sse4_2"}, "", ""},
    {"NoPopcnt", {"popcnt"}, "", ""},
    {"NoAes", {"aes", "pclmulqdq"}, "", ""},
    {"OperatingSystemWithoutXsave", {"osxsave"}, "", ""},
    {"LastLeafIsSix", {}, "max_leaf=6", ""},
    {"LastLeafIsOne", {}, "max_leaf=1", ""},
    {"Amd", {}, "vendor=AuthenticAMD;model=AMD EPYC 9999 96-Core Processor", ""},
    {"UnknownVendor", {}, "vendor=NotAVendor", ""},
    {"AmxRefusedForASmallSignalStack", {}, "small_altstack", ""},
    {"AmxRefusedByASandbox", {}, "refuse_permission", ""},
    {"EmulatedAmx", {}, "amx", ""},
    {"EmulatedAmxWithoutInt8", {"amx_int8"}, "amx", ""},
    {"CappedAtAvx2", {}, "", "avx2"},
    {"CappedAtAvx2WithoutAvx2", {"avx2"}, "", "avx2"},
};

/// What 'amx' in FAKE_CPU adds.
const std::set<std::string> kEmulated = {"avx512_vnni", "avx512_bf16", "amx_tile", "amx_bf16",
                                         "amx_int8"};

/// The features of this CPU, and "osxsave" if the kernel uses XSAVE.
std::set<std::string> real_features() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key != "flags") continue;
    std::set<std::string> flags{std::istream_iterator<std::string>(words), {}};
    if (flags.count("avx") > 0) flags.insert("osxsave");
    return flags;
  }
  return {};
}

/// Whether the kernel lets a process without alternate signal stacks use AMX.
bool amx_is_permitted() {
  constexpr int request_permission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int tile_data = 18;
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

bool cpuid_can_fault() {
  constexpr int set_cpuid = 0x1012;  // ARCH_SET_CPUID
  const bool can = syscall(SYS_arch_prctl, set_cpuid, 0) == 0;
  syscall(SYS_arch_prctl, set_cpuid, 1);
  return can;
}

const std::vector<std::string>& needs(Isa isa) {
  static const std::vector<std::string> by_isa[] = {
      {},
      {"pni", "ssse3", "sse4_1", "sse4_2", "popcnt", "pclmulqdq", "aes"},
      {"avx", "avx2", "bmi1", "bmi2", "fma", "f16c", "abm"},
      {"avx512f", "avx512vl", "avx512dq", "avx512bw", "avx512cd"},
      {"avx512_vnni", "avx512_bf16"},
      {"amx_tile", "amx_bf16", "amx_int8"}};
  return by_isa[static_cast<unsigned>(isa)];
}

/// The expected results: the best instruction set, and texts that the first refusal must contain.
struct Expected {
  Isa usable = Isa::reference;       ///< the best that may be used, ignoring STEPWELL_ISA
  Isa chosen = Isa::reference;       ///< the best that is used
  std::vector<std::string> because;  ///< texts in the reason given for the one above 'usable'
};

/// The features before some are hidden.
std::set<std::string> features_of(const Case& c) {
  std::set<std::string> features = real_features();
  if (has(c, "amx")) features.insert(kEmulated.begin(), kEmulated.end());
  return features;
}

Expected expect(const Case& c) {
  std::set<std::string> features = features_of(c);
  for (const std::string& feature : c.hidden) features.erase(feature);
  if (has(c, "max_leaf")) {
    for (const char* leaf7 :
         {"bmi1", "bmi2", "avx2", "avx512f", "avx512cd", "avx512dq", "avx512bw", "avx512vl",
          "avx512_vnni", "avx512_bf16", "amx_tile", "amx_bf16", "amx_int8"}) {
      features.erase(leaf7);
    }
  }
  const Isa cap = core::isa_from_string(c.cap).value_or(Isa::amx);
  Expected e;
  for (const Isa isa : core::all_isas) {
    for (const std::string& feature : needs(isa)) {
      if (features.count(feature) == 0) e.because.push_back(feature);
    }
    if (e.because.empty() && isa >= Isa::avx2 && features.count("osxsave") == 0) {
      e.because = {"operating system", "OSXSAVE"};
    }
    if (e.because.empty() && isa == Isa::amx) {
      if (cap < Isa::amx) {
        e.because = {"not tried: STEPWELL_ISA=" + c.cap};
      } else if (has(c, "small_altstack")) {
        e.because = {"No space left on device", "alternate signal stack smaller than"};
      } else if (!has(c, "amx") && (has(c, "refuse_permission") || !amx_is_permitted())) {
        e.because = {"the kernel refused permission"};
      }
    }
    if (!e.because.empty()) break;
    e.usable = isa;
  }
  e.chosen = std::min(e.usable, cap);
  return e;
}

class FakeCpu : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!cpuid_can_fault()) GTEST_SKIP() << "CPUID can't be made to fault here";
    const std::set<std::string> features = features_of(GetParam());
    if (has(GetParam(), "amx") &&
        (features.count("avx512bw") == 0 || real_features().count("amx_tile") > 0)) {
      GTEST_SKIP() << "AMX is not emulated here";
    }
    for (const std::string& feature : GetParam().hidden) {
      if (features.count(feature) == 0) {
        GTEST_SKIP() << "this CPU has no " << feature << " to hide";
      }
    }
    if ((has(GetParam(), "small_altstack") || has(GetParam(), "refuse_permission")) &&
        (features.count("amx_bf16") == 0 || !amx_is_permitted())) {
      GTEST_SKIP() << "no AMX here that could be refused";
    }
    expected_ = expect(GetParam());
  }

  /// Runs 'arguments' on the case's CPU; fails the test unless the exit code is 0.
  std::string run(const std::vector<std::string>& arguments) {
    std::string fake = GetParam().more;
    for (const std::string& feature : GetParam().hidden) fake += ";hide=" + feature;
    const Ended ended = run_child(arguments, {{"LD_PRELOAD", FAKE_CPU_LIBRARY},
                                              {"FAKE_CPU", fake},
                                              {"STEPWELL_ISA", GetParam().cap},
                                              {"STEPWELL_LOG", ""}});
    EXPECT_EQ(ended.how, "exit code 0") << ended.output;
    return ended.output;
  }

  /// Checks what a program reports about one instruction set.
  void check_reason(Isa isa, bool usable, const std::string& reason) const {
    EXPECT_EQ(usable, isa <= expected_.usable) << to_string(isa) << ": " << reason;
    EXPECT_EQ(usable, reason.empty()) << to_string(isa) << ": " << reason;
    if (isa <= expected_.usable) return;
    const Isa first = core::all_isas[static_cast<unsigned>(expected_.usable) + 1];
    if (isa > first) {
      EXPECT_EQ(reason.find("needs " + std::string(to_string(first))), 0U) << reason;
    }
    for (const std::string& text : expected_.because) {
      EXPECT_NE(reason.find(text), std::string::npos) << "no '" << text << "' in: " << reason;
    }
  }

  void check_kernel(const std::string& operation, const std::string& isa_name) const {
    const auto isa = core::isa_from_string(isa_name);
    ASSERT_TRUE(isa.has_value()) << operation << ": " << isa_name;
    EXPECT_LE(*isa, expected_.chosen) << operation << " runs on " << isa_name;
  }

  Expected expected_;
};

TEST_P(FakeCpu, GetsTheRightProductsFromTheRightKernels) {
  std::istringstream lines(run({PRODUCT_PROGRAM}));
  std::string chosen;
  std::set<std::string> isas_named;
  std::set<std::string> rungs_run;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    std::string name;
    std::string value;
    words >> word >> name >> value;
    if (word == "isa") chosen = name;
    if (word == "usable") {
      std::string reason;
      std::getline(words >> std::ws, reason);
      isas_named.insert(name);
      check_reason(core::isa_from_string(name).value(), value == "yes", reason);
    }
    if (word == "update") {
      rungs_run.insert(name);
      check_kernel("update " + name, value);
    }
  }
  EXPECT_EQ(chosen, to_string(expected_.chosen));
  EXPECT_EQ(isas_named.size(), core::all_isas.size());
  EXPECT_EQ(rungs_run.size(), 6U);
}

TEST_P(FakeCpu, IsExplainedByTheDoctor) {
  const std::string output = run({STEPWELL_PROGRAM, "doctor", "--json"});
  const auto report = nlohmann::json::parse(output, nullptr, false);
  ASSERT_FALSE(report.is_discarded()) << output;
  EXPECT_EQ(report.at("isa"), to_string(expected_.chosen));
  if (has(GetParam(), "vendor=")) {
    const std::string vendor = report.at("cpu_vendor");
    EXPECT_TRUE(has(GetParam(), "vendor=" + vendor)) << vendor;
  }
  EXPECT_EQ(report.at("isas").size(), core::all_isas.size());
  for (const auto& state : report.at("isas")) {
    const auto isa = core::isa_from_string(state.at("name").get<std::string>());
    ASSERT_TRUE(isa.has_value()) << state;
    check_reason(*isa, state.at("usable"), state.at("reason"));
  }
  EXPECT_FALSE(report.at("kernels").empty());
  for (const auto& kernel : report.at("kernels")) {
    check_kernel(kernel.at("operation"), kernel.at("isa"));
  }
}

INSTANTIATE_TEST_SUITE_P(Cpus, FakeCpu, testing::ValuesIn(kCases),
                         [](const auto& param_info) { return param_info.param.name; });

}  // namespace
}  // namespace stepwell::fake_cpu
