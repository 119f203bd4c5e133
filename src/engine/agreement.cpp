// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/agreement.hpp"

#include <array>
#include <new>

namespace stepwell::engine {
namespace {

struct RankError {
  int code = -1;
  std::string message;
};

RankError describe(const std::exception_ptr& error) {
  if (error == nullptr) return {};
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    return {static_cast<int>(e.code()), e.what()};
  } catch (const std::bad_alloc&) {
    return {static_cast<int>(ErrorCode::out_of_memory), "out of memory"};
  } catch (const std::exception& e) {  // only the caller's functions throw other types
    return {static_cast<int>(ErrorCode::invalid_argument),
            std::string("the function that fills the matrix failed: ") + e.what()};
  } catch (...) {
    return {static_cast<int>(ErrorCode::invalid_argument),
            "the function that fills the matrix failed"};
  }
}

}  // namespace

void Agreement::agree(const std::exception_ptr& error) {
  const bool cancel = caller_ != nullptr && caller_->cancel;
  std::array<std::int64_t, 2> any = {error != nullptr ? 1 : 0, cancel ? 1 : 0};
  ranks_.largest(any);
  if (any[1] != 0) agreed_.cancel = true;
  if (caller_ != nullptr) {
    caller_->phase = agreed_.phase.load();
    caller_->total = agreed_.total.load();
    caller_->done = agreed_.done.load();
  }
  if (any[0] == 0) return;
  const RankError failure = describe(error);
  agree_on_error(ranks_, failure.code, failure.message);
}

}  // namespace stepwell::engine
