// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tiles/checkpoint_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include "core/buffer.hpp"
#include "core/checked.hpp"
#include "core/checksum.hpp"
#include "stepwell/error.hpp"

namespace stepwell::tiles {
namespace {

constexpr std::array<char, 8> kMagic = {'S', 'T', 'P', 'W', 'L', 'C', 'K', 'P'};
constexpr std::uint32_t kVersion = 1;
constexpr std::uint64_t kByteOrder = 0x0102030405060708;
constexpr std::size_t kMostFacts = std::size_t{1} << 16;
constexpr std::int64_t kAtOnce = std::int64_t{1} << 22;

struct Prefix {
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t facts_bytes = 0;
  std::uint64_t byte_order = kByteOrder;
  Milestone milestone;
  std::int64_t pieces = 0;
  std::int64_t data_bytes = 0;
  std::uint64_t sum = 0;  ///< of the prefix with a sum of 0, and of the facts
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

std::string text_of(const Facts& facts) {
  std::string text;
  for (const Fact& f : facts) text += f.name + " " + f.value + "\n";
  if (text.size() > kMostFacts) {
    throw Error(ErrorCode::too_large, "a checkpoint with more than 64 KiB of facts");
  }
  return text;
}

std::int64_t total(std::span<const SavedPiece> pieces) {
  std::int64_t sum = 0;
  for (const SavedPiece& p : pieces) sum += std::ssize(p.memory);
  return sum;
}

std::uint64_t head_sum(Prefix prefix, const std::string& facts) {
  prefix.sum = 0;
  core::Checksum sum;
  sum.add(bytes_of(prefix));
  sum.add(facts);
  return sum.value();
}

/// Seeded with the head's: a table of another file does not fit.
std::uint64_t table_sum(const std::vector<Entry>& table, std::uint64_t head) {
  return core::checksum(std::as_bytes(std::span(table)), head);
}

std::string reason(int error) {
  return std::generic_category().message(error);
}

/// A descriptor that is closed.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close_now(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  int close_now() { return number_ < 0 ? 0 : close(std::exchange(number_, -1)); }

 private:
  int number_;
};

/// A file under its unfinished name.
class Writer {
 public:
  Writer(const std::string& path, const std::string& unfinished)
      : path_(path), unfinished_(unfinished), file_(create(unfinished)) {
    if (file_.number() < 0) fail("can't be created", errno);
  }
  ~Writer() {
    if (!finished_ && file_.number() >= 0) unlink(unfinished_.c_str());
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void write(std::span<const std::byte> from) {
    while (!from.empty()) {
      const std::size_t some = std::min(from.size(), static_cast<std::size_t>(kAtOnce));
      const ssize_t done = ::write(file_.number(), from.data(), some);
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) fail("can't be written", errno);
      from = from.subspan(static_cast<std::size_t>(done));
    }
  }

  void finish() {
    if (fsync(file_.number()) != 0) fail("can't be written", errno);
    if (std::rename(unfinished_.c_str(), path_.c_str()) != 0) fail("can't be replaced", errno);
    finished_ = true;
    const std::string directory = path_.substr(0, path_.rfind('/') + 1) + ".";
    const Descriptor d(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (d.number() < 0 || fsync(d.number()) != 0) fail("its directory can't be written", errno);
  }

 private:
  /// What a writer that was killed has left is no reason to fail; a link is removed, not followed.
  static int create(const std::string& name) {
    unlink(name.c_str());
    return open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  }

  [[noreturn]] void fail(const char* what, int error) const {
    throw Error(ErrorCode::cannot_open, "checkpoint '" + path_ + "': " + what + ": " +
                                            reason(error) + "; give it another directory");
  }

  std::string path_, unfinished_;
  Descriptor file_;
  bool finished_ = false;
};

/// An open file. wrong() is empty as long as all is well.
class Reader {
 public:
  explicit Reader(const std::string& path)
      : file_(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
    struct stat status {};
    if (file_.number() < 0) {
      wrong_ = errno == ENOENT  ? "is not there"
               : errno == ELOOP ? "is a symbolic link"
                                : "can't be opened: " + reason(errno);
    } else if (fstat(file_.number(), &status) != 0 || !S_ISREG(status.st_mode)) {
      wrong_ = "is not a regular file";
    } else {
      size_ = status.st_size;
      read_head();
    }
  }

  const std::string& wrong() const { return wrong_; }
  const Prefix& prefix() const { return prefix_; }
  const std::string& facts() const { return facts_; }

  /// The table, if it is that of these pieces.
  std::vector<Entry> table(std::span<const SavedPiece> pieces) {
    if (prefix_.pieces != std::ssize(pieces) || prefix_.data_bytes != total(pieces)) {
      wrong_ = "holds another part of the factor than it should";
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
      wrong_ = "holds another part of the factor than it should";
      return {};
    }
    return entries;
  }

  std::int64_t data_begin() const { return 64 + std::int64_t{prefix_.facts_bytes}; }

  bool read(std::span<std::byte> to, std::int64_t at) {
    while (!to.empty()) {
      const std::size_t some = std::min(to.size(), static_cast<std::size_t>(kAtOnce));
      const ssize_t got = pread(file_.number(), to.data(), some, at);
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

  void damaged(std::int64_t id) {
    wrong_ = "has a damaged piece (number " + std::to_string(id) + ")";
  }

 private:
  void read_head() {
    if (size_ < std::int64_t{sizeof(Prefix)}) {
      wrong_ = "ends too early";
    } else if (!read(std::as_writable_bytes(std::span(&prefix_, 1)), 0)) {
      return;
    } else if (prefix_.magic != kMagic) {
      wrong_ = "is not a checkpoint";
    } else if (prefix_.byte_order != kByteOrder) {
      wrong_ = "has another byte order";
    } else if (prefix_.version != kVersion) {
      wrong_ = "has version " + std::to_string(prefix_.version) + " of the format; this is " +
               std::to_string(kVersion);
    } else if (prefix_.facts_bytes > kMostFacts) {
      wrong_ = "has a damaged head";
    } else if (!sizes_fit()) {
      wrong_ = "has another length than its head says";
    } else {
      facts_.resize(prefix_.facts_bytes);
      if (!read(std::as_writable_bytes(std::span(facts_)), sizeof(Prefix))) return;
      if (prefix_.sum != head_sum(prefix_, facts_)) wrong_ = "has a damaged head";
    }
  }

  bool sizes_fit() const {
    if (prefix_.pieces < 0 || prefix_.data_bytes < 0) return false;
    const auto table = core::checked_multiply(prefix_.pieces, sizeof(Entry));
    const auto body = table ? core::checked_add(*table, prefix_.data_bytes) : table;
    const auto all = body ? core::checked_add(*body, data_begin() + 8) : body;
    return all && *all == size_;
  }

  Descriptor file_;
  std::string wrong_;
  std::int64_t size_ = 0;
  Prefix prefix_;
  std::string facts_;
};

/// The table of a file that has these facts, this milestone and these pieces.
std::vector<Entry> expect(Reader& reader, std::string& wrong, const Facts& facts,
                          const Milestone& milestone, std::span<const SavedPiece> pieces) {
  wrong = reader.wrong();
  if (wrong.empty()) wrong = differing_fact(facts, reader.facts());
  if (wrong.empty() && reader.prefix().milestone != milestone) {
    wrong = "belongs to another generation or another column";
  }
  if (!wrong.empty()) return {};
  std::vector<Entry> entries = reader.table(pieces);
  wrong = reader.wrong();
  return entries;
}

}  // namespace

std::int64_t checkpoint_file_bytes(const Facts& facts, std::span<const SavedPiece> pieces) {
  return static_cast<std::int64_t>(sizeof(Prefix) + text_of(facts).size() +
                                   pieces.size() * sizeof(Entry) + sizeof(std::uint64_t)) +
         total(pieces);
}

void write_checkpoint_file(const std::string& path, const std::string& unfinished,
                           const Facts& facts, const Milestone& milestone,
                           std::span<const SavedPiece> pieces) {
  const std::string text = text_of(facts);
  Prefix prefix;
  prefix.facts_bytes = static_cast<std::uint32_t>(text.size());
  prefix.milestone = milestone;
  prefix.pieces = std::ssize(pieces);
  prefix.data_bytes = total(pieces);
  prefix.sum = head_sum(prefix, text);
  Writer writer(path, unfinished);
  writer.write(bytes_of(prefix));
  writer.write(std::as_bytes(std::span(text)));
  std::vector<Entry> table;
  table.reserve(pieces.size());
  for (const SavedPiece& p : pieces) {
    // Part by part: the sum finds in the cache what has just been written.
    core::Checksum sum(static_cast<std::uint64_t>(p.id));
    for (auto left = p.memory; !left.empty();) {
      const auto part = left.first(std::min(left.size(), static_cast<std::size_t>(kAtOnce)));
      writer.write(part);
      sum.add(part);
      left = left.subspan(part.size());
    }
    table.push_back({p.id, std::ssize(p.memory), sum.value()});
  }
  writer.write(std::as_bytes(std::span(table)));
  writer.write(bytes_of(table_sum(table, prefix.sum)));
  writer.finish();
}

CheckpointHead read_checkpoint_head(const std::string& path) {
  const Reader reader(path);
  if (!reader.wrong().empty()) return {reader.wrong(), {}, {}};
  return {"", reader.prefix().milestone, reader.facts()};
}

std::string verify_checkpoint_file(const std::string& path, const Facts& facts,
                                   const Milestone& milestone, std::span<const SavedPiece> pieces) {
  Reader reader(path);
  std::string wrong;
  const std::vector<Entry> table = expect(reader, wrong, facts, milestone, pieces);
  if (!wrong.empty()) return wrong;
  const core::Buffer<std::byte> buffer(std::min(kAtOnce, total(pieces)), core::Contents::any);
  std::int64_t at = reader.data_begin();
  for (const Entry& e : table) {
    core::Checksum sum(static_cast<std::uint64_t>(e.id));
    for (std::int64_t left = e.bytes; left > 0;) {
      const std::span part(buffer.data(), static_cast<std::size_t>(std::min(left, kAtOnce)));
      if (!reader.read(part, at)) return reader.wrong();
      sum.add(part);
      left -= std::ssize(part);
      at += std::ssize(part);
    }
    if (sum.value() != e.sum) {
      reader.damaged(e.id);
      return reader.wrong();
    }
  }
  return {};
}

void read_checkpoint_file(const std::string& path, const Facts& facts, const Milestone& milestone,
                          std::span<const SavedPiece> pieces) {
  Reader reader(path);
  std::string wrong;
  const std::vector<Entry> table = expect(reader, wrong, facts, milestone, pieces);
  std::int64_t at = reader.data_begin();
  for (std::size_t k = 0; k < table.size() && wrong.empty(); ++k) {
    const std::span<std::byte> memory = pieces[k].memory;
    if (!reader.read(memory, at)) {
      wrong = reader.wrong();
    } else if (core::checksum(memory, static_cast<std::uint64_t>(table[k].id)) != table[k].sum) {
      reader.damaged(table[k].id);
      wrong = reader.wrong();
    }
    at += std::ssize(memory);
  }
  if (!wrong.empty()) {
    throw Error(ErrorCode::malformed, "checkpoint '" + path + "' " + wrong +
                                          "; it was whole a moment ago: who else writes there?");
  }
}

std::string differing_fact(const Facts& facts, const std::string& text) {
  std::string rest = text;
  for (const Fact& f : facts) {
    const std::string line = f.name + " " + f.value + "\n";
    if (!rest.starts_with(line)) {
      return "belongs to another run: its " + f.name + " differs; this run's is " + f.value;
    }
    rest.erase(0, line.size());
  }
  return rest.empty() ? "" : "belongs to another run";
}

}  // namespace stepwell::tiles
