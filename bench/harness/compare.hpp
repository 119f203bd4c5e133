// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "options/verb.hpp"

namespace stepwell::bench {

/// Adds `bench compare`, which reports what became slower between two files of `bench`. Its exit
/// code is 1 if any case did.
void add_compare(tool::Verb bench);

}  // namespace stepwell::bench
