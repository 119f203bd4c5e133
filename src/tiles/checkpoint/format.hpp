// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <array>
#include <utility>

#include "tiles/checkpoint/file.hpp"

/// The layout of a checkpoint file; checkpoint_file.hpp has the overview.
namespace stepwell::tiles::checkpoint {

inline constexpr std::array<char, 8> kMagic = {'S', 'T', 'P', 'W', 'L', 'C', 'K', 'P'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint64_t kByteOrder = 0x0102030405060708;
inline constexpr std::size_t kMostFacts = std::size_t{1} << 16;
inline constexpr std::int64_t kAtOnce = std::int64_t{1} << 22;  ///< bytes per read or write call

struct Prefix {
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t facts_bytes = 0;
  std::uint64_t byte_order = kByteOrder;
  Milestone milestone;
  std::int64_t pieces = 0;
  std::int64_t data_bytes = 0;
  std::uint64_t sum = 0;  ///< checksum of the prefix with sum = 0, and of the facts
};
static_assert(sizeof(Prefix) == 64);

struct Entry {
  std::int64_t id = 0;
  std::int64_t bytes = 0;
  std::uint64_t sum = 0;
};
static_assert(sizeof(Entry) == 24);

template <class T>
std::span<const std::byte> bytes_of(const T& x) {
  return std::as_bytes(std::span(&x, 1));
}

/// Throws Error(too_large) if the text is longer than kMostFacts.
std::string text_of(const Facts& facts);
std::int64_t total(std::span<const SavedPiece> pieces);
std::uint64_t head_sum(Prefix prefix, const std::string& facts);
/// Seeded with the checksum of the head, so that the table of another file does not match.
std::uint64_t table_sum(const std::vector<Entry>& table, std::uint64_t head);
/// The message for an errno value.
std::string reason(int error);

/// A file descriptor that is closed by the destructor.
class Descriptor {
 public:
  explicit Descriptor(int opened) : fd_(opened) {}
  ~Descriptor() { close_now(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int fd() const { return fd_; }
  int close_now() { return fd_ < 0 ? 0 : close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

}  // namespace stepwell::tiles::checkpoint
