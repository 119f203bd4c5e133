// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "options/launcher.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <string>

#include "core/machine/environment.hpp"
#include "stepwell/error.hpp"

namespace stepwell::tool {
namespace {

/// The value of the first of these variables that is a number; 'none' if there is none.
int number_in(std::initializer_list<const char*> variables, int none) {
  for (const char* const name : variables) {
    const char* const text = core::variable(name);
    if (text == nullptr) continue;
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    if (end != text && *end == '\0' && value >= 0 && value < (1L << 30)) {
      return static_cast<int>(value);
    }
  }
  return none;
}

/// 0 without a launcher.
int number_of_processes() {
  return number_in({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}, 0);
}

void* load(const char* name) {
  // Open MPI looks up its own symbols among those that are loaded globally.
  void* const library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    throw Error(ErrorCode::unsupported,
                std::string("ranks need Stepwell's library for MPI: ") + dlerror());
  }
  return library;
}

}  // namespace

bool launched() {
  return number_of_processes() > 0;
}

int launched_ranks() {
  return std::max(1, number_of_processes());
}

int launched_rank() {
  return number_in({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}, 0);
}

Ranks load_ranks() {
  load("libstepwell.so." STEPWELL_SOVERSION);  // which the next library needs, wherever it is
  void* const library = load("libstepwell_mpi.so." STEPWELL_SOVERSION);
  using World = Ranks();
  const auto world = reinterpret_cast<World*>(dlsym(library, "_ZN8stepwell9mpi_worldEv"));
  if (world == nullptr) throw Error(ErrorCode::internal, dlerror());
  return world();
}

}  // namespace stepwell::tool
