// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/buffer.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "stepwell/error.hpp"

namespace stepwell::core {
namespace {

constexpr std::int64_t kHugePage = std::int64_t{2} << 20;

[[noreturn]] void out_of_memory(std::int64_t bytes) {
  throw Error(ErrorCode::out_of_memory,
              "out of memory: " + std::to_string(bytes) + " bytes were requested");
}

}  // namespace

// Small buffers come from the heap. Large ones are mapped directly and start on a huge page, so
// that deallocate() returns them to the system and madvise affects no other memory.
void* allocate(std::int64_t bytes, Contents contents) {
  if (bytes < 0) {
    throw Error(ErrorCode::too_large, std::to_string(bytes) + " bytes is not a valid size");
  }
  if (bytes == 0) return nullptr;
  if (bytes < kHugePage) {
    void* p = std::aligned_alloc(64, static_cast<std::size_t>(round_up(bytes, 64)));
    if (p == nullptr) out_of_memory(bytes);
    if (contents == Contents::zeros) std::memset(p, 0, static_cast<std::size_t>(bytes));
    return p;
  }
  const auto padded = checked_add(bytes, 2 * kHugePage);
  if (!padded) out_of_memory(bytes);
  const std::int64_t size = round_up(bytes, kHugePage);
  void* map = mmap(nullptr, static_cast<std::size_t>(size + kHugePage), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) out_of_memory(bytes);
  char* const start = static_cast<char*>(map);
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  const std::size_t skip = (kHugePage - address % kHugePage) % kHugePage;
  if (skip > 0) munmap(start, skip);
  if (skip < kHugePage) munmap(start + skip + size, kHugePage - skip);
  madvise(start + skip, static_cast<std::size_t>(size), MADV_HUGEPAGE);
  return start + skip;
}

void deallocate(void* data, std::int64_t bytes) noexcept {
  if (data == nullptr) return;
  if (bytes < kHugePage) {
    std::free(data);
  } else {
    munmap(data, static_cast<std::size_t>(round_up(bytes, kHugePage)));
  }
}

}  // namespace stepwell::core
