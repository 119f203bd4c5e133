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
  /// 'outside' is the caller's Progress, or null. inside() holds the agreed state.
  explicit Agreement(Communicator& ranks, Progress* outside = nullptr)
      : ranks_(ranks), outside_(outside) {}

  Communicator& ranks() const { return ranks_; }
  /// Its 'cancel' is the same on all ranks; meet() copies its counters to the caller's Progress.
  Progress& inside() { return inside_; }

  /// Collective. Throws AgreedError on all ranks if 'error' is not null on one of them.
  void meet(const std::exception_ptr& error = nullptr);

  /// Collective: runs 'work', which need not be collective, and then calls meet().
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
    meet(error);
  }

 private:
  Communicator& ranks_;
  Progress* outside_;
  Progress inside_;
};

}  // namespace stepwell::engine
