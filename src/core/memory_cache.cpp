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
/// Buffers of the heap: those of a few small solves.
constexpr std::size_t kMostBuffers = 32;
constexpr std::int64_t kMostOfHeap = std::int64_t{8} << 20;

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

/// Buffers of the heap in the order in which they were kept, the oldest first.
class HeapBuffers {
 public:
  void* take(std::int64_t bytes) {
    std::size_t best = count_;
    for (std::size_t k = 0; k < count_; ++k) {
      const std::int64_t size = buffers_[k].size;
      const bool fits = size >= bytes && size <= 2 * bytes;
      if (fits && (best == count_ || size < buffers_[best].size)) best = k;
    }
    return best == count_ ? nullptr : remove(best);
  }

  bool keep(Block buffer, std::int64_t most) {
    most = std::min(most, kMostOfHeap);
    if (buffer.size > most) return false;
    while (count_ == kMostBuffers || bytes_ + buffer.size > most) std::free(remove(0));
    buffers_[count_++] = buffer;
    bytes_ += buffer.size;
    return true;
  }

  void give_back() {
    while (count_ > 0) std::free(remove(0));
  }

  std::int64_t bytes() const { return bytes_; }

 private:
  void* remove(std::size_t k) {
    void* const data = buffers_[k].data;
    bytes_ -= buffers_[k].size;
    std::copy(buffers_.begin() + k + 1, buffers_.begin() + count_, buffers_.begin() + k);
    --count_;
    return data;
  }

  std::array<Block, kMostBuffers> buffers_;
  std::size_t count_ = 0;
  std::int64_t bytes_ = 0;
};

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
    if (block.size > most() - heap.bytes()) return false;
    give_back(bytes_ + heap.bytes() + block.size - most());
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
    if (heap.bytes() > bytes) heap.give_back();
    give_back(bytes_ + heap.bytes() - bytes);
  }
  std::int64_t most() {
    if (most_ < 0) most_ = most_at_first();
    return most_;
  }

  HeapBuffers heap;

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

void* take_heap_buffer(std::int64_t bytes) noexcept {
  const Locked cache;
  return cache ? cache->heap.take(bytes) : nullptr;
}

bool keep_heap_buffer(void* data, std::int64_t bytes) noexcept try {
  const Locked cache;
  return cache &&
         cache->heap.keep({static_cast<char*>(data), bytes}, cache->most() - cache->bytes());
} catch (...) {
  return false;
}

void make_room(std::int64_t bytes) noexcept {
  const Locked cache;
  if (cache) cache->give_back(bytes);
}

void release_blocks() noexcept {
  const Locked cache(kPatience);
  if (!cache) return;
  cache->give_back(cache->bytes());
  cache->heap.give_back();
}

std::int64_t kept_bytes() noexcept {
  const Locked cache;
  return cache ? cache->bytes() + cache->heap.bytes() : 0;
}

void set_most_kept(std::int64_t bytes) noexcept {
  const Locked cache(kPatience);
  if (cache) cache->set_most(bytes);
}

}  // namespace stepwell::core
