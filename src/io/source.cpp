// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace stepwell::io {
namespace {

constexpr std::int64_t kAtOnce = std::int64_t{1} << 25;  ///< bytes between two reports of progress

std::string reason(int error) {
  return std::generic_category().message(error);
}

}  // namespace

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 200;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "'";
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      out += c;
    } else {
      out += "\\x";
      out += digits[byte / 16];
      out += digits[byte % 16];
    }
  }
  return out + (text.size() > longest ? "...'" : "'");
}

Source::Source(const std::string& path, Progress* progress)
    : name_(in_quotes(path)), progress_(progress) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    fail(ErrorCode::cannot_open, "", "is not a valid file name");
  }
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (descriptor_ < 0) fail(ErrorCode::cannot_open, "", reason(errno));
  struct stat status {};
  const bool known = fstat(descriptor_, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    close(descriptor_);
    fail(ErrorCode::cannot_open, "",
         "is not a regular file; pipes and devices must be copied to one");
  }
  size_ = status.st_size;
  if (progress_ != nullptr) progress_->enter(Phase::reading, size_);
}

Source::Source(std::string_view bytes, std::string_view name)
    : name_(in_quotes(name)), memory_(bytes), size_(static_cast<std::int64_t>(bytes.size())) {}

Source::~Source() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::int64_t Source::read(void* to, std::int64_t bytes) {
  const std::int64_t wanted = std::min(bytes, left());
  if (descriptor_ < 0) {
    if (wanted > 0) std::memcpy(to, memory_.data() + position_, static_cast<std::size_t>(wanted));
    position_ += wanted;
    return wanted;
  }
  std::int64_t done = 0;
  while (done < wanted) {
    const auto some = static_cast<std::size_t>(std::min(wanted - done, kAtOnce));
    const ssize_t got = pread(descriptor_, static_cast<char*>(to) + done, some, position_ + done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(ErrorCode::cannot_open, "", "can't be read: " + reason(errno));
    if (got == 0) {
      size_ = position_ + done;
      break;
    }
    done += got;
    if (progress_ != nullptr) progress_->done = position_ + done;
  }
  position_ += done;
  return done;
}

void Source::fail(ErrorCode code, const std::string& where, const std::string& what) const {
  throw Error(code, name_ + (where.empty() ? "" : ", " + where) + ": " + what);
}

}  // namespace stepwell::io
