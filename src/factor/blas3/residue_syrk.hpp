// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/threads/thread_pool.hpp"
#include "stepwell/progress.hpp"
#include "stepwell/view.hpp"

namespace stepwell::factor {

/// C <- beta C + alpha A A' on the lower triangle, with exact sums (tiles/residue_product.hpp):
/// the error of c_ij is of the order of u ||a_i|| ||a_j||. The same bits for any number of threads.
/// Returns false if it was cancelled.
bool residue_syrk(engine::ThreadPool& pool, double alpha, MatrixView<const double> a, double beta,
                  MatrixView<double> c, Progress* progress);

/// Bytes of its workspace.
std::int64_t residue_syrk_bytes(std::int64_t n, std::int64_t depth, int threads);

}  // namespace stepwell::factor
