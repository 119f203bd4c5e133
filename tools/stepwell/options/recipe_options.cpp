// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "options/recipe_options.hpp"

#include "options/verb.hpp"
#include "stepwell/error.hpp"

namespace stepwell::tool {

void add_recipe_options(Verb verb, RecipeRequest& r) {
  verb.add_option("--cond", r.condition,
                  "Condition number, for kinds with given eigenvalues or singular values")
      .check(Range(1.0, 1e16))
      .capture_default_str();
  verb.add_option("--length", r.length, "Correlation length of a covariance")
      .check(Range(1e-6, 1e6))
      .capture_default_str();
  verb.add_option("--nugget", r.nugget, "Value added to the diagonal of a covariance")
      .check(Range(0.0, 1e6))
      .capture_default_str();
  verb.add_option("--seed", r.seed, "Seed of the random numbers").capture_default_str();
  verb.add_flag("--sorted", r.sorted, "Sort the points of a covariance in Morton order");
}

gallery::Recipe recipe_of(const RecipeRequest& r) {
  const auto kind = gallery::kind_from_string(r.kind);
  if (!kind)
    throw Error(ErrorCode::invalid_argument,
                "there is no kind of matrix '" + r.kind + "'; 'stepwell gen --help' lists them");
  return {*kind, r.condition, r.length, r.nugget, r.seed, r.sorted};
}

std::string kinds_help() {
  return "Kinds of matrices, symmetric positive definite:\n"
         "  arithmetic, clustered, logarithmic, geometric, custom-clustered\n"
         "      eigenvalues from 1 to 1 / --cond, random eigenvectors\n"
         "  dominant    random elements in [-1, 1), n on the diagonal\n"
         "  matern, exponential, gaussian\n"
         "      covariances of random points in the unit square; --length, --nugget, --sorted\n"
         "  hilbert, lehmer, minij, trefethen, laplacian\n"
         "      classical test matrices; hilbert is not positive definite in FP64 beyond n = 13\n"
         "\nGeneral matrices:\n"
         "  general-arithmetic, general-clustered, general-one-large, general-logarithmic,\n"
         "  general-geometric\n"
         "      singular values from 1 to 1 / --cond, random bases; clustered: all 1 except one\n"
         "  positive-arithmetic, positive-clustered, positive-logarithmic\n"
         "      the same, with eigenvalues whose real parts are positive\n"
         "  general-dominant, hplmxp\n"
         "      random with a large diagonal: n added to it, or as in the benchmark HPL-MxP\n"
         "  randn, rands, randb\n"
         "      random elements: normal, in [-1, 1), signs\n"
         "  orthog, circul, frank, fiedler, chebspec, riemann, zielke, triw\n"
         "      classical test matrices; orthog and fiedler are symmetric and indefinite\n"
         "  gfpp, gfpp-rows\n"
         "      growth factor 2^(n-1) with partial pivoting by columns, by rows\n";
}

}  // namespace stepwell::tool
