// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "next_symbol.hpp"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <string>
#include <string_view>

extern "C" void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* ipiv,
                        int* info);

namespace stepwell::lapack {
namespace {

constexpr auto kRoutines = static_cast<std::size_t>(Routine::count);
using Addresses = std::array<std::atomic<void*>, kRoutines>;

// The address sanitizer aborts programs that use RTLD_DEEPBIND.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr int kDeep = 0;
#else
constexpr int kDeep = RTLD_DEEPBIND;
#endif
#elif defined(__SANITIZE_ADDRESS__)
constexpr int kDeep = 0;
#else
constexpr int kDeep = RTLD_DEEPBIND;
#endif

constinit Addresses narrow{};
constinit Addresses wide{};

/// The LAPACK that this library was linked with: the library of a LAPACK routine that is not
/// overridden here.
void* linked_library() {
  Dl_info found{};
  if (dladdr(reinterpret_cast<void*>(&dgetrf_), &found) == 0) return nullptr;
  return dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

/// A LAPACK with 64-bit integers. Debian's has the names of the 32-bit one and uses them for its
/// internal calls: deep binding resolves these inside the library; otherwise they would go to this
/// library or to the 32-bit OpenBLAS.
void* wide_library() {
  static void* const library = [] {
    void* handle = nullptr;
    for (const char* name : {"libopenblas64_.so.0", "liblapack64_.so.3"}) {
      if (handle == nullptr) handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    }
    for (const char* name : {"libopenblas64.so.0", "liblapack64.so.3"}) {
      if (handle == nullptr && kDeep != 0) handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL | kDeep);
    }
    return handle;
  }();
  return library;
}

void* find_narrow(const std::string& name) {
  void* found = dlsym(RTLD_NEXT, (name + "_").c_str());
  if (found != nullptr) return found;
  void* const library = linked_library();
  return library != nullptr ? dlsym(library, (name + "_").c_str()) : nullptr;
}

void* find_wide(const std::string& name) {
  void* found = dlsym(RTLD_NEXT, (name + "_64_").c_str());
  if (found != nullptr || wide_library() == nullptr) return found;
  found = dlsym(wide_library(), (name + "_64_").c_str());
  return found != nullptr ? found : dlsym(wide_library(), (name + "_").c_str());
}

/// Threads that race for the first lookup find the same address.
template <class Find>
void* lookup(Addresses& known, Routine routine, Find find) {
  std::atomic<void*>& address = known[static_cast<std::size_t>(routine)];
  void* found = address.load(std::memory_order_acquire);
  if (found == nullptr) {
    found = find(name_of(routine));
    address.store(found, std::memory_order_release);
  }
  return found;
}

}  // namespace

void* next_routine(Routine routine, std::int32_t) {
  return lookup(narrow, routine, find_narrow);
}

void* next_routine(Routine routine, std::int64_t) {
  return lookup(wide, routine, find_wide);
}

bool names_are_ambiguous(Routine routine) {
  Dl_info found{};
  void* const address = next_routine(routine, std::int32_t{});
  if (address == nullptr || dladdr(address, &found) == 0) return false;
  std::string_view file = found.dli_fname;
  file.remove_prefix(file.rfind('/') + 1);
  const std::size_t at = file.find("64.so");  // "x86_64.so" is the name of a processor
  return (at != file.npos && !file.substr(0, at).ends_with("x86_")) ||
         file.find("ilp64") != file.npos;
}

void* lapacke_symbol(const char* name) {
  return dlsym(RTLD_DEFAULT, name);
}

}  // namespace stepwell::lapack
