// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

/// Environment variables. The library reads and sets them through these only.
namespace stepwell::core {

/// Null: not set, or a set-user-id program (AT_SECURE), whose caller may not choose files for it.
inline const char* variable(const char* name) {
  return secure_getenv(name);
}

/// The same, and null if it is empty.
inline const char* non_empty_variable(const char* name) {
  const char* const value = variable(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

/// Names and values.
using Variables = std::vector<std::pair<std::string, std::string>>;

/// Variables that are set while it lives, for a library that has no other way to be told. The
/// program's other threads may read theirs meanwhile: what they read is neither moved nor freed,
/// which setenv() does. The last one ends first, and other threads must not set any.
class EnvironmentScope {
 public:
  explicit EnvironmentScope(const Variables& variables);
  ~EnvironmentScope();
  EnvironmentScope(const EnvironmentScope&) = delete;
  EnvironmentScope& operator=(const EnvironmentScope&) = delete;

 private:
  char** before_;
  char** mine_;
};

/// For good, and unless the user has set it.
void set_default_variable(const char* name, const char* value);

}  // namespace stepwell::core
