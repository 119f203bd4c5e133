// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/starpu/home.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "core/log.hpp"
#include "core/machine/environment.hpp"
#include "stepwell/error.hpp"

namespace stepwell::engine {
namespace {

using core::non_empty_variable;

/// Creates the directory and its parents, as StarPU would; returns whether files can be created in
/// it.
bool make_writable(const std::string& path) {
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (mkdir(part.c_str(), 0777) != 0 && errno != EEXIST) {
      struct stat there {};  // an existing parent may give another error on some file systems
      if (stat(part.c_str(), &there) != 0 || !S_ISDIR(there.st_mode)) return false;
    }
    if (slash == std::string::npos) break;
  }
  return access(path.c_str(), W_OK | X_OK) == 0;
}

bool can_hold_files(const std::string& sampling) {
  return make_writable(sampling + "/bus") && make_writable(sampling + "/codelets");
}

/// A directory under $TMPDIR or /tmp that no other user can have prepared; empty: there is none.
std::string own_directory() {
  const char* const tmp = non_empty_variable("TMPDIR");
  const std::string path =
      std::string(tmp != nullptr ? tmp : "/tmp") + "/stepwell-" + std::to_string(geteuid());
  if (mkdir(path.c_str(), 0700) == 0) return path;
  struct stat there {};
  const bool ours = lstat(path.c_str(), &there) == 0 && S_ISDIR(there.st_mode) &&
                    there.st_uid == geteuid() && (there.st_mode & 077) == 0;
  if (ours) return path;
  std::string unique = path + "-XXXXXX";
  return mkdtemp(unique.data()) == nullptr ? "" : unique;
}

}  // namespace

std::string prepare_starpu_home() {
  const char* const models = non_empty_variable("STARPU_PERF_MODEL_DIR");
  const char* const starpu_home = non_empty_variable("STARPU_HOME");
  const char* const chosen = models != nullptr ? models : starpu_home;
  const char* const home = chosen != nullptr ? chosen : non_empty_variable("HOME");
  const std::string below = models != nullptr ? "" : "/.starpu/sampling";
  if (home != nullptr && can_hold_files(home + below)) return "";
  if (chosen != nullptr) {
    throw Error(ErrorCode::unsupported,
                std::string("StarPU can't write to ") + chosen + ", where " +
                    (models != nullptr ? "STARPU_PERF_MODEL_DIR" : "STARPU_HOME") +
                    " puts its files; set it to a writable directory, or unset it");
  }
  const std::string own = own_directory();
  if (own.empty() || !can_hold_files(own + "/.starpu/sampling")) {
    throw Error(
        ErrorCode::unsupported,
        "StarPU needs a directory for a few small files, and neither the home directory "
        "nor TMPDIR is writable; set STARPU_HOME to a writable directory, or use one thread");
  }
  core::log("the home directory is not writable; StarPU's files are written to " + own);
  return own;
}

}  // namespace stepwell::engine
