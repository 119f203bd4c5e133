// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

/// Environment variables. The library reads and sets them only through these functions.
namespace stepwell::core {

/// The value of a variable. Null if it is not set, or in a set-user-id program (AT_SECURE), in
/// which the caller must not be able to choose files.
inline const char* variable(const char* name) {
  return secure_getenv(name);
}

/// The value of a variable; null also if it is empty.
inline const char* non_empty_variable(const char* name) {
  const char* const value = variable(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

/// Names and values.
using Variables = std::vector<std::pair<std::string, std::string>>;

/// Sets variables for its lifetime, for a library that can be configured only in this way. Other
/// threads may read the environment meanwhile: unlike with setenv(), values that they read are
/// neither moved nor freed. Nested scopes must end in reverse order, and other threads must not set
/// variables meanwhile.
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

/// Sets a variable permanently unless it is already set.
void set_default_variable(const char* name, const char* value);

}  // namespace stepwell::core
