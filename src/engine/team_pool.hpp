// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "engine/team.hpp"
#include "stepwell/context.hpp"

namespace stepwell::engine {

/// A team for one call, kept for the next: starting threads takes longer than solving ten thousand
/// systems of order 5. One idle team is kept in a process; a call that finds it taken, of another
/// size or another process's starts its own.
class BorrowedTeam {
 public:
  explicit BorrowedTeam(int threads);
  ~BorrowedTeam();
  BorrowedTeam(const BorrowedTeam&) = delete;
  BorrowedTeam& operator=(const BorrowedTeam&) = delete;

  Team& operator*() const { return *team_; }
  Team* operator->() const { return team_.get(); }

 private:
  int threads_;
  std::unique_ptr<Team> team_;
};

/// How many threads such a call should have: the context's; without one, as many as the process may
/// have. Teams have no StarPU, so that its limit is none of theirs.
int team_threads(const Context* context);

}  // namespace stepwell::engine
