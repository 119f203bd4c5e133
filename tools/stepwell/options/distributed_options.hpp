// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "stepwell/distributed.hpp"

/// Options of `solve` and `plan` for the distribution of a matrix over ranks.
namespace stepwell::tool {

class Verb;

struct DistributedRequest {
  std::int64_t tile = 0;
  std::string layout = "grid";
  int grid_rows = 0;
  bool regenerate = false;
};

/// Adds --tile, --layout, --grid-rows and --regenerate.
void add_distributed_options(Verb verb, DistributedRequest& r);

/// Converts the request to the library's options, without checkpoints.
DistributedOptions distributed_options_of(const DistributedRequest& r);

}  // namespace stepwell::tool
