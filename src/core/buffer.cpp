// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/buffer.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "core/memory_cache.hpp"
#include "stepwell/error.hpp"

namespace stepwell::core {
namespace {

/// Above this size fresh pages, which the kernel clears where they are touched first, are better
/// than clearing kept ones here.
constexpr std::int64_t kCleared = std::int64_t{32} << 20;

/// Below this size malloc() keeps what is freed.
constexpr std::int64_t kKeptFromHeap = std::int64_t{32} << 10;

[[noreturn]] void out_of_memory(std::int64_t bytes) {
  throw Error(ErrorCode::out_of_memory,
              "out of memory: " + std::to_string(bytes) + " bytes were requested");
}

/// Maps memory that starts on a huge page; null if there is none.
void* map(std::int64_t size) {
  void* const mapped = mmap(nullptr, static_cast<std::size_t>(size + kHugePage),
                            PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* const start = static_cast<char*>(mapped);
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  const std::size_t skip = (kHugePage - address % kHugePage) % kHugePage;
  if (skip > 0) munmap(start, skip);
  if (skip < kHugePage) munmap(start + skip + size, kHugePage - skip);
  madvise(start + skip, static_cast<std::size_t>(size), MADV_HUGEPAGE);
  return start + skip;
}

}  // namespace

// Small buffers come from the heap. Large ones are mapped and start on a huge page, so that madvise
// affects no other memory. deallocate() keeps some of both for the next ones.
void* allocate(std::int64_t bytes, Contents contents) {
  if (bytes < 0) {
    throw Error(ErrorCode::too_large, std::to_string(bytes) + " bytes is not a valid size");
  }
  if (bytes == 0) return nullptr;
  if (bytes < kHugePage) {
    void* p = bytes < kKeptFromHeap ? nullptr : take_heap_buffer(bytes);
    if (p == nullptr) p = std::aligned_alloc(64, static_cast<std::size_t>(round_up(bytes, 64)));
    if (p == nullptr) out_of_memory(bytes);
    if (contents == Contents::zeros) std::memset(p, 0, static_cast<std::size_t>(bytes));
    return p;
  }
  const auto padded = checked_add(bytes, 2 * kHugePage);
  if (!padded) out_of_memory(bytes);
  const std::int64_t size = round_up(bytes, kHugePage);
  if (contents == Contents::any || size <= kCleared) {
    void* const kept = take_block(size);
    if (kept != nullptr && contents == Contents::zeros) {
      std::memset(kept, 0, static_cast<std::size_t>(bytes));
    }
    if (kept != nullptr) return kept;
  } else {
    make_room(size);
  }
  void* fresh = map(size);
  if (fresh == nullptr) {
    release_blocks();
    fresh = map(size);
  }
  if (fresh == nullptr) out_of_memory(bytes);
  return fresh;
}

void deallocate(void* data, std::int64_t bytes) noexcept {
  if (data == nullptr) return;
  if (bytes < kHugePage) {
    if (bytes < kKeptFromHeap || !keep_heap_buffer(data, bytes)) std::free(data);
  } else {
    const std::int64_t size = round_up(bytes, kHugePage);
    if (!keep_block(data, size)) munmap(data, static_cast<std::size_t>(size));
  }
}

}  // namespace stepwell::core
