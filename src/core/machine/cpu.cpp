// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/machine/cpu.hpp"

#if defined(__x86_64__)

#include <cpuid.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <system_error>

namespace stepwell::core {
namespace {

struct Registers {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(unsigned leaf, unsigned subleaf = 0) {
  Registers r;
  __cpuid_count(leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx);
  return r;
}

/// The words of CPUID that hold feature bits; zero if the CPU does not have the leaf (a query
/// beyond the last leaf returns the bits of another leaf).
struct Words {
  unsigned leaf1_ecx = 0;
  unsigned leaf7_ebx = 0;
  unsigned leaf7_ecx = 0;
  unsigned leaf7_edx = 0;
  unsigned leaf7_1_eax = 0;
  unsigned extended_ecx = 0;
};

Words read_words() {
  Words w;
  const unsigned last = cpuid(0).eax;
  if (last >= 1) w.leaf1_ecx = cpuid(1).ecx;
  if (last >= 7) {
    const Registers r = cpuid(7);
    w.leaf7_ebx = r.ebx;
    w.leaf7_ecx = r.ecx;
    w.leaf7_edx = r.edx;
    if (r.eax >= 1) w.leaf7_1_eax = cpuid(7, 1).eax;
  }
  if (cpuid(0x80000000).eax >= 0x80000001) w.extended_ecx = cpuid(0x80000001).ecx;
  return w;
}

/// A feature bit and the first instruction set that needs it, if any. The table must contain every
/// feature that the compiler may use for a target attribute: sse4.2 implies popcnt, for instance.
struct Feature {
  const char* name;
  unsigned Words::*word;
  int bit;
  std::optional<Isa> needed_by;
};

constexpr Feature kFeatures[] = {
    {"pni", &Words::leaf1_ecx, 0, Isa::baseline},
    {"ssse3", &Words::leaf1_ecx, 9, Isa::baseline},
    {"sse4_1", &Words::leaf1_ecx, 19, Isa::baseline},
    {"sse4_2", &Words::leaf1_ecx, 20, Isa::baseline},
    {"popcnt", &Words::leaf1_ecx, 23, Isa::baseline},
    {"pclmulqdq", &Words::leaf1_ecx, 1, Isa::baseline},
    {"aes", &Words::leaf1_ecx, 25, Isa::baseline},
    {"avx", &Words::leaf1_ecx, 28, Isa::avx2},
    {"f16c", &Words::leaf1_ecx, 29, Isa::avx2},
    {"fma", &Words::leaf1_ecx, 12, Isa::avx2},
    {"abm", &Words::extended_ecx, 5, Isa::avx2},
    {"bmi1", &Words::leaf7_ebx, 3, Isa::avx2},
    {"bmi2", &Words::leaf7_ebx, 8, Isa::avx2},
    {"avx2", &Words::leaf7_ebx, 5, Isa::avx2},
    {"avx512f", &Words::leaf7_ebx, 16, Isa::avx512},
    {"avx512cd", &Words::leaf7_ebx, 28, Isa::avx512},
    {"avx512dq", &Words::leaf7_ebx, 17, Isa::avx512},
    {"avx512bw", &Words::leaf7_ebx, 30, Isa::avx512},
    {"avx512vl", &Words::leaf7_ebx, 31, Isa::avx512},
    {"avx512_vnni", &Words::leaf7_ecx, 11, Isa::avx512_bf16},
    {"avx512_bf16", &Words::leaf7_1_eax, 5, Isa::avx512_bf16},
    {"avx512_fp16", &Words::leaf7_edx, 23, std::nullopt},
    {"amx_tile", &Words::leaf7_edx, 24, Isa::amx},
    {"amx_bf16", &Words::leaf7_edx, 22, Isa::amx},
    {"amx_int8", &Words::leaf7_edx, 25, Isa::amx},
    {"amx_fp16", &Words::leaf7_1_eax, 21, std::nullopt},
};

bool has(const Words& words, const Feature& feature) {
  return (words.*feature.word >> feature.bit & 1U) != 0;
}

/// The register state that an instruction set needs, as bits of XCR0.
struct State {
  std::uint64_t mask;
  const char* bits;
};

State state_of(Isa isa) {
  switch (isa) {
    case Isa::avx2:
      return {0x6, "1-2"};
    case Isa::avx512:
      return {0xe0, "5-7"};
    default:  // for AMX, the kernel's permission includes it
      return {0, ""};
  }
}

/// XCR0: the register state that the operating system saves. Nothing if XSAVE is not enabled,
/// because XGETBV is then an illegal instruction.
std::optional<std::uint64_t> read_xcr0(const Words& words) {
  constexpr unsigned osxsave = 1U << 27;
  if ((words.leaf1_ecx & osxsave) == 0) return std::nullopt;
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

/// Requests the kernel's permission for this process to use AMX tiles (Linux 5.16). Returns the
/// reason for a refusal; empty if permission is granted.
std::string ask_for_tiles() {
  constexpr int get_permission = 0x1022;      // ARCH_GET_XCOMP_PERM
  constexpr int request_permission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int tile_data = 18;
  const auto granted = [] {
    std::uint64_t mask = 0;
    return syscall(SYS_arch_prctl, get_permission, &mask) == 0 && (mask >> tile_data & 1U) != 0;
  };
  if (granted()) return {};
  if (syscall(SYS_arch_prctl, request_permission, tile_data) != 0) {
    const int error = errno;
    std::string reason = "the kernel refused permission: " + std::generic_category().message(error);
    if (error == ENOSPC) {
      constexpr unsigned long minimum_signal_stack = 51;  // AT_MINSIGSTKSZ
      reason += ": some thread has an alternate signal stack smaller than " +
                std::to_string(getauxval(minimum_signal_stack)) + " bytes";
    } else if (error == EINVAL || error == ENOSYS) {
      reason += ": Linux 5.16 or later is required";
    }
    return reason;
  }
  if (!granted()) return "the kernel granted permission but does not report it as granted";
  return {};
}

/// Why 'isa' can't be used although all instruction sets before it can; empty if it can be used.
std::string refusal(Isa isa, const Words& words, Isa cap) {
  std::string lacking;
  for (const Feature& feature : kFeatures) {
    if (feature.needed_by == isa && !has(words, feature)) {
      lacking += (lacking.empty() ? "the CPU lacks " : ", ") + std::string(feature.name);
    }
  }
  if (!lacking.empty()) return lacking;

  if (const State state = state_of(isa); state.mask != 0) {
    const auto xcr0 = read_xcr0(words);
    if (!xcr0) return "the operating system does not save the state (OSXSAVE is off)";
    if ((*xcr0 & state.mask) != state.mask) {
      return std::string("the operating system does not save the state (XCR0 lacks bits ") +
             state.bits + ")";
    }
  }
  if (isa == Isa::amx) {
    if (cap < Isa::amx) return "not tried: STEPWELL_ISA=" + std::string(to_string(cap));
    return ask_for_tiles();
  }
  return {};
}

/// The text in registers of CPUID. Only printable characters are kept, because it is printed in
/// reports.
std::string text_of(std::initializer_list<unsigned> registers) {
  std::string text;
  for (unsigned r : registers) {
    for (int shift = 0; shift < 32; shift += 8) {
      const char c = static_cast<char>(r >> shift & 0xffU);
      if (c >= ' ' && c <= '~') text += c;
    }
  }
  return text;
}

std::string brand() {
  if (cpuid(0x80000000).eax < 0x80000004) return "unknown";
  std::string text;
  for (unsigned leaf = 0x80000002; leaf <= 0x80000004; ++leaf) {
    const Registers r = cpuid(leaf);
    text += text_of({r.eax, r.ebx, r.ecx, r.edx});
  }
  const auto first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "unknown";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

Cpu probe_cpu(Isa cap) {
  Cpu cpu;
  const Registers first = cpuid(0);
  cpu.vendor = text_of({first.ebx, first.edx, first.ecx});
  cpu.model = brand();
  const Words words = read_words();
  for (const Feature& feature : kFeatures) {
    if (has(words, feature)) cpu.features.emplace_back(feature.name);
  }
  std::string missing;  // the first instruction set that can't be used, and why
  for (const Isa isa : all_isas) {
    Usable& usable = cpu.isa[static_cast<unsigned>(isa)];
    usable.reason = missing.empty() ? refusal(isa, words, cap) : missing;
    usable.yes = usable.reason.empty();
    if (!usable.yes && missing.empty()) {
      missing = "needs " + std::string(to_string(isa)) + ": " + usable.reason;
    }
  }
  return cpu;
}

}  // namespace stepwell::core

#else

namespace stepwell::core {

Cpu probe_cpu(Isa) {
  Cpu cpu;
  cpu.vendor = "unknown";
  cpu.model = "unknown";
  for (const Isa isa : all_isas) {
    Usable& usable = cpu.isa[static_cast<unsigned>(isa)];
    usable.yes = isa <= Isa::baseline;
    if (!usable.yes) usable.reason = "not an x86 CPU";
  }
  return cpu;
}

}  // namespace stepwell::core

#endif
