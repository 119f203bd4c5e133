// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stepwell/context.hpp"

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
  engine::stop_workers({threads(), 0});
}

int Context::threads() const {
  return engine::resolve_threads(threads_);
}

}  // namespace stepwell
