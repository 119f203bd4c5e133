// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/harness/harness.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

namespace stepwell::bench {
namespace {

double now(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

clockid_t id_of(Clock clock) {
  return clock == Clock::thread_cpu ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
}

/// True when another thread of this process runs or waits for a core. On a busy machine a spinning
/// thread may use no CPU time for milliseconds; the kernel still lists it as runnable.
bool another_thread_runs() {
  const std::string self = std::to_string(gettid());
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    if (task.path().filename() == self) continue;
    std::ifstream file(task.path() / "stat");
    std::string stat;
    std::getline(file, stat);
    const std::size_t name_end = stat.rfind(')');  // "id (name) state ..."
    if (name_end != std::string::npos && stat.compare(name_end, 3, ") R") == 0) return true;
  }
  return false;
}

/// Waits until the other threads sleep: a library's idle threads spin on the cores that the next
/// side needs, OpenBLAS's for 2^26 to 2^28 ticks of the clock, oneMKL's for 0.2 s.
void wait_until_idle() {
  constexpr auto interval = std::chrono::milliseconds(2);
  constexpr double little = 5e-4;  // a spinning thread uses 2 ms
  constexpr double most = 1;       // second
  int idle = 0;
  for (const double end = now(CLOCK_MONOTONIC) + most; idle < 3 && now(CLOCK_MONOTONIC) < end;) {
    const double before = now(CLOCK_PROCESS_CPUTIME_ID);
    std::this_thread::sleep_for(interval);
    const bool used_little = now(CLOCK_PROCESS_CPUTIME_ID) - before < little;
    idle = used_little && !another_thread_runs() ? idle + 1 : 0;
  }
}

/// Measures a side; keeps the seconds per call of each of its windows.
class Runner {
 public:
  Runner(const Side& side, Clock clock, double window)
      : side_(side), clock_(id_of(clock)), window_(window) {}

  void measure() {
    double elapsed = 0;
    const int calls = calls_;
    if (side_.prepare) {
      for (int i = 0; i < calls; ++i) {
        side_.prepare();
        const double start = now(clock_);
        side_.run();
        elapsed += now(clock_) - start;
      }
    } else {
      const double start = now(clock_);
      for (int i = 0; i < calls; ++i) side_.run();
      elapsed = now(clock_) - start;
    }
    const double call = std::max(elapsed, 1e-9) / calls;
    seconds_.push_back(call);
    calls_ = static_cast<int>(std::clamp(std::round(window_ / call), 1.0, 1e6));
  }

  /// Waits, before the other side's turn, until this side's threads sleep.
  void settle() const {
    if (side_.threads > 1) wait_until_idle();
  }

  /// Measures until a window has about the right number of calls and the clock frequency of the
  /// core has settled; one long call is enough for both.
  void warm_up() {
    do {
      measure();
    } while (seconds_.size() < 4 && seconds_.back() < 20 * window_);
    seconds_.clear();
    settle();
  }

  double last_rate() const { return rate(seconds_.back()); }
  const std::vector<double>& seconds() const { return seconds_; }

  SideResult result() const {
    std::vector<double> rates;
    for (const double s : seconds_) rates.push_back(rate(s));
    std::vector<double> sorted = seconds_;
    std::sort(sorted.begin(), sorted.end());
    return {quantile(sorted, 0.5), summarize(rates)};
  }

 private:
  double rate(double seconds) const { return side_.work / seconds * 1e-9; }

  const Side& side_;
  clockid_t clock_;
  double window_;
  int calls_ = 1;
  std::vector<double> seconds_;
};

}  // namespace

double quantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return 0;
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = position - static_cast<double>(below);
  return sorted[below] + weight * (sorted[above] - sorted[below]);
}

Summary summarize(std::vector<double> sample) {
  if (sample.empty()) return {};
  std::sort(sample.begin(), sample.end());
  return {quantile(sample, 0.5), sample.back(), quantile(sample, 0.1)};
}

ContestResult alternate(const Contest& contest, const HarnessOptions& options) {
  Runner candidate(contest.candidate, contest.clock, options.window);
  Runner baseline(contest.baseline, contest.clock, options.window);
  candidate.warm_up();
  baseline.warm_up();

  const double end = now(CLOCK_MONOTONIC) + options.seconds;
  std::vector<double> ratios;
  const auto more = [&] {
    const int done = static_cast<int>(ratios.size());
    if (options.windows > 0) return done < options.windows;
    return done < kLeastWindows || now(CLOCK_MONOTONIC) < end;
  };
  for (bool candidate_first = true; more(); candidate_first = !candidate_first) {
    for (Runner* const runner :
         {candidate_first ? &candidate : &baseline, candidate_first ? &baseline : &candidate}) {
      runner->measure();
      runner->settle();
    }
    ratios.push_back(candidate.last_rate() / baseline.last_rate());
  }
  return {candidate.result(), baseline.result(), summarize(ratios), ratios};
}

std::vector<std::vector<double>> rotate(const std::vector<Side>& sides, Clock clock,
                                        const RotateOptions& options) {
  std::vector<Runner> runners;
  for (const Side& side : sides) runners.emplace_back(side, clock, options.window);
  const auto announce = [&](const Side& side) {
    if (options.before) options.before(side);
  };
  for (std::size_t i = 0; options.warm_up && i < sides.size(); ++i) {
    announce(sides[i]);
    runners[i].warm_up();
  }
  for (int round = 0; round < options.rounds; ++round) {
    for (std::size_t k = 0; k < sides.size(); ++k) {
      const std::size_t i = round % 2 == 0 ? k : sides.size() - 1 - k;
      announce(sides[i]);
      runners[i].measure();
      runners[i].settle();
    }
  }
  std::vector<std::vector<double>> seconds;
  for (const Runner& runner : runners) seconds.push_back(runner.seconds());
  return seconds;
}

}  // namespace stepwell::bench
