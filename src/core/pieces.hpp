// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

/// Work in pieces that several cores may share: a kernel divides it, the engine knows who is idle.
namespace stepwell::core {

/// Piece i, with scratch memory of the core that runs it, of the size of the caller's. It must not
/// throw.
using SharedPiece = std::function<void(std::int64_t i, std::byte* scratch)>;

/// Calls piece(i, scratch) for i = 0 .. count - 1, in any order, on this core and on others, and
/// returns when all have been done.
using PieceRunner = std::function<void(std::int64_t count, const SharedPiece& piece)>;

/// The same with a runner that may be empty: then all run here, with 'scratch'.
inline void run_pieces(const PieceRunner& share, std::int64_t count, std::byte* scratch,
                       const SharedPiece& piece) {
  if (share && count > 1) return share(count, piece);
  for (std::int64_t i = 0; i < count; ++i) piece(i, scratch);
}

}  // namespace stepwell::core
