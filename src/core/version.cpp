// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stepwell/version.hpp"

namespace stepwell {

const char* version() noexcept {
  return STEPWELL_VERSION;
}

}  // namespace stepwell
