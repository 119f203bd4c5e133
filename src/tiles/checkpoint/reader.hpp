// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tiles/checkpoint/format.hpp"

namespace stepwell::tiles::checkpoint {

/// An open checkpoint file. wrong() is empty as long as no error was found.
class Reader {
 public:
  explicit Reader(const std::string& path);

  const std::string& wrong() const { return wrong_; }
  const Prefix& prefix() const { return prefix_; }
  const std::string& facts() const { return facts_; }

  /// The table, if it matches these pieces; otherwise empty, and wrong() is set.
  std::vector<Entry> table(std::span<const SavedPiece> pieces);

  std::int64_t data_begin() const { return 64 + std::int64_t{prefix_.facts_bytes}; }

  bool read(std::span<std::byte> to, std::int64_t at);

  void damaged(std::int64_t id);

 private:
  void read_head();
  bool sizes_fit() const;

  Descriptor file_;
  std::string wrong_;
  std::int64_t size_ = 0;
  Prefix prefix_;
  std::string facts_;
};

}  // namespace stepwell::tiles::checkpoint
