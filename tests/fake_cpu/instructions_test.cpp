// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// A hidden feature still exists, so a forbidden instruction does not fault on a fake CPU. It would
// on a real one, and such an instruction gets in easily: one inline function compiled inside a
// target's region is enough if the linker uses that copy everywhere. So the library's objects are
// disassembled.

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "child.hpp"

namespace stepwell::fake_cpu {
namespace {

/// The instruction set that an instruction needs, as far as its name tells.
enum class Level { x86_64, sse4, avx2, avx512, amx };

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  for (const std::string_view p : prefixes) {
    if (text.substr(0, p.size()) == p) return true;
  }
  return false;
}

Level level_of(std::string_view mnemonic, std::string_view operands) {
  static const std::set<std::string_view> sse4 = {
      "pshufb", "palignr", "pmulhrsw",   "ptest",    "pinsrb",   "pinsrd",  "pinsrq",  "pextrb",
      "pextrd", "pextrq",  "insertps",   "pmulld",   "pmuldq",   "pcmpeqq", "pcmpgtq", "packusdw",
      "pminsb", "pminsd",  "pminud",     "pminuw",   "pmaxsb",   "pmaxsd",  "pmaxud",  "pmaxuw",
      "popcnt", "movddup", "movshdup",   "movsldup", "movntdqa", "mpsadbw", "lddqu",   "pabsb",
      "pabsw",  "pabsd",   "phminposuw", "dppd",     "dpps"};
  static const std::set<std::string_view> bmi = {"andn",  "bextr", "blsi", "blsmsk", "blsr",
                                                 "lzcnt", "mulx",  "pdep", "pext",   "rorx",
                                                 "sarx",  "shlx",  "shrx"};
  if (starts_with_any(mnemonic, {"tile", "tdp", "ldtilecfg", "sttilecfg"})) return Level::amx;
  if (operands.find("%zmm") != std::string_view::npos ||
      operands.find("{%k") != std::string_view::npos || starts_with_any(mnemonic, {"kmov"})) {
    return Level::avx512;
  }
  if ((mnemonic[0] == 'v' && mnemonic != "verr" && mnemonic != "verw") || bmi.count(mnemonic) > 0) {
    return Level::avx2;
  }
  if (sse4.count(mnemonic) > 0 ||
      starts_with_any(mnemonic, {"blend", "pblend", "round", "pmovzx", "pmovsx", "hadd", "phadd",
                                 "hsub", "phsub", "addsub", "psign", "extractps", "crc32", "aes",
                                 "pclmul", "pcmpestr", "pcmpistr"})) {
    return Level::sse4;
  }
  return Level::x86_64;
}

/// The instruction set that a function may use: Highway puts each target's functions into a
/// separate namespace, and two directories hold kernels that the table guards as a whole.
Level allowed_in(const std::string& object, const std::string& function) {
  if (object.find("/kernels/amx/") != std::string::npos) return Level::amx;
  if (object.find("/kernels/avx512/") != std::string::npos) return Level::avx512;
  if (function.find("N_AVX3") != std::string::npos) return Level::avx512;
  if (function.find("N_AVX2") != std::string::npos) return Level::avx2;
  if (function.find("N_SSE4") != std::string::npos) return Level::sse4;
  return Level::x86_64;
}

std::vector<std::string> objects() {
  std::vector<std::string> paths;
  std::istringstream list(STEPWELL_OBJECTS);
  for (std::string path; std::getline(list, path, '|');) paths.push_back(path);
  return paths;
}

TEST(Instructions, NoFunctionUsesThoseOfAnInstructionSetAboveItsOwn) {
  if (std::string(OBJDUMP).empty()) GTEST_SKIP() << "no objdump";
  std::array<int, 5> seen{};
  for (const std::string& object : objects()) {
    const Ended dump = run_child({OBJDUMP, "-d", "--no-show-raw-insn", object}, {});
    ASSERT_EQ(dump.how, "exit code 0") << object;
    std::istringstream lines(dump.output);
    std::string function;
    Level allowed = Level::x86_64;
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty() && line.back() == ':' && line.find(" <") != std::string::npos) {
        function = line;
        allowed = allowed_in(object, function);
        continue;
      }
      const auto colon = line.find(":\t");
      if (line.empty() || line[0] != ' ' || colon == std::string::npos) continue;
      std::istringstream words(line.substr(colon + 2));
      std::string mnemonic;
      std::string operands;
      words >> mnemonic;
      std::getline(words, operands);
      if (mnemonic.empty()) continue;
      const Level level = level_of(mnemonic, operands);
      ++seen[static_cast<unsigned>(level)];
      EXPECT_LE(level, allowed) << object << "\n" << function << "\n" << line;
    }
  }
  // With another disassembly syntax the test would find no instructions and prove nothing.
  for (const int count : seen) EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace stepwell::fake_cpu
