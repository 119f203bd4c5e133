// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stepwell/context.hpp"

#include <new>

#include "core/machine/threads.hpp"
#include "core/memory_cache.hpp"
#include "core/memory_error.hpp"
#include "engine/runtime.hpp"
#include "stepwell/error.hpp"

namespace stepwell {

Context::Context(int threads) : threads_(threads) {
  if (threads < 0) {
    throw Error(ErrorCode::invalid_argument, "a context can't have " + std::to_string(threads) +
                                                 " threads; 0 means as many as allowed");
  }
}

Context::~Context() {
  try {
    engine::stop_workers({threads(), 0});
  } catch (const std::exception&) {
    // Out of memory while determining the number of workers: they sleep until the process ends.
  }
}

int Context::threads() const try {
  return threads_ > 0 ? threads_ : core::default_threads();
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

int num_threads() try { return core::default_threads(); } catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

void set_num_threads(int threads) try {
  if (threads < 0) {
    throw Error(ErrorCode::invalid_argument, "the number of threads can't be " +
                                                 std::to_string(threads) +
                                                 "; 0 means as many as allowed");
  }
  core::set_threads(threads);
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

void set_memory_cache(std::int64_t bytes) {
  if (bytes < 0) {
    throw Error(ErrorCode::invalid_argument,
                std::to_string(bytes) + " bytes can't be kept; 0 means that nothing is kept");
  }
  core::set_most_kept(bytes);
}

void release_memory() {
  core::release_blocks();
}

}  // namespace stepwell
