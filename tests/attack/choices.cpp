// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>

#include "attack/attacks.hpp"

namespace stepwell::attack {

std::int64_t random_order(Size size, Random& random) {
  constexpr std::int64_t kSmall[] = {1, 2, 3, 7, 8, 9, 10, 15, 16, 17, 31, 32, 33};
  constexpr std::int64_t kUpTo200[] = {63, 64, 65, 95, 96, 97, 127, 128, 129, 199, 200};
  constexpr std::int64_t kMedium[] = {255, 256, 257, 511, 512, 513, 671, 672, 767, 768};
  constexpr std::int64_t kLarge[] = {1023, 1024, 1025, 1535, 1536, 2047, 2048, 2049};
  switch (size) {
    case Size::small: {
      const double u = random.uniform();
      if (u < 0.4) return random.one_of(kSmall);
      if (u < 0.86) return random.integer(1, 30);
      return u < 0.97 ? random.integer(31, 80) : random.one_of(kUpTo200);
    }
    case Size::medium:
      if (random.chance(0.3)) return random.one_of(kMedium);
      return random.chance(0.7) ? random.integer(100, 400) : random.integer(400, 1000);
    default:
      if (random.chance(0.4)) return random.one_of(kLarge);
      return random.chance(0.8) ? random.integer(1000, 2000) : random.integer(2000, 4000);
  }
}

Context& random_context(Random& random) {
  static Context one(1), two(2);
  return random.chance(0.85) ? one : two;
}

Structure random_structure(bool spd, Random& random) {
  if (random.chance(0.12)) return Structure::automatic;
  return spd && random.chance(0.9) ? Structure::spd : Structure::general;
}

Choice random_choice(Structure structure, Random& random) {
  constexpr const char* kMaps[] = {"bf16",
                                   "bf16x2",
                                   "bf16x3",
                                   "fp16",
                                   "fp32",
                                   "fp64",
                                   "graded:bf16x3*1,bf16x2*1,bf16",
                                   "adaptive:1e-8",
                                   "adaptive:1e-3",
                                   "bf16,bf16x2,fp32",
                                   "bf16,fp64"};
  constexpr std::int64_t kMapsOfLu = 7;  // the first of these maps
  constexpr double kTolerances[] = {1e-15, 1e-14, 1e-10, 1e-6, 1e-16, 3e-17, 0.5, 1e-3};
  constexpr std::int64_t kTiles[] = {32, 64, 96, 128, 256, 512};
  Choice choice;
  choice.structure = structure;
  SolveOptions& o = choice.options;
  o.engine.context = &random_context(random);
  choice.name = structure == Structure::spd       ? "spd"
                : structure == Structure::general ? "general"
                                                  : "automatic";
  if (o.engine.context->threads() > 1) choice.name += " 2-threads";
  if (random.chance(0.25)) return choice;  // default options, as most callers use
  const auto with = [&](double probability, const std::string& name) {
    const bool yes = random.chance(probability);
    if (yes) choice.name += " " + name;
    return yes;
  };
  if (with(0.5, "map")) {
    const std::int64_t maps = structure == Structure::spd ? std::ssize(kMaps) : kMapsOfLu;
    const char* const map = kMaps[random.integer(0, maps - 1)];
    o.map = parse_map(map);
    choice.name += std::string("=") + map;
  }
  if (with(0.4, "refiner")) {
    o.refine.refiner = random.one_of(all_refiners);
    const bool symmetric_only =
        *o.refine.refiner == Refiner::cg || *o.refine.refiner == Refiner::ir_cg;
    if (symmetric_only && structure == Structure::general) o.refine.refiner = Refiner::fgmres;
    choice.name += "=" + std::string(to_string(*o.refine.refiner));
  }
  if (with(0.25, "no-climb")) o.climb = false;
  if (with(0.2, "tolerance")) {
    o.tolerance = random.one_of(kTolerances);
    choice.name += text("=%g", o.tolerance);
  }
  if (with(0.15, "iterations")) {
    o.refine.iterations = static_cast<int>(random.integer(1, 4));
    choice.name += text("=%d", o.refine.iterations);
  }
  if (with(0.1, "fp32")) o.refine.working = Format::fp32;
  if (with(0.2, "exact-residual")) o.refine.exact_residual = true;
  if (with(0.3, "transposed")) o.transposed = true;
  if (with(0.35, "condition")) o.condition = true;
  if (with(0.3, "prove")) o.prove = true;
  if (with(0.3, "tile")) {
    o.tile = random.one_of(kTiles);
    choice.name += text("=%lld", static_cast<long long>(o.tile));
  }
  if (structure == Structure::spd) {
    if (with(0.3, "upper")) o.triangle = Triangle::upper;
    if (with(0.1, "check-symmetry")) o.check_symmetry = true;
    if (with(0.1, "unit-diagonal")) o.cholesky.scaling = Scaling::unit_diagonal;
    if (with(0.1, "no-scaling")) o.cholesky.scaling = Scaling::none;
    if (with(0.1, "shift")) o.cholesky.shift = random.chance(0.5) ? 1e-3 : 1e-6;
  }
  if (structure == Structure::general && with(0.2, "butterfly")) {
    o.lu.pivoting = Pivoting::butterfly;
    o.lu.seed = random.next();
  }
  return choice;
}

Padded::Padded(std::int64_t rows, std::int64_t cols, std::int64_t padding)
    : rows_(rows),
      cols_(cols),
      ld_(std::max<std::int64_t>(rows, 1) + padding),
      elements_(static_cast<std::size_t>(ld_ * cols + 2 * kEdge),
                std::numeric_limits<double>::quiet_NaN()) {}

Padded::Padded(std::int64_t rows, std::int64_t cols, Random& random)
    : Padded(rows, cols, random.chance(0.5) ? 0 : random.integer(1, 9)) {}

bool Padded::same(const Padded& other) const {
  return std::equal(elements_.begin(), elements_.end(), other.elements_.begin(),
                    other.elements_.end(), [](double x, double y) {
                      return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
                    });
}

bool Padded::same_padding(const Padded& other) const {
  Padded mine(*this);
  for (std::int64_t j = 0; j < cols_; ++j) {
    std::copy_n(other.view().column(j), rows_, mine.view().column(j));
  }
  return mine.same(other);
}

}  // namespace stepwell::attack
