// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include "stepwell/certificate.hpp"

namespace stepwell::tool {

/// The certificate as JSON.
nlohmann::ordered_json certificate_json(const Certificate& c);

}  // namespace stepwell::tool
