// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "stepwell/progress.hpp"

namespace stepwell::tool {

/// A phase of the work ahead, and its expected seconds.
struct Stage {
  Phase phase = Phase::idle;
  std::string name;
  double seconds = 0;
};

/// "3 s", "2 min 10 s", "1 h 5 min"
std::string duration_text(double seconds);

/// The text of the line: name, bar and time left. 'elapsed' is the time since the stage began.
std::string progress_text(const std::vector<Stage>& stages, std::size_t stage, double fraction,
                          double elapsed);

/// Shows a Progress on a line of standard error during its lifetime, if 'wanted' and if standard
/// error is a terminal. Work of less than half a second shows nothing.
class ProgressLine {
 public:
  ProgressLine(bool wanted, std::vector<Stage> stages);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  Progress* progress() { return &progress_; }

 private:
  void follow();
  void draw();

  std::vector<Stage> stages_;
  Progress progress_;
  std::size_t stage_ = 0;
  std::chrono::steady_clock::time_point since_;
  bool drawn_ = false;
  bool done_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace stepwell::tool
