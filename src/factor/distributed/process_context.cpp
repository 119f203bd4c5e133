// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/distributed/process_context.hpp"
#include "core/checks.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <thread>

#include "engine/agreement.hpp"
#include "engine/runtime.hpp"
#include "engine/threads/thread_pool.hpp"
#include "factor/setup.hpp"
#include "stepwell/error.hpp"

namespace stepwell::factor {

void ProcessContext::together(const std::function<void()>& run) const {
  if (alone()) return run();
  engine::Agreement(*ranks_).attempt(run);
}

void ProcessContext::sum(std::span<double> x) const {
  if (!alone()) ranks_->sum(x);
}

double ProcessContext::largest(double here) const {
  if (alone()) return here;
  // Non-negative doubles are ordered like their bit patterns.
  auto bits = here > 0 ? std::bit_cast<std::int64_t>(here) : 0;
  ranks_->largest({&bits, 1});
  return std::bit_cast<double>(bits);
}

bool ProcessContext::any(bool here) const {
  std::int64_t yes = here ? 1 : 0;
  if (!alone()) ranks_->largest({&yes, 1});
  return yes != 0;
}

std::int64_t ProcessContext::bytes_sent() const {
  if (alone()) return 0;
  auto bytes = static_cast<double>(ranks_->bytes_sent());
  ranks_->sum({&bytes, 1});
  return static_cast<std::int64_t>(bytes);
}

kernels::Pivot ProcessContext::first(kernels::Pivot here) const {
  if (alone()) return here;
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
  std::int64_t lowest = here.ok() ? kNone : -here.index;
  ranks_->largest({&lowest, 1});
  if (lowest == kNone) return {};
  // A pivot belongs to one diagonal tile, and so to one rank, which broadcasts its value.
  std::int64_t owner = !here.ok() && here.index == -lowest ? rank_ : -1;
  ranks_->largest({&owner, 1});
  ranks_->broadcast(std::as_writable_bytes(std::span(&here.value, 1)), static_cast<int>(owner));
  return {-lowest, here.value};
}

ProcessContext::Place ProcessContext::first(Place here) const {
  if (alone()) return here;
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
  std::int64_t col = here ? -here->second : kNone;
  ranks_->largest({&col, 1});
  if (col == kNone) return std::nullopt;
  std::int64_t row = here && here->second == -col ? -here->first : kNone;
  ranks_->largest({&row, 1});
  return std::pair{-row, -col};
}

int part_of_machine(int allowed, std::int64_t claimed) {
  const std::int64_t cpus = std::max(1U, std::thread::hardware_concurrency());
  // Ranks that are not bound to separate cores have all counted the same cores.
  const std::int64_t part = claimed > cpus ? allowed * cpus / claimed : allowed;
  return static_cast<int>(std::max<std::int64_t>(1, part));
}

int ProcessContext::threads(const Context* context) const {
  if (alone() || context != nullptr) return engine::threads_of(context);
  const int allowed = engine::threads_of(nullptr);
  return part_of_machine(allowed, ranks_->sum_on_machine(allowed));
}

void ProcessContext::require_memory(std::int64_t bytes, const std::string& what) const {
  if (alone()) return core::require_memory(bytes, what);
  const std::int64_t all = ranks_->sum_on_machine(bytes);
  together([&] { core::require_memory(all, what + ", on all ranks of this machine together,"); });
}

}  // namespace stepwell::factor
