// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

/// The measurement method of every benchmark: candidate and baseline alternate in short windows,
/// because the speed of the machines that we measure on changes by a factor of four every ten
/// milliseconds. Only the ratio of two neighbouring windows is meaningful. Does not depend on
/// kernels.
namespace stepwell::bench {

/// One of the two sides that are compared.
struct Side {
  std::string name;       ///< of the kernel or routine
  std::string library;    ///< where it comes from
  std::string version;    ///< of the library
  std::string core_name;  ///< the CPU or instruction set the library thinks it runs on
  int threads = 1;
  double work = 0;            ///< flops or bytes of one call; rates are in 1e9 of these per second
  std::function<void()> run;  ///< one call
  std::function<void()> prepare;  ///< before each call, not timed; may be empty
};

/// The CPU clock of the calling thread excludes the time that other processes take from it. If
/// several threads work, only the wall clock counts them all.
enum class Clock { thread_cpu, wall };

struct Contest {
  Side candidate;
  Side baseline;
  std::string rate_unit;
  Clock clock = Clock::thread_cpu;
};

struct HarnessOptions {
  double seconds = 5;     ///< of the whole measurement, approximately
  int windows = 0;        ///< pairs of windows; 0: as many as fit into 'seconds', at least 20
  double window = 0.005;  ///< seconds of one window; a call that takes longer is one window
};
inline constexpr int kLeastWindows = 20;

/// The median of a sample, its largest value, and the value that nine in ten exceed.
struct Summary {
  double median = 0;
  double best = 0;
  double p10 = 0;
};
Summary summarize(std::vector<double> sample);

/// The value below which the fraction q of a sorted sample lies, interpolated.
double quantile(const std::vector<double>& sorted, double q);

struct SideResult {
  double seconds = 0;  ///< of one call, median
  Summary rate;
};

struct ContestResult {
  SideResult candidate;
  SideResult baseline;
  Summary ratio;              ///< of the pairs
  std::vector<double> pairs;  ///< candidate's rate / baseline's rate in the same pair of windows
};

/// Warms up both sides, then alternates between them. The side that goes first changes with every
/// pair.
ContestResult alternate(const Contest& contest, const HarnessOptions& options);

/// The same for many sides: every round has one window of each side, every other round in reverse
/// order. A call that takes seconds needs no warm-up. Returns the seconds per call by side and
/// round.
struct RotateOptions {
  int rounds = 5;
  bool warm_up = true;
  double window = 0.005;
  std::function<void(const Side&)> before;  ///< called before each window, to report progress
};
std::vector<std::vector<double>> rotate(const std::vector<Side>& sides, Clock clock,
                                        const RotateOptions& options);

}  // namespace stepwell::bench
