// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace stepwell::core {

/// Instruction sets that a kernel may need; each includes the ones before it. 'reference' means
/// plain C++ loops, 'baseline' 128-bit SIMD (SSE4.2 on x86, NEON on ARM); 'avx512_bf16' includes
/// VNNI, and 'amx' both bf16 and int8.
enum class Isa : unsigned char { reference, baseline, avx2, avx512, avx512_bf16, amx };

inline constexpr std::array<Isa, 6> all_isas = {Isa::reference, Isa::baseline,    Isa::avx2,
                                                Isa::avx512,    Isa::avx512_bf16, Isa::amx};

constexpr std::string_view to_string(Isa isa) {
  constexpr std::array<std::string_view, 6> names = {"reference", "baseline",    "avx2",
                                                     "avx512",    "avx512_bf16", "amx"};
  return names[static_cast<unsigned>(isa)];
}

constexpr std::optional<Isa> isa_from_string(std::string_view name) {
  for (Isa isa : all_isas) {
    if (to_string(isa) == name) return isa;
  }
  return std::nullopt;
}

/// The limit set by the environment variable STEPWELL_ISA, which is ignored in set-user-id
/// programs.
struct IsaCap {
  std::string text;     ///< the variable's value, empty when unset
  std::string problem;  ///< why the value is ignored, empty when it is honoured
  Isa isa = Isa::amx;   ///< no kernel above this one is used
};
IsaCap isa_cap_from_environment();

}  // namespace stepwell::core
