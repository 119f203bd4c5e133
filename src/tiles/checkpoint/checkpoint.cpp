// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tiles/checkpoint/checkpoint.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <functional>
#include <system_error>

#include "core/numeric/checksum.hpp"
#include "stepwell/error.hpp"

namespace stepwell::tiles {
namespace {

constexpr const char* kPrefix = "stepwell-";
constexpr const char* kComplete = "-complete";

std::string in_hex(std::uint64_t x) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), x, 16).ptr;
  const std::string text(digits.data(), end);
  return std::string(digits.size() - text.size(), '0') + text;
}

std::uint64_t sum_of(const Facts& facts) {
  core::Checksum sum;
  for (const Fact& f : facts) sum.add(f.name + " " + f.value + "\n");
  return sum.value();
}

std::string ending_of(int rank) {
  return "-rank-" + std::to_string(rank);
}

/// Calls visit(name) for each entry of the directory; a directory that can't be read counts as
/// empty.
void for_each_name(const std::string& directory,
                   const std::function<void(const std::string&)>& visit) {
  std::error_code error;
  std::filesystem::directory_iterator it(directory, error);
  while (!error && it != std::filesystem::directory_iterator()) {
    visit(it->path().filename().string());
    it.increment(error);
  }
}

}  // namespace

Checkpoints::Checkpoints(const std::string& directory, int rank, int ranks, const Facts& facts)
    : directory_(directory), rank_(rank), shared_(facts) {
  shared_.push_back({"ranks", std::to_string(ranks)});
  own_ = shared_;
  own_.push_back({"rank", std::to_string(rank)});
  stem_ = directory + "/" + kPrefix + in_hex(sum_of(shared_)) + "-";
}

std::string Checkpoints::path(std::int64_t generation) const {
  return stem_ + std::to_string(generation) + ending_of(rank_);
}

std::string Checkpoints::complete_path(std::int64_t generation) const {
  return stem_ + std::to_string(generation) + kComplete;
}

std::string Checkpoints::unfinished(const char* what) const {
  return stem_ + what + ending_of(rank_) + "-unfinished";
}

void Checkpoints::open() const {
  if (directory_.empty() || directory_.find('\0') != std::string::npos) {
    throw Error(ErrorCode::invalid_argument,
                "checkpoint: the directory name is empty or contains a null character");
  }
  struct stat status {};
  const bool made = mkdir(directory_.c_str(), 0700) == 0;
  const int error = errno;
  if (!made && (stat(directory_.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))) {
    throw Error(ErrorCode::cannot_open, "checkpoint directory '" + directory_ +
                                            "': " + std::generic_category().message(error) +
                                            "; its parent must exist and be writable");
  }
  const std::string killed = ending_of(rank_) + "-unfinished";
  for_each_name(directory_, [&](const std::string& name) {
    if (name.starts_with(kPrefix) && name.ends_with(killed)) {
      unlink((directory_ + "/" + name).c_str());
    }
  });
  const std::string trial = stem_ + "trial" + ending_of(rank_);
  write_checkpoint_file(trial, unfinished("trial"), own_, {}, {});
  unlink(trial.c_str());
}

/// The generation numbers in the names of files of these facts that end with 'ending', descending.
std::vector<std::int64_t> Checkpoints::generations(const std::string& ending) const {
  const std::string stem = stem_.substr(directory_.size() + 1);
  std::vector<std::int64_t> found;
  for_each_name(directory_, [&](const std::string& name) {
    if (!name.starts_with(stem) || !name.ends_with(ending)) return;
    if (name.size() <= stem.size() + ending.size()) return;
    const char* const first = name.data() + stem.size();
    const char* const last = name.data() + name.size() - ending.size();
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(first, last, number);
    if (error == std::errc() && end == last && number > 0) found.push_back(number);
  });
  std::sort(found.rbegin(), found.rend());
  return found;
}

std::int64_t Checkpoints::newest() const {
  std::int64_t number = 0;
  for (const std::string& ending : {ending_of(rank_), std::string(kComplete)}) {
    const auto found = generations(ending);
    if (!found.empty()) number = std::max(number, found.front());
  }
  return number;
}

std::vector<Milestone> Checkpoints::complete() const {
  std::vector<Milestone> found;
  for (const std::int64_t generation : generations(kComplete)) {
    const std::string path = complete_path(generation);
    const Milestone milestone = read_checkpoint_head(path).milestone;
    if (milestone.generation != generation) continue;
    if (verify_checkpoint_file(path, shared_, milestone, {}).empty()) found.push_back(milestone);
  }
  return found;
}

void Checkpoints::write(const Milestone& milestone, std::span<const SavedPiece> pieces) const {
  write_checkpoint_file(path(milestone.generation), unfinished("state"), own_, milestone, pieces);
}

std::string Checkpoints::verify(const Milestone& milestone,
                                std::span<const SavedPiece> pieces) const {
  return verify_checkpoint_file(path(milestone.generation), own_, milestone, pieces);
}

void Checkpoints::read(const Milestone& milestone, std::span<const SavedPiece> pieces) const {
  read_checkpoint_file(path(milestone.generation), own_, milestone, pieces);
}

void Checkpoints::declare_complete(const Milestone& milestone) const {
  write_checkpoint_file(complete_path(milestone.generation), unfinished("complete"), shared_,
                        milestone, {});
}

void Checkpoints::write_verdict(std::span<std::byte> verdict) const {
  const SavedPiece piece{0, verdict};
  write_checkpoint_file(verdict_path(), unfinished("verdict"), shared_, {}, {&piece, 1});
}

bool Checkpoints::read_verdict(std::span<std::byte> verdict) const {
  const SavedPiece piece{0, verdict};
  if (!verify_checkpoint_file(verdict_path(), shared_, {}, {&piece, 1}).empty()) return false;
  read_checkpoint_file(verdict_path(), shared_, {}, {&piece, 1});
  return true;
}

void Checkpoints::remove_before(std::int64_t generation) const noexcept {
  try {
    // Remove the markers of completeness before the files that they refer to.
    for (const std::int64_t g : rank_ == 0 ? generations(kComplete) : std::vector<std::int64_t>{}) {
      if (g < generation) unlink(complete_path(g).c_str());
    }
    for (const std::int64_t g : generations(ending_of(rank_))) {
      if (g < generation) unlink(path(g).c_str());
    }
  } catch (...) {  // no memory for the names: the files stay
  }
}

void Checkpoints::remove(bool verdict) const noexcept {
  remove_before(INT64_MAX);
  try {
    if (verdict && rank_ == 0) unlink(verdict_path().c_str());
  } catch (...) {  // as above
  }
}

std::string Checkpoints::difference_to_others() const {
  std::string other;
  bool ours = false;
  const std::string stem = stem_.substr(directory_.size() + 1);
  for_each_name(directory_, [&](const std::string& name) {
    if (name.starts_with(stem)) ours = true;
    if (name.starts_with(kPrefix) && name.ends_with(kComplete)) other = name;
  });
  if (ours || other.empty()) return {};
  const CheckpointHead head = read_checkpoint_head(directory_ + "/" + other);
  return head.wrong.empty() ? differing_fact(shared_, head.facts) : head.wrong;
}

}  // namespace stepwell::tiles
