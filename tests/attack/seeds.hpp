// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include "attack/report.hpp"

/// Code shared by all attacks: a range of seeds, a log, and the exit code.
namespace stepwell::attack {

struct Request {
  std::uint64_t first = 1, count = 1000;
  double seconds = std::numeric_limits<double>::infinity();
  bool verbose = false;
  std::string log;
  std::map<std::string, std::string> others;  ///< options of one program: name -> value
};

/// An attack with one seed: the options to add to the command to repeat it, and the function to
/// run.
struct Attack {
  std::string repeat;
  std::function<void(Report&)> run;
};

/// Parses --first SEED --count N --seconds S --verbose --log FILE and the options in 'others',
/// which holds their defaults. Runs the attack that 'attack' returns for each seed; each may take
/// 'limit' seconds. Returns the exit code: 0 nothing was found, 1 a broken guarantee, 2 wrong
/// usage; 3 a crash.
int attack_seeds(const char* program, int argc, char** argv,
                 const std::map<std::string, std::string>& others, unsigned limit,
                 const std::function<Attack(const Request&, std::uint64_t seed)>& attack);

}  // namespace stepwell::attack
