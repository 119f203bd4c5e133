// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gallery/recipe.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/threads/thread_pool.hpp"
#include "gallery/basis.hpp"
#include "gallery/element_rules.hpp"
#include "gallery/elements.hpp"
#include "gallery/general.hpp"
#include "stepwell/error.hpp"

namespace stepwell::gallery {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, "gallery: " + text);
}

void check(MatrixView<const double> a, int threads) {
  if (a.rows != a.cols || a.rows < 0) {
    refuse("the matrix must be square, not " + std::to_string(a.rows) + " x " +
           std::to_string(a.cols));
  }
  if (a.ld < std::max<std::int64_t>(1, a.rows)) {
    refuse("the leading dimension " + std::to_string(a.ld) + " is less than the " +
           std::to_string(a.rows) + " rows");
  }
  if (threads < 1) refuse("the number of threads must be positive");
}

}  // namespace

void check(const Recipe& recipe) {
  if (!(recipe.condition >= 1) || !std::isfinite(recipe.condition)) {
    refuse("the condition number must be finite and at least 1");
  }
  if (!(recipe.length > 0) || !std::isfinite(recipe.length)) {
    refuse("the correlation length must be positive and finite");
  }
  if (!(recipe.nugget >= 0) || !std::isfinite(recipe.nugget)) {
    refuse("the nugget must be finite and not negative");
  }
}

std::vector<double> primes(std::int64_t n) {
  // The n-th prime is below n (log n + log log n) for n > 5.
  const double size = std::max(6.0, static_cast<double>(n));
  std::vector<bool> composite(
      static_cast<std::size_t>(size * (std::log(size) + std::log(std::log(size)))) + 2);
  std::vector<double> found;
  for (std::size_t k = 2; found.size() < static_cast<std::size_t>(n); ++k) {
    if (composite[k]) continue;
    found.push_back(static_cast<double>(k));
    for (std::size_t multiple = k * k; multiple < composite.size(); multiple += k) {
      composite[multiple] = true;
    }
  }
  return found;
}

void fill(MatrixView<double> a, const Recipe& recipe, int threads) {
  check(a, threads);
  check(recipe);
  engine::ThreadPool pool(threads);
  if (is_general(recipe.kind)) return fill_general(a, recipe, pool);
  const bool by_element =
      with_element_rule(a.rows, recipe, [&](const auto& element) { fill_lower(a, pool, element); });
  if (!by_element) {  // a given spectrum
    const Basis q(a.rows, recipe.seed, 0);
    set_scaled_basis(a, q, spectrum(recipe.kind, a.rows, recipe.condition, recipe.seed), pool);
    multiply_transposed(a, q, Part::lower, pool);
  }
  copy_lower_to_upper(a, pool);
}

}  // namespace stepwell::gallery
