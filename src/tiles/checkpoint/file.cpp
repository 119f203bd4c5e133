// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tiles/checkpoint/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "core/buffer.hpp"
#include "core/numeric/checksum.hpp"
#include "stepwell/error.hpp"
#include "tiles/checkpoint/reader.hpp"

namespace stepwell::tiles {

using namespace checkpoint;

namespace {

/// Writes a file under its unfinished name; finish() renames it.
class Writer {
 public:
  Writer(const std::string& path, const std::string& unfinished)
      : path_(path), unfinished_(unfinished), file_(create(unfinished)) {
    if (file_.fd() < 0) fail("can't be created", errno);
  }
  ~Writer() {
    if (!finished_ && file_.fd() >= 0) unlink(unfinished_.c_str());
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void write(std::span<const std::byte> from) {
    while (!from.empty()) {
      const std::size_t some = std::min(from.size(), static_cast<std::size_t>(kAtOnce));
      const ssize_t done = ::write(file_.fd(), from.data(), some);
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) fail("can't be written", errno);
      from = from.subspan(static_cast<std::size_t>(done));
    }
  }

  void finish() {
    if (fsync(file_.fd()) != 0) fail("can't be written", errno);
    if (std::rename(unfinished_.c_str(), path_.c_str()) != 0) fail("can't be replaced", errno);
    finished_ = true;
    const std::string directory = path_.substr(0, path_.rfind('/') + 1) + ".";
    const Descriptor d(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (d.fd() < 0 || fsync(d.fd()) != 0) fail("its directory can't be written", errno);
  }

 private:
  /// A file left by a writer that was killed is no reason to fail; a link is removed, not followed.
  static int create(const std::string& name) {
    unlink(name.c_str());
    return open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  }

  [[noreturn]] void fail(const char* what, int error) const {
    throw Error(ErrorCode::cannot_open, "checkpoint '" + path_ + "': " + what + ": " +
                                            reason(error) + "; use another directory");
  }

  std::string path_, unfinished_;
  Descriptor file_;
  bool finished_ = false;
};

/// Returns the table if the file has these facts, this milestone and these pieces; otherwise sets
/// 'wrong'.
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
    // Part by part, so that the checksum finds in the cache what has just been written.
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
    throw Error(
        ErrorCode::malformed,
        "checkpoint '" + path + "' " + wrong +
            "; it was intact when it was verified: another process may write to this directory");
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
