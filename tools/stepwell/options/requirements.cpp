// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "options/requirements.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <filesystem>

#include "core/machine/system.hpp"
#include "io/matrix_file.hpp"
#include "io/sink.hpp"
#include "report/screen.hpp"
#include "stepwell/error.hpp"

namespace stepwell::tool {

void require_memory(std::int64_t bytes) {
  const std::int64_t available = core::memory_allowance().available;
  if (available == 0 || bytes <= available) return;
  throw Error(ErrorCode::out_of_memory,
              fmt::format("this size needs {}, {} are available; choose a smaller one",
                          size_text(bytes), size_text(available)));
}

std::int64_t peak_resident_bytes() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss * 1024L : 0;
}

void require_place(const std::string& out, std::initializer_list<std::string> others) {
  if (out.empty()) return;
  io::require_writable_name(out);
  for (const std::string& other : others) {
    std::error_code error;
    if (out != other && !std::filesystem::equivalent(out, other, error)) continue;
    throw Error(ErrorCode::invalid_argument,
                io::in_quotes(out) + " and " + io::in_quotes(other) + " are the same file");
  }
  const io::Sink probe(out);
}

}  // namespace stepwell::tool
