// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/machine/environment.hpp"

#include <unistd.h>

#include <memory>
#include <string_view>

namespace stepwell::core {
namespace {

/// An environment made by publish(). Never freed: a thread may keep a pointer to one of its values
/// indefinitely.
struct Kept {
  std::vector<std::string> texts;  ///< NAME=value
  std::vector<char*> array;
  std::unique_ptr<Kept> before;
};

/// Replaces the environment of the program by one that also has these variables, and returns it.
char** publish(const Variables& variables) {
  static std::unique_ptr<Kept>& last = *new std::unique_ptr<Kept>;
  auto kept = std::make_unique<Kept>();
  for (const auto& [name, value] : variables) kept->texts.push_back(name + "=" + value);
  for (std::string& text : kept->texts) kept->array.push_back(text.data());
  const auto is_set_here = [&](std::string_view entry) {
    for (const auto& [name, value] : variables) {
      if (entry.starts_with(name) && entry.substr(name.size()).starts_with('=')) return true;
    }
    return false;
  };
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (!is_set_here(*entry)) kept->array.push_back(*entry);
  }
  kept->array.push_back(nullptr);
  kept->before = std::move(last);
  last = std::move(kept);
  return environ = last->array.data();
}

}  // namespace

EnvironmentScope::EnvironmentScope(const Variables& variables)
    : before_(environ), mine_(publish(variables)) {}

EnvironmentScope::~EnvironmentScope() {
  if (environ == mine_) environ = before_;  // otherwise it has been replaced meanwhile
}

void set_default_variable(const char* name, const char* value) {
  if (variable(name) == nullptr) publish({{name, value}});
}

}  // namespace stepwell::core
