// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tiles/checkpoint/reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "core/checked.hpp"

namespace stepwell::tiles::checkpoint {

Reader::Reader(const std::string& path)
    : file_(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
  struct stat status {};
  if (file_.fd() < 0) {
    wrong_ = errno == ENOENT  ? "does not exist"
             : errno == ELOOP ? "is a symbolic link"
                              : "can't be opened: " + reason(errno);
  } else if (fstat(file_.fd(), &status) != 0 || !S_ISREG(status.st_mode)) {
    wrong_ = "is not a regular file";
  } else {
    size_ = status.st_size;
    read_head();
  }
}

std::vector<Entry> Reader::table(std::span<const SavedPiece> pieces) {
  if (prefix_.pieces != std::ssize(pieces) || prefix_.data_bytes != total(pieces)) {
    wrong_ = "does not hold the expected part of the factor";
    return {};
  }
  std::vector<Entry> entries(pieces.size());
  std::uint64_t sum = 0;
  const auto memory = std::as_writable_bytes(std::span(entries));
  const std::int64_t at = data_begin() + prefix_.data_bytes;
  if (!read(memory, at)) return {};
  if (!read(std::as_writable_bytes(std::span(&sum, 1)), at + std::ssize(memory))) return {};
  if (sum != table_sum(entries, prefix_.sum)) {
    wrong_ = "has a damaged table of contents";
    return {};
  }
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    if (entries[k].id == pieces[k].id && entries[k].bytes == std::ssize(pieces[k].memory)) {
      continue;
    }
    wrong_ = "does not hold the expected part of the factor";
    return {};
  }
  return entries;
}

bool Reader::read(std::span<std::byte> to, std::int64_t at) {
  while (!to.empty()) {
    const std::size_t some = std::min(to.size(), static_cast<std::size_t>(kAtOnce));
    const ssize_t got = pread(file_.fd(), to.data(), some, at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      wrong_ = got < 0 ? "can't be read: " + reason(errno) : "ends too early";
      return false;
    }
    to = to.subspan(static_cast<std::size_t>(got));
    at += got;
  }
  return true;
}

void Reader::damaged(std::int64_t id) {
  wrong_ = "has a damaged piece (number " + std::to_string(id) + ")";
}

void Reader::read_head() {
  if (size_ < std::int64_t{sizeof(Prefix)}) {
    wrong_ = "ends too early";
  } else if (!read(std::as_writable_bytes(std::span(&prefix_, 1)), 0)) {
    return;
  } else if (prefix_.magic != kMagic) {
    wrong_ = "is not a checkpoint";
  } else if (prefix_.byte_order != kByteOrder) {
    wrong_ = "was written with another byte order";
  } else if (prefix_.version != kVersion) {
    wrong_ = "has version " + std::to_string(prefix_.version) +
             " of the format; this program has version " + std::to_string(kVersion);
  } else if (prefix_.facts_bytes > kMostFacts) {
    wrong_ = "has a damaged header";
  } else if (!sizes_fit()) {
    wrong_ = "does not have the length that its header states";
  } else {
    facts_.resize(prefix_.facts_bytes);
    if (!read(std::as_writable_bytes(std::span(facts_)), sizeof(Prefix))) return;
    if (prefix_.sum != head_sum(prefix_, facts_)) wrong_ = "has a damaged header";
  }
}

bool Reader::sizes_fit() const {
  if (prefix_.pieces < 0 || prefix_.data_bytes < 0) return false;
  const auto table = core::checked_multiply(prefix_.pieces, sizeof(Entry));
  const auto body = table ? core::checked_add(*table, prefix_.data_bytes) : table;
  const auto all = body ? core::checked_add(*body, data_begin() + 8) : body;
  return all && *all == size_;
}

}  // namespace stepwell::tiles::checkpoint
