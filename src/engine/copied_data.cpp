// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/copied_data.hpp"

#include <cstring>

#include "core/checked.hpp"

namespace stepwell::engine {
namespace {

std::int64_t bytes_of(const Piece& piece) {
  return piece.ld * piece.cols * piece.element;
}

void copy(const Piece& from, const Piece& to) {
  for (std::int64_t j = 0; j < from.cols; ++j) {
    std::memcpy(to.data + j * to.ld * to.element, from.data + j * from.ld * from.element,
                static_cast<std::size_t>(from.rows * from.element));
  }
}

}  // namespace

CopiedData::CopiedData(std::span<const Use> uses, std::span<const Piece> home)
    : uses_(uses), home_(home), copies_(home.begin(), home.end()) {
  std::vector<std::int64_t> offsets;
  std::int64_t end = 0;
  for (std::size_t i = 0; i < home.size(); ++i) {
    Piece& copy = copies_[i];
    if (copy.element > 1) copy.ld = copy.rows + 3;
    const bool neighbour = i > 0 && home[i].data == home[i - 1].data + bytes_of(home[i - 1]);
    offsets.push_back(neighbour ? end : core::round_up(end, 64));  // neighbours can be joined
    end = offsets.back() + bytes_of(copy);
  }
  memory_ = core::Buffer<std::byte>(end, core::Contents::any);
  std::fill(memory_.begin(), memory_.end(), std::byte{0xff});
  for (std::size_t i = 0; i < home.size(); ++i) {
    copies_[i].data = memory_.data() + offsets[i];
    if (uses[i].access != Access::write) copy(home[i], copies_[i]);
  }
}

void CopiedData::return_home() const {
  for (std::size_t i = 0; i < home_.size(); ++i) {
    if (uses_[i].access != Access::read) copy(copies_[i], home_[i]);
  }
}

}  // namespace stepwell::engine
