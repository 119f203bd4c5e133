// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "report/progress_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace stepwell::tool {
namespace {

constexpr int kBar = 24;
constexpr auto kQuiet = std::chrono::milliseconds(500);
constexpr auto kBeat = std::chrono::milliseconds(200);
/// Below this fraction the pace of a stage is less reliable than the forecast.
constexpr double kTooEarly = 0.05;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

std::string duration_text(double seconds) {
  const double some = seconds > 0 ? std::min(seconds, 1e9) : 0;  // a NaN becomes 0
  const auto whole = static_cast<long long>(std::ceil(some));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string progress_text(const std::vector<Stage>& stages, std::size_t stage, double fraction,
                          double elapsed) {
  const Stage& now = stages[stage];
  double left = fraction > kTooEarly ? elapsed * (1 - fraction) / fraction
                                     : std::max(0.0, now.seconds - elapsed);
  for (std::size_t k = stage + 1; k < stages.size(); ++k) left += stages[k].seconds;
  const int full = static_cast<int>(std::lround(fraction * kBar));
  const std::string bar = fraction > 0 ? fmt::format("[{:#<{}}{:-<{}}] {:3.0f} %", "", full, "",
                                                     kBar - full, 100 * fraction)
                                       : fmt::format("{:{}}", "", kBar + 8);
  return fmt::format("{:<16}{}  {} left", now.name, bar, duration_text(left));
}

ProgressLine::ProgressLine(bool wanted, std::vector<Stage> stages)
    : stages_(std::move(stages)), since_(std::chrono::steady_clock::now()) {
  if (wanted && isatty(STDERR_FILENO) != 0) thread_ = std::thread([this] { follow(); });
}

ProgressLine::~ProgressLine() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  wake_.notify_one();
  thread_.join();
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
}

void ProgressLine::follow() {
  std::unique_lock lock(mutex_);
  auto beat = std::chrono::duration_cast<std::chrono::steady_clock::duration>(kQuiet);
  while (!wake_.wait_for(lock, beat, [this] { return done_; })) {
    draw();
    beat = kBeat;
  }
}

void ProgressLine::draw() {
  const Phase phase = progress_.phase;
  if (stages_[stage_].phase != phase) {
    const auto found = std::find_if(stages_.begin(), stages_.end(),
                                    [&](const Stage& s) { return s.phase == phase; });
    if (found == stages_.end()) return;
    stage_ = static_cast<std::size_t>(found - stages_.begin());
    since_ = std::chrono::steady_clock::now();
  }
  const auto total = static_cast<double>(progress_.total);
  const double fraction =
      total > 0 ? std::clamp(static_cast<double>(progress_.done) / total, 0.0, 1.0) : 0;
  fmt::print(stderr, "\r\x1b[K{}", progress_text(stages_, stage_, fraction, seconds_since(since_)));
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace stepwell::tool
