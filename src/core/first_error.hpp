// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <exception>
#include <utility>

namespace stepwell::core {

/// Keeps the first exception thrown by one of several threads, for the thread that waits for all of
/// them. An exception that escapes from a worker thread would end the process.
class FirstError {
 public:
  template <class Work>
  void attempt(const Work& work) noexcept {
    try {
      work();
    } catch (...) {
      keep(std::current_exception());
    }
  }

  void keep(std::exception_ptr error) noexcept {
    if (taken_.exchange(true)) return;
    error_ = std::move(error);
    failed_ = true;
  }

  bool failed() const { return failed_; }

  /// To be called after all threads have finished.
  void rethrow() const {
    if (failed_) std::rethrow_exception(error_);
  }

 private:
  std::atomic<bool> taken_{false};
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
};

}  // namespace stepwell::core
