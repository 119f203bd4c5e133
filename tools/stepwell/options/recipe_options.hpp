// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "gallery/recipe.hpp"

/// Options of a command for a matrix of the gallery.
namespace stepwell::tool {

class Verb;

struct RecipeRequest {
  std::string kind = "arithmetic";
  double condition = 1e2;
  double length = 0.1;
  double nugget = 1e-2;
  std::uint64_t seed = 1;
  bool sorted = false;
};

/// The largest --n of every verb: the plan of a solve counts tiles.
inline constexpr std::int64_t kLargestOrder = std::int64_t{1} << 21;

/// Adds --cond, --length, --nugget, --seed and --sorted.
void add_recipe_options(Verb verb, RecipeRequest& r);

/// Throws Error(invalid_argument) if there is no such kind.
gallery::Recipe recipe_of(const RecipeRequest& r);

/// The kinds and what the options mean for them, for --help.
std::string kinds_help();

}  // namespace stepwell::tool
