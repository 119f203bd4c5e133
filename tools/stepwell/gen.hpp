// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "recipe_options.hpp"

namespace stepwell::tool {

/// Bytes a second that a disk takes, about: for the forecast only.
inline constexpr double kWriteRate = 5e8;

/// What `gen` is asked for.
struct GenRequest : RecipeRequest {
  std::int64_t n = 0;
  std::int64_t m = 0;  ///< rows of a tall matrix
  std::int64_t columns = 1;
  std::string out;
  std::string rhs;
  bool quiet = false;
};

/// A tall matrix, and right-hand sides that it nearly fits. An NPY file is written row by row and
/// takes no memory. Throws Error.
void generate_tall(const GenRequest& r);

/// The kinds that are tall, for --help.
std::string tall_help();

}  // namespace stepwell::tool
