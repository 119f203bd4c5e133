// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "options/recipe_options.hpp"

namespace stepwell::tool {

/// Approximate write rate of a disk in bytes per second, for the progress forecast only.
inline constexpr double kWriteRate = 5e8;

/// Options of `gen`.
struct GenRequest : RecipeRequest {
  std::int64_t n = 0;
  std::int64_t m = 0;  ///< rows of a tall matrix
  std::int64_t columns = 1;
  std::string out;
  std::string rhs;
  bool quiet = false;
};

/// Writes a tall matrix, and right-hand sides that are A x plus noise. An NPY file is written row
/// by row, without the whole matrix in memory. Throws Error.
void generate_tall(const GenRequest& r);

/// The tall kinds, for --help.
std::string tall_help();

}  // namespace stepwell::tool
