// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory_cache.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <mutex>

#include "core/machine/environment.hpp"
#include "core/machine/system.hpp"

namespace stepwell::core {
namespace {

constexpr std::int64_t kUsual = std::int64_t{512} << 20;
/// Others hold the lock for as long as it takes to unmap memory; in a forked child perhaps until it
/// ends.
constexpr std::chrono::milliseconds kPatience{1000};
/// A process has few blocks at a time; beyond that, the smallest is not worth keeping.
constexpr std::size_t kMostBlocks = 64;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

struct Block {
  char* data = nullptr;
  std::int64_t size = 0;
  char* end() const { return data + size; }
};

std::int64_t most_at_first() {
  const std::int64_t usual = kSanitized ? 0 : std::min(kUsual, memory_allowance().available / 8);
  const char* const text = non_empty_variable("STEPWELL_MEMORY_CACHE");
  if (text == nullptr) return usual;
  char* end = nullptr;
  const long long mib = std::strtoll(text, &end, 10);
  const bool number = *end == '\0' && mib >= 0 && mib < (1LL << 30);
  return number ? static_cast<std::int64_t>(mib) << 20 : usual;
}

/// The blocks in the order in which they were kept, the oldest first. It allocates nothing.
class Cache {
 public:
  void* take(std::int64_t size) {
    Block* best = nullptr;
    for (Block& block : blocks()) {
      if (block.size >= size && (best == nullptr || block.size < best->size)) best = &block;
    }
    if (best == nullptr) {
      give_back(size);
      return nullptr;
    }
    char* const data = best->data;
    best->data += size;
    best->size -= size;
    bytes_ -= size;
    if (best->size == 0) remove(best);
    return data;
  }

  bool keep(Block block) {
    if (block.size > most()) return false;
    give_back(bytes_ + block.size - most());
    if (count_ == kMostBlocks) give_back(1);
    bytes_ += block.size;
    for (Block* other = begin(); other != end();) {  // join neighbours
      if (other->end() == block.data || block.end() == other->data) {
        block = {std::min(block.data, other->data), block.size + other->size};
        remove(other);
      } else {
        ++other;
      }
    }
    *end() = block;
    ++count_;
    return true;
  }

  /// Unmaps the oldest blocks, until so many bytes are given back or none is left.
  void give_back(std::int64_t size) {
    while (size > 0 && count_ > 0) {
      size -= blocks_[0].size;
      bytes_ -= blocks_[0].size;
      munmap(blocks_[0].data, static_cast<std::size_t>(blocks_[0].size));
      remove(begin());
    }
  }

  std::int64_t bytes() const { return bytes_; }
  void set_most(std::int64_t bytes) {
    most_ = bytes;
    give_back(bytes_ - bytes);
  }

 private:
  struct Range {
    Block *first, *last;
    Block* begin() const { return first; }
    Block* end() const { return last; }
  };
  Block* begin() { return blocks_.data(); }
  Block* end() { return blocks_.data() + count_; }
  Range blocks() { return {begin(), end()}; }
  void remove(Block* block) {
    std::copy(block + 1, end(), block);
    --count_;
  }
  std::int64_t most() {
    if (most_ < 0) most_ = most_at_first();
    return most_;
  }

  std::array<Block, kMostBlocks> blocks_;
  std::size_t count_ = 0;
  std::int64_t bytes_ = 0;
  std::int64_t most_ = -1;  ///< -1: not determined yet
};

std::timed_mutex mutex;

/// The cache, locked; false if another thread has it, or has it for longer than 'patience'.
class Locked {
 public:
  Locked() : lock_(mutex, std::try_to_lock) {}
  explicit Locked(std::chrono::milliseconds patience) : lock_(mutex, patience) {}
  explicit operator bool() const { return lock_.owns_lock(); }
  Cache* operator->() const {
    static Cache cache;
    return &cache;
  }

 private:
  std::unique_lock<std::timed_mutex> lock_;
};

}  // namespace

void* take_block(std::int64_t size) noexcept {
  const Locked cache;
  return cache ? cache->take(size) : nullptr;
}

bool keep_block(void* data, std::int64_t size) noexcept try {
  const Locked cache;
  return cache && cache->keep({static_cast<char*>(data), size});
} catch (...) {
  return false;  // the memory of the process could not be determined
}

void make_room(std::int64_t bytes) noexcept {
  const Locked cache;
  if (cache) cache->give_back(bytes);
}

void release_blocks() noexcept {
  const Locked cache(kPatience);
  if (cache) cache->give_back(cache->bytes());
}

std::int64_t kept_bytes() noexcept {
  const Locked cache;
  return cache ? cache->bytes() : 0;
}

void set_most_kept(std::int64_t bytes) noexcept {
  const Locked cache(kPatience);
  if (cache) cache->set_most(bytes);
}

}  // namespace stepwell::core
