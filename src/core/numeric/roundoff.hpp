// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace stepwell::core {

/// Unit roundoff of fp64.
inline constexpr double kUnit = 0x1p-53;

}  // namespace stepwell::core
