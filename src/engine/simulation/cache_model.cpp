// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/simulation/cache_model.hpp"

namespace stepwell::engine {

double CacheModel::use(std::size_t data, double bytes) {
  if (data >= pieces_.size()) pieces_.resize(data + 1);
  Piece& piece = pieces_[data];
  if (piece.bytes > 0) {
    used_.splice(used_.begin(), used_, piece.place);
    return 0;
  }
  used_.push_front(data);
  piece = {bytes, used_.begin()};
  room_ -= bytes;
  while (room_ < 0 && used_.back() != data) {
    Piece& last = pieces_[used_.back()];
    room_ += last.bytes;
    last.bytes = 0;
    used_.pop_back();
  }
  return bytes;
}

}  // namespace stepwell::engine
