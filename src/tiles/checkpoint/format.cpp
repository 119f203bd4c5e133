// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tiles/checkpoint/format.hpp"

#include <system_error>

#include "core/numeric/checksum.hpp"
#include "stepwell/error.hpp"

namespace stepwell::tiles::checkpoint {

std::string text_of(const Facts& facts) {
  std::string text;
  for (const Fact& f : facts) text += f.name + " " + f.value + "\n";
  if (text.size() > kMostFacts) {
    throw Error(ErrorCode::too_large, "a checkpoint with more than 64 KiB of facts");
  }
  return text;
}

std::int64_t total(std::span<const SavedPiece> pieces) {
  std::int64_t sum = 0;
  for (const SavedPiece& p : pieces) sum += std::ssize(p.memory);
  return sum;
}

std::uint64_t head_sum(Prefix prefix, const std::string& facts) {
  prefix.sum = 0;
  core::Checksum sum;
  sum.add(bytes_of(prefix));
  sum.add(facts);
  return sum.value();
}

std::uint64_t table_sum(const std::vector<Entry>& table, std::uint64_t head) {
  return core::checksum(std::as_bytes(std::span(table)), head);
}

std::string reason(int error) {
  return std::generic_category().message(error);
}

}  // namespace stepwell::tiles::checkpoint
