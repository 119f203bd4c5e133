// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/threads/thread_pool.hpp"
#include "gallery/recipe.hpp"
#include "stepwell/view.hpp"

namespace stepwell::gallery {

/// fill() for the general kinds; the arguments must have been checked.
void fill_general(MatrixView<double> a, const Recipe& recipe, engine::ThreadPool& pool);

}  // namespace stepwell::gallery
