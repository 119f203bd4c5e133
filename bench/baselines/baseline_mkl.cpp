// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/baselines/baseline_mkl.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <vector>

#include "bench/baselines/system_library.hpp"
#include "core/machine/environment.hpp"
#include "options/verb.hpp"
#include "stepwell/error.hpp"

namespace stepwell::bench {
namespace {

namespace fs = std::filesystem;

// The AddressSanitizer runtime refuses RTLD_DEEPBIND (a library that looks up its own symbols
// first).
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer);
#else
constexpr bool kSanitized = false;
#endif
constexpr int kOpen = RTLD_NOW | RTLD_LOCAL | (kSanitized ? 0 : RTLD_DEEPBIND);

constexpr const char* kNames[] = {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"};

/// mkl_get_version()'s structure, as in mkl_types.h.
struct Version {
  int major, minor, update;
  char *status, *build, *processor, *platform;
};

enum Layer { kIntelOpenMp = 0, kSequential = 1, kGnuOpenMp = 3 };  // mkl_set_threading_layer()

std::string& asked_path() {
  static std::string path;
  return path;
}

/// Paths to search for oneMKL; if a path was given, only that one. Only directories named by the
/// user or the environment and system directories are searched: a library elsewhere could come from
/// anyone.
std::vector<std::string> places() {
  const char* const named = core::non_empty_variable("STEPWELL_MKL");
  const std::string given = asked_path().empty() && named != nullptr ? named : asked_path();
  if (!given.empty()) return {fs::absolute(given).string()};
  std::vector<std::string> list;
  for (const char* const root : {"MKLROOT", "VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const char* const value = core::variable(root);
    if (value != nullptr && *value == '/') list.push_back(std::string(value) + "/lib");
  }
  list.push_back("/opt/intel/oneapi/mkl/latest/lib");
  for (const char* const directory : kSystemLibraries) list.push_back(directory);
  return list;
}

void* open_library(std::string& path) {
  std::error_code ignored;
  for (const std::string& place : places()) {
    if (fs::is_regular_file(place, ignored)) {
      path = place;
      return dlopen(place.c_str(), kOpen);
    }
    for (const char* const name : kNames) {
      path = place + "/" + name;
      if (!fs::exists(path, ignored)) continue;
      if (void* const library = dlopen(path.c_str(), kOpen); library != nullptr) return library;
    }
  }
  return nullptr;
}

void* find(void* library, const std::string& name) {
  void* const found = dlsym(library, name.c_str());
  if (found == nullptr) throw Error(ErrorCode::unsupported, "oneMKL has no '" + name + "'");
  return found;
}

template <class F>
F* symbol(void* library, const char* name) {
  return reinterpret_cast<F*>(find(library, name));
}

/// The layer whose OpenMP runtime can be loaded, Intel's or GNU's, by the names under which oneMKL
/// will ask the loader for it. Selecting a layer whose runtime is missing would end the process.
Layer threading_layer(const std::string& path) {
  const fs::path directory = fs::path(path).parent_path();
  for (const std::string& name :
       {(directory / "libiomp5.so").string(), std::string("libiomp5.so")}) {
    if (dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return kIntelOpenMp;
  }
  const bool gnu = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL) != nullptr;
  return gnu ? kGnuOpenMp : kSequential;
}

/// Returns the instruction set named in a string such as "Intel(R) Advanced Vector Extensions 512
/// (Intel(R) AVX-512) with ...".
std::string kernels_of(const std::string& processor) {
  for (const char* const name : {"AVX-512", "AVX2", "AVX"}) {
    if (processor.find(name) != std::string::npos) return name;
  }
  return processor;
}

Mkl load() {
  // oneMKL's threads spin for 200 ms after a call by default, on cores that the other side needs.
  core::set_default_variable("KMP_BLOCKTIME", "20");
  Mkl m;
  void* const library = open_library(m.path);
  if (library == nullptr) {
    throw Error(ErrorCode::unsupported,
                fmt::format("oneMKL can't be loaded: no libmkl_rt.so in '{}'; 'pip install mkl' "
                            "installs it into the lib directory of the Python environment; --mkl "
                            "or STEPWELL_MKL sets its path",
                            fmt::join(places(), "', '")));
  }
  m.library = library;
  symbol<int(int)>(library, "MKL_Set_Interface_Layer")(0);  // LP64: int of 32 bits
  if (core::non_empty_variable("MKL_THREADING_LAYER") == nullptr) {
    const Layer layer = threading_layer(m.path);
    m.threaded = layer != kSequential;
    symbol<int(int)>(library, "MKL_Set_Threading_Layer")(layer);
  }
  symbol<void(int)>(library, "MKL_Set_Dynamic")(0);
  Version version{};
  symbol<void(Version*)>(library, "MKL_Get_Version")(&version);
  m.version = fmt::format("{}.{}", version.major, version.update);
  m.kernels = kernels_of(version.processor == nullptr ? "" : version.processor);
  m.potrf = symbol<Mkl::Potrf>(library, "dpotrf");
  m.posv = symbol<Mkl::Posv>(library, "dposv");
  m.gesv = symbol<Mkl::Gesv>(library, "dgesv");
  m.gels = symbol<Mkl::Gels>(library, "dgels");
  m.syrk = symbol<Mkl::Syrk>(library, "dsyrk");
  m.gemm = symbol<Mkl::Gemm>(library, "dgemm");
  m.set_threads = symbol<void(int)>(library, "MKL_Set_Num_Threads");
  return m;
}

}  // namespace

void set_mkl_path(const std::string& path) {
  asked_path() = path;
}

const Mkl& mkl() {
  static const Mkl loaded = load();
  return loaded;
}

void* mkl_symbol(const std::string& name) {
  return find(mkl().library, name);
}

Side mkl_side(const char* routine, int threads) {
  const Mkl& m = mkl();
  m.set_threads(threads);
  Side side;
  side.name = routine;
  side.library = "oneMKL";
  side.version = m.version;
  side.core_name = m.kernels;
  side.threads = m.threaded ? threads : 1;
  return side;
}

void add_mkl_option(tool::Verb verb) {
  verb.add_option_function(
      "--mkl", set_mkl_path,
      "oneMKL's libmkl_rt.so or its directory; default: STEPWELL_MKL, then the usual places");
}

}  // namespace stepwell::bench
