// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

namespace stepwell::engine {

/// The last level of cache of a simulated machine, which keeps the pieces of data that were used
/// last.
class CacheModel {
 public:
  explicit CacheModel(double bytes) : room_(bytes) {}

  /// Uses a piece of data of so many bytes; returns the bytes that come from memory: all or none.
  double use(std::size_t data, double bytes);

 private:
  struct Piece {
    double bytes = 0;  ///< 0: it is not in the cache
    std::list<std::size_t>::iterator place;
  };
  double room_;
  std::vector<Piece> pieces_;    ///< by data
  std::list<std::size_t> used_;  ///< those in the cache, the last one used first
};

}  // namespace stepwell::engine
