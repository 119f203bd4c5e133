// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/agreement.hpp"

#include <array>
#include <new>

namespace stepwell::engine {
namespace {

struct Told {
  int code = -1;
  std::string message;
};

Told told_of(const std::exception_ptr& error) {
  if (error == nullptr) return {};
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    return {static_cast<int>(e.code()), e.what()};
  } catch (const std::bad_alloc&) {
    return {static_cast<int>(ErrorCode::out_of_memory), "out of memory"};
  } catch (const std::exception& e) {  // only the caller's functions throw other types
    return {static_cast<int>(ErrorCode::invalid_argument),
            std::string("what fills the matrix failed: ") + e.what()};
  } catch (...) {
    return {static_cast<int>(ErrorCode::invalid_argument), "what fills the matrix failed"};
  }
}

}  // namespace

void Agreement::meet(const std::exception_ptr& error) {
  const bool cancel = outside_ != nullptr && outside_->cancel;
  std::array<std::int64_t, 2> any = {error != nullptr ? 1 : 0, cancel ? 1 : 0};
  ranks_.largest(any);
  if (any[1] != 0) inside_.cancel = true;
  if (outside_ != nullptr) {
    outside_->phase = inside_.phase.load();
    outside_->total = inside_.total.load();
    outside_->done = inside_.done.load();
  }
  if (any[0] == 0) return;
  const Told told = told_of(error);
  agree_on_error(ranks_, told.code, told.message);
}

}  // namespace stepwell::engine
