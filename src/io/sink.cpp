// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/sink.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <random>
#include <system_error>

#include "io/source.hpp"
#include "stepwell/error.hpp"

namespace stepwell::io {
namespace {

constexpr std::int64_t kTogether = std::int64_t{1} << 18;  ///< smaller writes are buffered

constexpr std::int64_t kAtOnce = std::int64_t{1} << 25;  ///< bytes between two reports of progress

/// Names of temporary files, stored so that a signal handler can read them at any time. If all
/// slots are taken, a sink works without one.
struct Unfinished {
  std::atomic<bool> taken{false};
  std::atomic<bool> named{false};
  std::array<char, 4096> name{};
};
std::array<Unfinished, 8> unfinished;

int claim_slot(const std::string& name) {
  for (std::size_t k = 0; k < unfinished.size(); ++k) {
    Unfinished& u = unfinished[k];
    if (name.size() >= u.name.size() || u.taken.exchange(true)) continue;
    std::copy_n(name.c_str(), name.size() + 1, u.name.begin());
    u.named = true;
    return static_cast<int>(k);
  }
  return -1;
}

void release_slot(int slot) {
  if (slot < 0) return;
  Unfinished& u = unfinished[static_cast<std::size_t>(slot)];
  u.named = false;
  u.taken = false;
}

/// A unique name in the same directory. It is short, because the path of the directory may be long.
std::string temporary_next_to(const std::string& path) {
  std::random_device random;
  const std::uint64_t number = (std::uint64_t{random()} << 32) | random();
  const auto slash = path.rfind('/');
  return (slash == std::string::npos ? "" : path.substr(0, slash + 1)) + ".stepwell-" +
         std::to_string(number);
}

}  // namespace

void remove_unfinished() noexcept {
  for (const Unfinished& u : unfinished) {
    if (u.named) unlink(u.name.data());
  }
}

Sink::Sink(const std::string& path, Progress* progress, std::int64_t bytes)
    : path_(path), progress_(progress) {
  if (path.empty() || path.find('\0') != std::string::npos)
    fail("is not a valid file name", EINVAL);
  struct stat old {};
  const bool exists = lstat(path.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) fail("can't be replaced", EISDIR);
  if (exists && !S_ISREG(old.st_mode) && !S_ISLNK(old.st_mode)) fail("can't be replaced", EEXIST);
  do {
    temporary_ = temporary_next_to(path);
    release_slot(slot_);
    slot_ = claim_slot(temporary_);
    descriptor_ =
        open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) {
    const int error = errno;
    release_slot(slot_);
    fail("can't be created", error);
  }
  if (progress_ != nullptr) progress_->enter(Phase::writing, bytes);
  // The new file keeps the permissions of the old one.
  if (exists && S_ISREG(old.st_mode)) fchmod(descriptor_, old.st_mode & 07777);
}

Sink::~Sink() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(temporary_.c_str());
  release_slot(slot_);
}

void Sink::write(const void* from, std::int64_t bytes) {
  const char* const start = static_cast<const char*>(from);
  if (bytes >= kTogether) {
    flush();
    put(start, bytes);
    return;
  }
  waiting_.append(start, static_cast<std::size_t>(bytes));
  if (waiting_.size() >= static_cast<std::size_t>(kTogether)) flush();
}

void Sink::flush() {
  put(waiting_.data(), static_cast<std::int64_t>(waiting_.size()));
  waiting_.clear();
}

void Sink::put(const char* from, std::int64_t bytes) {
  if (memory_ != nullptr) {
    memory_->append(from, static_cast<std::size_t>(bytes));
    return;
  }
  while (bytes > 0) {
    const ssize_t done =
        ::write(descriptor_, from, static_cast<std::size_t>(std::min(bytes, kAtOnce)));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("can't be written", errno);
    from += done;
    bytes -= done;
    if (progress_ != nullptr) progress_->done += done;
  }
}

void Sink::commit() {
  flush();
  if (memory_ != nullptr) return;
  if (fsync(descriptor_) != 0) fail("can't be written", errno);
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("can't be replaced", errno);
  release_slot(slot_);
  close(descriptor_);
  descriptor_ = -1;
}

void Sink::fail(const char* what, int error) const {
  throw Error(ErrorCode::cannot_open,
              in_quotes(path_) + ": " + what + ": " + std::generic_category().message(error));
}

}  // namespace stepwell::io
