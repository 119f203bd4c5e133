// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <stdexcept>

#include "attack/attacks.hpp"
#include "attack/seeds.hpp"

/// Random adversarial systems with random options, verified in 113-bit arithmetic.
/// docs/reliability.md says what is verified, and how to run a million systems.
///
///   attack_systems [--kind spd|general|lstsq|batch|reuse|all] [--size small|medium|large] ...
namespace stepwell::attack {
namespace {

struct Kind {
  const char* name;
  void (*attack)(std::uint64_t, Size, Report&);
  int percent;  ///< percentage of the seeds with kind 'all'
};
constexpr Kind kKinds[] = {{"spd", attack_spd, 32},
                           {"general", attack_general, 32},
                           {"lstsq", attack_least_squares, 14},
                           {"batch", attack_batch, 7},
                           {"reuse", attack_reuse, 15}};
constexpr unsigned kSeconds = 1800;  ///< a large system may take minutes on a busy machine

/// The kind of a seed; it depends on the seed if 'name' is "all".
const Kind& kind_of(const std::string& name, std::uint64_t seed) {
  if (name == "all") {
    auto place = Random(seed, "all").integer(0, 99);
    for (const Kind& kind : kKinds) {
      if (place < kind.percent) return kind;
      place -= kind.percent;
    }
  }
  for (const Kind& kind : kKinds) {
    if (name == kind.name) return kind;
  }
  throw std::invalid_argument("--kind " + name);
}

Size size_of(const std::string& name) {
  if (name == "small") return Size::small;
  if (name == "medium") return Size::medium;
  if (name == "large") return Size::large;
  throw std::invalid_argument("--size " + name);
}

Attack attack(const Request& request, std::uint64_t seed) {
  const Kind& kind = kind_of(request.others.at("--kind"), seed);
  const std::string& size = request.others.at("--size");
  return {std::string("--kind ") + kind.name + " --size " + size,
          [&kind, seed, s = size_of(size)](Report& report) { kind.attack(seed, s, report); }};
}

}  // namespace
}  // namespace stepwell::attack

int main(int argc, char** argv) {
  using namespace stepwell::attack;
  return attack_seeds("attack_systems", argc, argv, {{"--kind", "all"}, {"--size", "small"}},
                      kSeconds, attack);
}
