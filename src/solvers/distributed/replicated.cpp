// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/distributed/replicated.hpp"

namespace stepwell::solvers {

void require_same(engine::Agreement& agreement, const std::vector<Replicated>& all) {
  std::vector<std::int64_t> most;
  for (const Replicated& c : all) {
    const auto bits = static_cast<std::int64_t>(c.bits);
    most.push_back(bits);
    most.push_back(~bits);  // the largest complement is the complement of the smallest value
  }
  agreement.ranks().largest(most);
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (most[2 * k] == ~most[2 * k + 1]) continue;
    throw engine::AgreedError(
        ErrorCode::invalid_argument,
        "solve_spd over ranks: " + all[k].name +
            " is not the same on all ranks; all ranks must pass the same arguments");
  }
}

}  // namespace stepwell::solvers
