// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/baselines/baseline_scalapack.hpp"

#include <dlfcn.h>

#include <string>

#include "bench/baselines/system_library.hpp"
#include "stepwell/error.hpp"

namespace stepwell::bench {
namespace {

constexpr const char* kScalapackNames[] = {"libscalapack-openmpi.so.2.2", "libscalapack-openmpi.so",
                                           "libscalapack-openmpi.so.2.1", "libscalapack.so"};

void* open_scalapack() {
  for (const char* const name : kScalapackNames) {
    for (const char* const directory : kSystemLibraries) {
      const std::string path = std::string(directory) + "/" + name;
      if (void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    }
  }
  throw Error(ErrorCode::unsupported,
              std::string("--against pdposv needs ScaLAPACK for this MPI (Debian: "
                          "libscalapack-openmpi2.2): ") +
                  dlerror());
}

template <class F>
F* scalapack_symbol(void* library, const char* name) {
  void* const found = dlsym(library, name);
  if (found == nullptr) {
    throw Error(ErrorCode::unsupported, std::string("ScaLAPACK has no '") + name + "'");
  }
  return reinterpret_cast<F*>(found);
}

}  // namespace

Scalapack load_scalapack() {
  void* const library = open_scalapack();
  Scalapack s;
  s.posv = scalapack_symbol<Scalapack::Posv>(library, "pdposv_");
  s.pinfo = scalapack_symbol<void(int*, int*)>(library, "Cblacs_pinfo");
  s.get = scalapack_symbol<void(int, int, int*)>(library, "Cblacs_get");
  s.gridinit = scalapack_symbol<void(int*, const char*, int, int)>(library, "Cblacs_gridinit");
  return s;
}

void start_grid(Scalapack& s, int rows, int cols) {
  int rank = 0, ranks = 0;
  s.pinfo(&rank, &ranks);  // initializes BLACS
  s.get(-1, 0, &s.context);
  s.gridinit(&s.context, "Row", rows, cols);
}

}  // namespace stepwell::bench
