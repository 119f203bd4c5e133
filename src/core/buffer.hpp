// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/checked.hpp"

namespace stepwell::core {

/// Initial contents of new memory. 'any' avoids clearing memory that will be overwritten.
enum class Contents : unsigned char { zeros, any };

/// Allocates 'bytes' of memory aligned to 64 bytes. From 2 MiB on it is one that an earlier buffer
/// has left (core/memory_cache.hpp), or mapped with huge pages (by madvise) and not touched: the
/// kernel supplies zeroed pages at the first write. Null for 0 bytes.
/// Throws Error(out_of_memory) with the number of bytes, Error(too_large) for a negative number.
void* allocate(std::int64_t bytes, Contents contents = Contents::zeros);
void deallocate(void* data, std::int64_t bytes) noexcept;

/// A movable, non-copyable array of trivially copyable elements that owns its memory: aligned, on
/// huge pages if large, and zeroed unless Contents::any is given.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(std::int64_t size, Contents contents = Contents::zeros)
      : size_(size),
        data_(static_cast<T*>(allocate(size_product(size, sizeof(T), "buffer"), contents))) {}
  Buffer(Buffer&& other) noexcept
      : size_(std::exchange(other.size_, 0)), data_(std::exchange(other.data_, nullptr)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~Buffer() { deallocate(data_, size_ * static_cast<std::int64_t>(sizeof(T))); }

  T* data() const { return data_; }
  std::int64_t size() const { return size_; }
  T& operator[](std::int64_t i) const { return data_[i]; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }

 private:
  std::int64_t size_ = 0;
  T* data_ = nullptr;
};

}  // namespace stepwell::core
