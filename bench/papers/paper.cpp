// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/papers/paper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include <nlohmann/json.hpp>
#include "bench/harness/report.hpp"
#include "core/machine/environment.hpp"
#include "stepwell/map.hpp"

namespace stepwell::bench {
namespace {

using nlohmann::ordered_json;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// From this order on, a run is long enough to need no warm-up.
constexpr std::int64_t kLongRuns = 6000;

}  // namespace

PaperProgress::PaperProgress() : start_(now()) {}

void PaperProgress::begin(const std::string& what, double seconds) {
  done_ += current_;
  current_ = seconds;
  const double elapsed = now() - start_;
  // Uses the guess alone until there is something to correct it with.
  const double pace = done_ > 0.02 * expected_ ? elapsed / done_ : 1;
  const auto left = static_cast<int>(std::max(0.0, expected_ - done_) * pace);
  fmt::print(stderr, "{:3d}:{:02d} left  {}\n", left / 60, left % 60, what);
}

void PaperProgress::end_part(double seconds) {
  ended_ += seconds;
  done_ = ended_;
  current_ = 0;
}

void PaperProgress::skip(const std::string& what, double seconds) {
  expected_ -= seconds;
  ended_ -= seconds;  // end_part() will add them
  fmt::print(stderr, "  skipped: {}\n", what);
}

int PaperRun::rounds(std::int64_t n) const {
  if (max_n < 1024) return 3;
  if (n <= 1024) return 9;
  if (n <= 2048) return 7;
  if (n <= 4096) return 5;
  if (n <= 8192 && max_n <= 8192) return 3;
  return n < 24000 ? 2 : 1;
}

int PaperRun::runs(std::int64_t n) const {
  return rounds(n) + (n < kLongRuns ? 1 : 0);
}

std::vector<Timing> measure(const PaperRun& run, std::int64_t n, std::vector<Side> sides) {
  RotateOptions options;
  options.rounds = run.rounds(n);
  options.warm_up = n < kLongRuns;
  const std::vector<std::vector<double>> seconds = rotate(sides, Clock::wall, options);
  std::vector<Timing> timings;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    sides[i].run = sides[i].prepare = nullptr;  // they hold matrices
    timings.push_back({sides[i], seconds[i]});
  }
  return timings;
}

ordered_json case_json(ordered_json what, const Timing& ours,
                       const std::map<std::string, Timing>& baselines) {
  std::vector<double> rates;
  for (const double s : ours.seconds) rates.push_back(ours.side.work / s * 1e-9);
  const Summary rate = summarize(rates);
  what["seconds"] = rounded(summarize(ours.seconds).median);
  what["rate"] = {{"median", rounded(rate.median)}, {"best", rounded(rate.best)}};
  for (const auto& [name, theirs] : baselines) {
    const bool paired = theirs.seconds.size() == ours.seconds.size();
    const double median = summarize(theirs.seconds).median;
    std::vector<double> pairs;
    for (std::size_t i = 0; i < ours.seconds.size(); ++i) {
      pairs.push_back((paired ? theirs.seconds[i] : median) / ours.seconds[i] * ours.side.work /
                      theirs.side.work);
    }
    what["ratio"][name] = ratio_json(pairs);
  }
  return what;
}

ordered_json identity_json(const Side& side) {
  return {{"name", side.name},
          {"library", side.library},
          {"version", side.version},
          {"core_name", side.core_name},
          {"threads", side.threads}};
}

bool Budget::allows(const std::string& what, std::int64_t n) {
  const auto known = known_.find(what);
  if (known == known_.end()) return true;
  const double grown = static_cast<double>(n) / static_cast<double>(known->second.first);
  const double seconds = known->second.second * grown * grown * grown;
  if (seconds <= longest_) return true;
  skip(fmt::format("{} at n = {}", what, n),
       fmt::format("one run would take about {:.0f} s, more than {:.0f} s", seconds, longest_));
  return false;
}

void Budget::record(const std::string& what, std::int64_t n, const std::vector<double>& seconds) {
  known_[what] = {n, summarize(seconds).median};
}

void Budget::skip(const std::string& what, const std::string& why, double seconds) {
  skipped_.push_back({{"what", what}, {"why", why}});
  progress_.skip(what + ": " + why, seconds);
}

void for_suitesparse(const PaperRun& run, const std::string& part,
                     const std::vector<const char*>& names, double cost, Budget& budget,
                     const std::function<void(const char* name, const io::DenseMatrix&)>& body) {
  const char* const directory = core::variable("STEPWELL_SUITESPARSE");
  if (directory == nullptr) {
    budget.skip("the matrices of " + part,
                "STEPWELL_SUITESPARSE does not name a directory of SuiteSparse matrices", cost);
    return;
  }
  for (const char* const name : names) {
    run.progress->begin(part + ", " + name, cost / static_cast<double>(names.size()));
    const std::string path = std::string(directory) + "/" + name + ".mtx";
    if (!std::filesystem::exists(path)) {
      budget.skip(
          name, std::string("there is no ") + name + ".mtx in the directory STEPWELL_SUITESPARSE");
      continue;
    }
    body(name, io::read_matrix(path));
  }
}

double guess(std::int64_t n, const std::string& map) {
  double rate = 0;  // Gflop/s
  const PrecisionMap m = parse_map(map);
  switch (m.layers.front()) {
    case Rung::bf16:
      rate = 900;
      break;
    case Rung::bf16x2:
      rate = 420;
      break;
    case Rung::bf16x3:
      rate = 180;
      break;
    case Rung::fp16:
      rate = 300;
      break;
    case Rung::fp32:
      rate = 190;
      break;
    case Rung::fp64:
      rate = 95;
      break;
    case Rung::int8x14:
    case Rung::int8x15:
      rate = 200;
      break;
  }
  const auto d = static_cast<double>(n);
  return d * d * d / 3 / (rate * 1e9) + 0.01;
}

}  // namespace stepwell::bench
