// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/team.hpp"

#include <atomic>

#include "core/first_error.hpp"
#include "core/system.hpp"
#include "engine/crew.hpp"

namespace stepwell::engine {

Team::Team(int threads) : threads_(threads) {}

Team::~Team() {
  rest();
}

void Team::engage() {
  if (!engaged_) crew_ = hire(threads_ - 1);
  engaged_ = true;
  if (crew_ && !crew_->here()) crew_.reset();
}

void Team::rest() {
  dismiss(std::move(crew_));
  engaged_ = false;
}

int Team::size() {
  engage();
  return crew_ ? crew_->workers() + 1 : 1;
}

void Team::run(const std::function<void(int)>& job) {
  engage();
  if (!crew_) return job(0);
  core::FirstError error;
  crew_->run([&](int thread) { error.attempt([&] { job(thread); }); });
  error.rethrow();
}

void Team::for_each(std::int64_t count, const std::function<void(std::int64_t)>& body) {
  std::atomic<std::int64_t> next{0};
  run([&](int) {
    for (std::int64_t i = next++; i < count; i = next++) body(i);
  });
}

void Team::barrier() {
  if (crew_) crew_->barrier();
}

int team_threads(const Context* context) {
  return context == nullptr ? core::threads_allowed() : context->threads();
}

}  // namespace stepwell::engine
