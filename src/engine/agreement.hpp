// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>

#include "engine/communicator.hpp"
#include "stepwell/progress.hpp"

namespace stepwell::engine {

/// What ranks that run the same code tell each other before they go on: whether one of them has
/// failed, and whether one's caller has cancelled. Without it the others would wait for ever.
class Agreement {
 public:
  /// 'outside' is the caller's, or null. What is agreed on is in inside().
  explicit Agreement(Communicator& ranks, Progress* outside = nullptr)
      : ranks_(ranks), outside_(outside) {}

  Communicator& ranks() const { return ranks_; }
  /// The same 'cancel' on all ranks; what it counts is shown to the caller.
  Progress& inside() { return inside_; }

  /// Collective. Throws AgreedError on all ranks if 'error' is not null on one of them.
  void meet(const std::exception_ptr& error = nullptr);

  /// Collective: runs 'work', which is not, and meets.
  template <class Work>
  void attempt(Work work) {
    std::exception_ptr error;
    try {
      work();
    } catch (const AgreedError&) {  // all ranks are here
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
