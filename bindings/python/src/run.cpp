// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "run.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

namespace stepwell::python {
namespace {

constexpr std::chrono::milliseconds kPollInterval{50};

const char* name(Phase phase) {
  switch (phase) {
    case Phase::idle:
      return "starting";
    case Phase::reading:
      return "reading";
    case Phase::analysis:
      return "analysis";
    case Phase::factor:
      return "factor";
    case Phase::refine:
      return "refine";
    case Phase::certify:
      return "certify";
    case Phase::writing:
      break;
  }
  return "writing";
}

// Checks for signals and calls the progress callback. Throws what Python raised.
void poll(const Progress& progress, const nb::object& callback) {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  if (callback.is_none()) return;
  callback(name(progress.phase), progress.done.load(), progress.total.load());
}

// Runs work on another thread and keeps the exception that it threw.
class BackgroundWork {
 public:
  explicit BackgroundWork(const std::function<void()>& work)
      : thread_([this, &work] {
          try {
            work();
          } catch (...) {
            failure_ = std::current_exception();
          }
          const std::lock_guard lock(mutex_);
          done_ = true;
          ended_.notify_one();
        }) {}

  // Waits for at most kPollInterval without the GIL; returns whether the work has ended.
  bool wait() {
    const nb::gil_scoped_release release;
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, kPollInterval, [this] { return done_; });
  }

  // Joins the thread and rethrows what the work threw.
  void finish() {
    {
      const nb::gil_scoped_release release;
      thread_.join();
    }
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  // declared last: the thread uses the other members
};

}  // namespace

Context* context(int threads) {
  if (threads == 0) return nullptr;
  static std::mutex mutex;
  // Never destroyed: a worker may still run when Python ends.
  static auto* contexts = new std::map<int, std::unique_ptr<Context>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<Context>& found = (*contexts)[threads];
  if (!found) found = std::make_unique<Context>(threads);
  return found.get();
}

void run(Progress& progress, const nb::object& callback, bool is_brief,
         const std::function<void()>& work) {
  std::optional<BackgroundWork> background;
  if (!is_brief || !callback.is_none()) {
    try {
      background.emplace(work);
    } catch (const std::system_error&) {
      // No thread can be started: run without checking for signals.
    }
  }
  if (!background) {
    const nb::gil_scoped_release release;
    work();
    return;
  }
  std::exception_ptr raised;
  do {  // at least once: even the shortest call reports progress
    if (raised) continue;
    try {
      poll(progress, callback);
    } catch (...) {
      raised = std::current_exception();
      progress.cancel = true;
    }
  } while (!background->wait());
  background->finish();
  if (raised) std::rethrow_exception(raised);
}

}  // namespace stepwell::python
