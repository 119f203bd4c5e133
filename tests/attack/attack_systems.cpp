// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "attack/attacks.hpp"

/// Random adversarial systems with random options, judged by 113 bits. docs/reliability.md says
/// what is judged, and how to run a million of them.
namespace stepwell::attack {
namespace {

constexpr const char* kUsage =
    "attack_systems [--kind spd|general|lstsq|batch|reuse|all] [--size small|medium|large]\n"
    "               [--first SEED] [--count N] [--seconds S] [--verbose] [--log FILE]\n"
    "Exit codes: 0 nothing was found, 1 a broken promise, 2 wrong usage, 3 a crash.\n";

struct Kind {
  const char* name;
  void (*attack)(std::uint64_t, Size, Report&);
  int share;  ///< of a hundred seeds of 'all'
};
constexpr Kind kKinds[] = {{"spd", attack_spd, 32},
                           {"general", attack_general, 32},
                           {"lstsq", attack_least_squares, 14},
                           {"batch", attack_batch, 7},
                           {"reuse", attack_reuse, 15}};
constexpr const char* kSizes[] = {"small", "medium", "large"};
constexpr unsigned kSeconds[] = {120, 600, 1800};  ///< that a system may take

struct Request {
  std::string kind = "all";
  Size size = Size::small;
  std::uint64_t first = 1, count = 1000;
  double seconds = std::numeric_limits<double>::infinity();
  bool verbose = false;
  std::string log;
};

Request parse(int argc, char** argv) {
  Request request;
  for (int k = 1; k < argc; ++k) {
    const std::string option = argv[k];
    if (option == "--verbose") {
      request.verbose = true;
      continue;
    }
    if (k + 1 == argc) throw std::invalid_argument(option);
    const std::string value = argv[++k];
    if (option == "--kind") {
      request.kind = value;
    } else if (option == "--size") {
      int index = 0;
      while (index < 3 && value != kSizes[index]) ++index;
      if (index == 3) throw std::invalid_argument(value);
      request.size = static_cast<Size>(index);
    } else if (option == "--first") {
      request.first = std::stoull(value);
    } else if (option == "--count") {
      request.count = std::stoull(value);
    } else if (option == "--seconds") {
      request.seconds = std::stod(value);
    } else if (option == "--log") {
      request.log = value;
    } else {
      throw std::invalid_argument(option);
    }
  }
  return request;
}

/// The seed's own kind when all are asked for.
const Kind& kind_of(const std::string& name, std::uint64_t seed) {
  if (name == "all") {
    auto place = Random(seed, "all").integer(0, 99);
    for (const Kind& kind : kKinds) {
      if (place < kind.share) return kind;
      place -= kind.share;
    }
  }
  for (const Kind& kind : kKinds) {
    if (name == kind.name) return kind;
  }
  throw std::invalid_argument(name);
}

int run(const Request& request) {
  using Clock = std::chrono::steady_clock;
  const auto size = static_cast<unsigned>(request.size);
  const Clock::time_point start = Clock::now();
  const auto since = [](Clock::time_point then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
  };
  Report report("attack_systems", request.log, request.verbose);
  guard_against_crashes();
  Clock::time_point kept = start;
  std::uint64_t seed = request.first;
  for (; seed < request.first + request.count && since(start) < request.seconds; ++seed) {
    const Kind& kind = kind_of(request.kind, seed);
    report.begin(seed, text("--kind %s --size %s", kind.name, kSizes[size]));
    report.count("systems");
    allow_seconds(kSeconds[size]);
    kind.attack(seed, request.size, report);
    if (since(kept) > 10) {
      report.keep(request.first, seed + 1);
      kept = Clock::now();
    }
  }
  allow_seconds(0);
  report.keep(request.first, seed);
  std::printf("seeds %llu to %llu of %s, %s: %.3g s, %s\n",
              static_cast<unsigned long long>(request.first),
              static_cast<unsigned long long>(seed - 1), request.kind.c_str(), kSizes[size],
              since(start), report.summary().c_str());
  return report.findings() > 0 ? 1 : 0;
}

}  // namespace
}  // namespace stepwell::attack

int main(int argc, char** argv) {
  try {
    return stepwell::attack::run(stepwell::attack::parse(argc, argv));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "attack_systems: %s?\n%s", e.what(), stepwell::attack::kUsage);
    return 2;
  }
}
