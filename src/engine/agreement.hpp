// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>

#include "engine/communicator.hpp"
#include "stepwell/progress.hpp"

namespace stepwell::engine {

/// Lets ranks that run the same code agree on two facts before they continue: whether a rank has
/// failed, and whether the caller of a rank has cancelled. Without it the other ranks would wait
/// indefinitely.
class Agreement {
 public:
  /// 'caller' is the caller's Progress, or null. agreed() holds the agreed state.
  explicit Agreement(Communicator& ranks, Progress* caller = nullptr)
      : ranks_(ranks), caller_(caller) {}

  Communicator& ranks() const { return ranks_; }
  /// Its 'cancel' is the same on all ranks; agree() copies its counters to the caller's Progress.
  Progress& agreed() { return agreed_; }

  /// Collective. Throws AgreedError on all ranks if 'error' is not null on one of them.
  void agree(const std::exception_ptr& error = nullptr);

  /// Collective: runs 'work', which need not be collective, and then calls agree().
  template <class Work>
  void attempt(Work work) {
    std::exception_ptr error;
    try {
      work();
    } catch (const AgreedError&) {  // thrown on all ranks: they already agree
      throw;
    } catch (...) {
      error = std::current_exception();
    }
    agree(error);
  }

 private:
  Communicator& ranks_;
  Progress* caller_;
  Progress agreed_;
};

}  // namespace stepwell::engine
