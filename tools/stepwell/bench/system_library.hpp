// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace stepwell::tool {

/// Where the system keeps the libraries that are compared with. A bare name would do for the
/// loader, and would also find what lies in directories that others can write.
inline constexpr const char* kSystemLibraries[] = {
    "/usr/local/lib", ("/usr/lib/" STEPWELL_MULTIARCH), "/usr/lib64", "/usr/lib"};

}  // namespace stepwell::tool
