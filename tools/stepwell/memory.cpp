// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include "core/machine/system.hpp"
#include "screen.hpp"
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

}  // namespace stepwell::tool
