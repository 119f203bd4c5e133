// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cblas.h>
#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "core/machine/cpu.hpp"
#include "kernels/blas/blas.hpp"

/// A BLAS library is identified by the functions that it exports in addition to the standard ones.
/// They are looked up at run time, because the library is chosen by the system's administrator
/// after this library is built.
namespace stepwell::kernels {
namespace {

/// Handle in which dlsym looks up a function.
using Scope = void*;

/// The library that our calls go to, with its dependencies: a process may hold a second BLAS,
/// brought by a plugin or a package, whose functions must not be mistaken for those of ours. Null
/// when it can't be determined, as in a static program.
Scope linked_library() {
  Dl_info found{};
  if (dladdr(reinterpret_cast<void*>(&cblas_dgemm), &found) == 0) return nullptr;
  return dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

template <class F>
F* symbol(Scope scope, const char* name) {
  return reinterpret_cast<F*>(dlsym(scope, name));
}

/// The n-th word of a text, counted from 0.
std::string word(std::string_view text, int n) {
  while (n-- > 0) text.remove_prefix(std::min(text.find(' '), text.size() - 1) + 1);
  return std::string(text.substr(0, text.find(' ')));
}

/// Width of the vectors of the kernels that a core name stands for.
enum class Width { before_avx2, avx2, unknown };

Width width_of(std::string_view core_name) {
  std::string name(core_name);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  // OpenBLAS's and BLIS's names of x86 generations before AVX2 with FMA.
  if (is_one_of({"katmai",     "coppermine",   "northwood",  "prescott", "banias",      "atom",
                 "core2",      "penryn",       "dunnington", "nehalem",  "sandybridge", "athlon",
                 "opteron",    "opteron_sse3", "barcelona",  "nano",     "bobcat",      "bulldozer",
                 "piledriver", "steamroller",  "generic"})) {
    return Width::before_avx2;
  }
  if (is_one_of({"haswell", "zen", "zen2", "zen3", "excavator"})) {
    return Width::avx2;
  }
  return Width::unknown;
}

/// Warning text for a library that selects its kernels by CPU model and does not know this model.
/// 'variable' and the two values make it select the right ones.
std::string core_warning(const BlasIdentity& blas, std::string_view variable,
                         std::string_view avx512_value, std::string_view avx2_value) {
  const core::Cpu cpu = core::probe_cpu(core::Isa::avx512);
  const bool avx512 = cpu[core::Isa::avx512].yes;
  const bool avx2 = cpu[core::Isa::avx2].yes;
  const Width width = width_of(blas.core_name);
  const bool far_below = width == Width::before_avx2 && avx2;
  const bool below = width == Width::avx2 && avx512;
  if (!far_below && !below) return "";
  // 7x: SGEMM 512 on Emerald Rapids, 18 GF/s as Prescott and 127 as SkylakeX (OpenBLAS 0.3.21).
  const std::string cost = !far_below ? "products up to 2x slower than this CPU allows"
                           : avx512   ? "about 7x slower products on this CPU"
                                      : "about 3x slower products on this CPU";
  return blas.library + " runs its " + blas.core_name + " kernels on a CPU with " +
         (avx512 ? "AVX-512" : "AVX2") + ": " + cost + "; set " + std::string(variable) + "=" +
         std::string(avx512 ? avx512_value : avx2_value) + " in the environment";
}

std::optional<BlasIdentity> openblas(Scope scope) {
  const auto config = symbol<char*()>(scope, "openblas_get_config");
  if (config == nullptr) return std::nullopt;
  BlasIdentity id;
  id.library = "OpenBLAS";
  const std::string_view text = config();  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..."
  if (text.starts_with("OpenBLAS ")) id.version = word(text, 1);
  if (const auto core = symbol<char*()>(scope, "openblas_get_corename")) id.core_name = core();
  if (const auto threads = symbol<int()>(scope, "openblas_get_num_threads")) id.threads = threads();
  id.warning = core_warning(id, "OPENBLAS_CORETYPE", "SKYLAKEX", "HASWELL");
  return id;
}

/// oneMKL's MKLVersion.
struct MklVersion {
  int major, minor, update;
  char* product_status;
  char* build;
  char* processor;
  char* platform;
};

std::optional<BlasIdentity> mkl(Scope scope) {
  const auto get_version = symbol<void(MklVersion*)>(scope, "MKL_Get_Version");
  if (get_version == nullptr) return std::nullopt;
  MklVersion v{};
  get_version(&v);
  BlasIdentity id;
  id.library = "oneMKL";
  id.version =
      std::to_string(v.major) + "." + std::to_string(v.minor) + "." + std::to_string(v.update);
  if (v.processor != nullptr) id.core_name = v.processor;
  if (const auto threads = symbol<int()>(scope, "MKL_Get_Max_Threads")) id.threads = threads();
  return id;
}

std::optional<BlasIdentity> blis(Scope scope) {
  const auto version = symbol<const char*()>(scope, "bli_info_get_version_str");
  if (version == nullptr) return std::nullopt;
  BlasIdentity id;
  id.library = "BLIS";
  id.version = version();
  const auto arch = symbol<int()>(scope, "bli_arch_query_id");
  const auto arch_name = symbol<const char*(int)>(scope, "bli_arch_string");
  if (arch != nullptr && arch_name != nullptr) id.core_name = arch_name(arch());
  if (const auto threads = symbol<std::int64_t()>(scope, "bli_thread_get_num_threads")) {
    id.threads = static_cast<int>(threads());
  }
  id.warning = core_warning(id, "BLIS_ARCH_TYPE", "skx", "haswell");
  return id;
}

/// The first of the three known libraries that is found in the scope.
std::optional<BlasIdentity> identify(Scope scope) {
  if (auto id = mkl(scope)) return id;
  if (auto id = openblas(scope)) return id;
  return blis(scope);
}

/// Sets the number of threads and returns the previous number.
using Exchange = std::function<int(int)>;

/// Looked up only once, because a small solve takes no longer than the lookup of six names.
Exchange find_exchange(Scope scope) {
  const auto exchange = [](auto* get, auto* set) -> Exchange {
    if (get == nullptr || set == nullptr) return nullptr;
    return [get, set](int threads) {
      const int before = static_cast<int>(get());
      set(threads);
      return before;
    };
  };
  if (auto mkl = exchange(symbol<int()>(scope, "MKL_Get_Max_Threads"),
                          symbol<void(int)>(scope, "MKL_Set_Num_Threads"))) {
    return mkl;
  }
  if (auto openblas = exchange(symbol<int()>(scope, "openblas_get_num_threads"),
                               symbol<void(int)>(scope, "openblas_set_num_threads"))) {
    return openblas;
  }
  return exchange(symbol<std::int64_t()>(scope, "bli_thread_get_num_threads"),
                  symbol<void(std::int64_t)>(scope, "bli_thread_set_num_threads"));
}

/// The linked library if it can be determined and is a known one, else the whole process.
Scope scope_of_blas() {
  static const Scope scope = [] {
    const Scope linked = linked_library();
    return linked != nullptr && identify(linked) ? linked : RTLD_DEFAULT;
  }();
  return scope;
}

}  // namespace

BlasIdentity blas_identity() {
  if (auto id = identify(scope_of_blas())) return *id;
  BlasIdentity unknown;
  unknown.library = "unknown CBLAS";
  return unknown;
}

int set_blas_threads(int threads) {
  static const Exchange exchange = find_exchange(scope_of_blas());
  return exchange ? exchange(threads) : 0;
}

}  // namespace stepwell::kernels
