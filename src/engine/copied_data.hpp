// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "core/buffer.hpp"
#include "engine/graph.hpp"

namespace stepwell::engine {

/// Copies of a task's data in other memory, as a device would have them: with leading dimensions of
/// their own, and NaN in what is only written.
class CopiedData {
 public:
  CopiedData(std::span<const Use> uses, std::span<const Piece> home);
  const Piece* pieces() const { return copies_.data(); }
  /// Copies back what the task may have written.
  void return_home() const;

 private:
  std::span<const Use> uses_;
  std::span<const Piece> home_;
  std::vector<Piece> copies_;
  core::Buffer<std::byte> memory_;
};

}  // namespace stepwell::engine
