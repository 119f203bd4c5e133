// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/starpu/shuffle_policy.hpp"

#include <starpu.h>
#include <starpu_scheduler.h>

#include <mutex>
#include <random>
#include <vector>

namespace stepwell::engine {
namespace {

struct Pool {
  std::mutex mutex;
  std::vector<starpu_task*> ready;
  std::mt19937_64 random;
};

Pool& pool() {
  static Pool* const p = new Pool;
  return *p;
}

int push(starpu_task* task) {
  {
    const std::lock_guard lock(pool().mutex);
    pool().ready.push_back(task);
    starpu_push_task_end(task);
  }
  for (unsigned w = 0; w < starpu_worker_get_count(); ++w) starpu_wake_worker_relax_light(w);
  return 0;
}

starpu_task* pop(unsigned) {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  if (p.ready.empty()) return nullptr;
  const std::size_t pick = p.random() % p.ready.size();
  starpu_task* const task = p.ready[pick];
  p.ready[pick] = p.ready.back();
  p.ready.pop_back();
  return task;
}

}  // namespace

starpu_sched_policy* shuffle_policy(std::uint64_t seed) {
  pool().random.seed(seed);
  static starpu_sched_policy* const policy = [] {
    auto* const p = new starpu_sched_policy{};
    p->push_task = push;
    p->pop_task = pop;
    p->init_sched = [](unsigned) {};
    p->deinit_sched = [](unsigned) {};
    p->policy_name = "stepwell_shuffle";
    p->policy_description = "ready tasks at random, for tests";
    p->worker_type = STARPU_WORKER_LIST;
    return p;
  }();
  return policy;
}

}  // namespace stepwell::engine
