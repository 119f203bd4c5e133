// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

/// Large blocks of memory that calls have freed, kept for the next calls: mapping memory and
/// clearing its pages took 8 to 12 % of a solve of order 512 to 2048.
///
/// Smaller buffers come from the heap, and some of those are kept, too: malloc() gives memory that
/// is freed at the end of its heap back to the system, and a fifth of a solve of order 100 to 500
/// was page faults.
///
/// A block is a range of whole huge pages of private anonymous memory. A larger one is divided, and
/// neighbours are joined again, so that calls of different sizes share what is kept. When a request
/// finds no block, at least as much is given back to the system as it maps: the process never holds
/// more than the largest of its calls needed. Where two threads meet here, one of them does without
/// the cache instead of waiting, and so does a child that was forked while another thread of its
/// parent was here. Only release_blocks() and set_most_kept() wait, at most a second.
namespace stepwell::core {

/// Size of a huge page; the size and the address of a block are multiples of it.
inline constexpr std::int64_t kHugePage = std::int64_t{2} << 20;

/// A block of this size with any contents; null if there is none.
void* take_block(std::int64_t size) noexcept;

/// Keeps a mapped block. False if there is no room for it: the caller unmaps it.
bool keep_block(void* data, std::int64_t size) noexcept;

/// A buffer of the heap of at least this size with any contents; null if there is none.
void* take_heap_buffer(std::int64_t bytes) noexcept;

/// Keeps a buffer of the heap, aligned to 64. False if there is no room for it: the caller frees
/// it.
bool keep_heap_buffer(void* data, std::int64_t bytes) noexcept;

/// Gives the oldest blocks back to the system, so many bytes or more, before as much is mapped.
void make_room(std::int64_t bytes) noexcept;

/// Gives all blocks and buffers back to the system.
void release_blocks() noexcept;

/// Bytes that are kept now.
std::int64_t kept_bytes() noexcept;

/// The most that is kept, from now on; what is above it is given back. At first 512 MiB, or an
/// eighth of the memory that the process may use if that is less, or what STEPWELL_MEMORY_CACHE
/// says, in MiB; nothing under the address sanitizer, which should see every block.
void set_most_kept(std::int64_t bytes) noexcept;

}  // namespace stepwell::core
