// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/communicator.hpp"

#include <algorithm>
#include <array>

#include "stepwell/error.hpp"
#include "stepwell/ranks.hpp"

namespace stepwell {

Ranks::Ranks(std::shared_ptr<engine::Communicator> inside) : inside_(std::move(inside)) {}

int Ranks::rank() const {
  return inside_->rank();
}

int Ranks::size() const {
  return inside_->size();
}

namespace engine {

void agree_on_error(Communicator& ranks, int code, const std::string& message) {
  std::int64_t first = code >= 0 ? ranks.size() - ranks.rank() : 0;  // the lowest rank's is largest
  ranks.largest({&first, 1});
  if (first == 0) return;
  const auto root = static_cast<int>(ranks.size() - first);
  std::array<char, 1024> text{};
  std::copy_n(message.begin(), std::min(message.size(), text.size() - 1), text.begin());
  ranks.broadcast(std::as_writable_bytes(std::span(text)), root);
  ranks.broadcast(std::as_writable_bytes(std::span(&code, 1)), root);
  throw AgreedError(static_cast<ErrorCode>(code),
                    "rank " + std::to_string(root) + ": " + std::string(text.data()));
}

}  // namespace engine
}  // namespace stepwell
