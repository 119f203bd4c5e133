// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "engine/counter.hpp"

namespace stepwell::engine {

/// The threads of a team but for the caller's.
class Crew {
 public:
  explicit Crew(int workers);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// Those that the system gave.
  int workers() const { return static_cast<int>(workers_.size()); }
  /// Whether this process is the one that has them.
  bool here() const;
  void run(const std::function<void(int)>& job);
  void barrier();

 private:
  void work(int thread);

  int process_;  ///< that started the threads
  std::vector<std::thread> workers_;
  const std::function<void(int)>* job_ = nullptr;  ///< null: go home
  Counter started_;                                ///< runs begun
  Counter finished_;                               ///< workers done, over all runs
  Counter arrived_;                                ///< at barriers, over all of them
};

/// A crew for a team that wants 'workers', less those that are at work elsewhere; null: there is
/// none to be had. The one that sleeps is taken if it has the size.
std::unique_ptr<Crew> hire(int workers);
/// Gives it back. One is kept asleep: starting threads takes longer than solving ten thousand
/// systems of order 5.
void dismiss(std::unique_ptr<Crew> crew);

}  // namespace stepwell::engine
