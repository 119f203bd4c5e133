// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "attack/seeds.hpp"

#include <chrono>
#include <cstdio>
#include <stdexcept>

namespace stepwell::attack {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kKeepSeconds = 10;  ///< between two lines of counts in the log

double since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

Request parse(int argc, char** argv, const std::map<std::string, std::string>& others) {
  Request request;
  request.others = others;
  for (int k = 1; k < argc; ++k) {
    const std::string option = argv[k];
    if (option == "--verbose") {
      request.verbose = true;
      continue;
    }
    if (k + 1 == argc) throw std::invalid_argument(option);
    const std::string value = argv[++k];
    if (option == "--first") {
      request.first = std::stoull(value);
    } else if (option == "--count") {
      request.count = std::stoull(value);
    } else if (option == "--seconds") {
      request.seconds = std::stod(value);
    } else if (option == "--log") {
      request.log = value;
    } else if (others.contains(option)) {
      request.others[option] = value;
    } else {
      throw std::invalid_argument(option);
    }
  }
  return request;
}

int run(const char* program, const Request& request, unsigned limit,
        const std::function<Attack(const Request&, std::uint64_t seed)>& attack) {
  const Clock::time_point start = Clock::now();
  Clock::time_point kept = start;
  Report report(program, request.log, request.verbose);
  guard_against_crashes();
  std::uint64_t seed = request.first;
  for (; seed < request.first + request.count && since(start) < request.seconds; ++seed) {
    const Attack one = attack(request, seed);
    report.begin(seed, one.repeat);
    report.count("systems");
    allow_seconds(limit);
    one.run(report);
    if (since(kept) > kKeepSeconds) {
      report.keep(request.first, seed + 1);
      kept = Clock::now();
    }
  }
  allow_seconds(0);
  report.keep(request.first, seed);
  std::printf("%s: seeds from %llu on, %.3g s, %s\n", program,
              static_cast<unsigned long long>(request.first), since(start),
              report.summary().c_str());
  return report.findings() > 0 ? 1 : 0;
}

}  // namespace

int attack_seeds(const char* program, int argc, char** argv,
                 const std::map<std::string, std::string>& others, unsigned limit,
                 const std::function<Attack(const Request&, std::uint64_t seed)>& attack) {
  try {
    return run(program, parse(argc, argv, others), limit, attack);
  } catch (const std::exception& e) {
    std::string usage;
    for (const auto& [name, value] : others) usage += " [" + name + " " + value + "]";
    std::fprintf(stderr,
                 "%s: %s?\nusage: %s [--first SEED] [--count N] [--seconds S] [--verbose] "
                 "[--log FILE]%s\n",
                 program, e.what(), program, usage.c_str());
    return 2;
  }
}

}  // namespace stepwell::attack
