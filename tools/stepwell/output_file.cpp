// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "output_file.hpp"

#include <filesystem>

#include "io/matrix_file.hpp"
#include "io/sink.hpp"
#include "stepwell/error.hpp"

namespace stepwell::tool {

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
