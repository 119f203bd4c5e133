// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace stepwell::bench {

/// System directories with the libraries that we compare with. The loader would accept a bare name,
/// but would then also search directories that others can write.
inline constexpr const char* kSystemLibraries[] = {
    "/usr/local/lib", ("/usr/lib/" STEPWELL_MULTIARCH), "/usr/lib64", "/usr/lib"};

}  // namespace stepwell::bench
