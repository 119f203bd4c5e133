// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/small_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace stepwell::core {
namespace {

struct Descriptor {
  explicit Descriptor(int opened) : number(opened) {}
  ~Descriptor() {
    if (number >= 0) close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  const int number;
};

[[noreturn]] void fail(int error) {
  throw std::system_error(error, std::generic_category());
}

}  // namespace

std::string read_small_file(const std::string& path, std::size_t most) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.number < 0) fail(errno);
  struct stat facts {};
  if (fstat(file.number, &facts) != 0) fail(errno);
  if (!S_ISREG(facts.st_mode)) fail(S_ISDIR(facts.st_mode) ? EISDIR : EINVAL);
  std::string text;
  constexpr std::size_t kPiece = 1 << 16;
  while (text.size() <= most) {  // the file may grow while it is read
    const std::size_t size = text.size();
    text.resize(size + std::min(kPiece, most + 1 - size));
    const ssize_t got = read(file.number, text.data() + size, text.size() - size);
    if (got < 0 && errno != EINTR) fail(errno);
    text.resize(size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return text;
  }
  fail(EFBIG);
}

}  // namespace stepwell::core
