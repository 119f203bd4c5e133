// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "core/numeric/checksum.hpp"
#include "tiles/checkpoint/file.hpp"

/// Any sequence of bytes is either refused as a checkpoint with one printable line, or is a valid
/// checkpoint that is written again as the same bytes. Each input is read a second time with the
/// checksum of its head corrected: no fuzzer finds a checksum by trial.
namespace stepwell::tiles {
namespace {

[[noreturn]] void finding(const char* what) {
  std::fprintf(stderr, "finding: %s\n", what);
  std::abort();
}

/// A file in memory that is rewritten for every input, and removed when the process ends normally.
struct File {
  File() : descriptor(mkstemp(path.data())) {}
  ~File() { unlink(path.c_str()); }
  void set(const std::string& bytes) const {
    if (ftruncate(descriptor, 0) != 0 ||
        pwrite(descriptor, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
      finding("no room for a temporary file");
    }
  }
  std::string path = "/dev/shm/stepwell_fuzz.XXXXXX";
  int descriptor;
};

void try_bytes(const std::string& bytes) {
  static const File file;
  file.set(bytes);
  const CheckpointHead head = read_checkpoint_head(file.path);
  for (const char c : head.wrong) {
    if (c < 0x20 || c == 0x7f) finding("a message of several lines");
  }
  if (!head.wrong.empty()) return;
  std::array<std::byte, 16> memory{};
  const std::array<SavedPiece, 2> pieces = {SavedPiece{10, std::span(memory).first(9)},
                                            SavedPiece{-1, std::span(memory).last(7)}};
  const Facts facts = {{"order", "5"}};
  const std::string wrong = verify_checkpoint_file(file.path, facts, head.milestone, pieces);
  if (!wrong.empty()) return;
  read_checkpoint_file(file.path, facts, head.milestone, pieces);
  const std::string again = file.path + ".again";
  write_checkpoint_file(again, again + "-unfinished", facts, head.milestone, pieces);
  std::vector<char> text(bytes.size() + 1);
  std::FILE* const stream = std::fopen(again.c_str(), "rb");
  const std::size_t length = stream ? std::fread(text.data(), 1, text.size(), stream) : 0;
  if (stream) std::fclose(stream);
  unlink(again.c_str());
  if (std::string(text.data(), length) != bytes) finding("another file when written again");
}

/// The sum is the last number in the prefix of 64 bytes, the length of the facts the fourth word.
std::string with_right_sum(std::string bytes) {
  constexpr std::size_t prefix = 64;
  if (bytes.size() < prefix) return bytes;
  std::uint32_t facts = 0;
  std::memcpy(&facts, bytes.data() + 12, sizeof(facts));
  if (facts > bytes.size() - prefix) return bytes;
  std::memset(bytes.data() + 56, 0, 8);
  const std::uint64_t sum = core::checksum(std::as_bytes(std::span(bytes.data(), prefix + facts)));
  std::memcpy(bytes.data() + 56, &sum, sizeof(sum));
  return bytes;
}

}  // namespace
}  // namespace stepwell::tiles

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  stepwell::tiles::try_bytes(bytes);
  stepwell::tiles::try_bytes(stepwell::tiles::with_right_sum(bytes));
  return 0;
}
