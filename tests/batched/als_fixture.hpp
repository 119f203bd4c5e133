// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "stepwell/als.hpp"

/// Ratings with very different counts per user, and factor vectors in padded columns.
namespace stepwell::test {

class AlsProblem {
 public:
  /// Row u has up to 'most' ratings; every seventh row has none. Repeated columns occur.
  AlsProblem(std::int64_t rows, std::int64_t cols, std::int64_t k, std::int64_t most,
             std::uint64_t seed)
      : k_(k), ld_(k + 3), random_(seed), starts_{0} {
    std::normal_distribution<float> normal;
    for (std::int64_t u = 0; u < rows; ++u) {
      const double skew = std::pow(std::uniform_real_distribution<double>(0, 1)(random_), 3);
      const auto count = u % 7 == 3 ? 0 : 1 + static_cast<std::int64_t>(skew * (most - 1));
      for (std::int64_t e = 0; e < count; ++e) {
        columns_.push_back(std::uniform_int_distribution<std::int32_t>(
            0, static_cast<std::int32_t>(cols - 1))(random_));
        values_.push_back(1 + std::abs(normal(random_)));
      }
      starts_.push_back(static_cast<std::int64_t>(columns_.size()));
    }
    rows_ = rows;
    cols_ = cols;
    items_.resize(static_cast<std::size_t>(ld_ * cols));
    for (float& y : items_) y = normal(random_);
    users_.assign(static_cast<std::size_t>(ld_ * rows), kBefore);
  }

  static constexpr float kBefore = -77;  ///< the users' values before a step

  SparseRows ratings() const {
    return {rows_, cols_, starts_.data(), columns_.data(), values_.data()};
  }
  MatrixView<const float> items() const { return {items_.data(), k_, cols_, ld_}; }
  MatrixView<float> users() { return {users_.data(), k_, rows_, ld_}; }
  std::int64_t count(std::int64_t u) const {
    return starts_[static_cast<std::size_t>(u) + 1] - starts_[static_cast<std::size_t>(u)];
  }

  AlsReport step(const AlsOptions& options) {
    std::fill(users_.begin(), users_.end(), kBefore);
    return als_step(ratings(), items(), users(), options);
  }

  std::vector<float>& values() { return values_; }
  std::vector<float>& item_elements() { return items_; }
  std::vector<std::int64_t>& starts() { return starts_; }
  std::vector<std::int32_t>& columns() { return columns_; }
  const std::vector<float>& result() const { return users_; }
  std::int64_t ld() const { return ld_; }

 private:
  std::int64_t rows_ = 0, cols_ = 0, k_, ld_;
  std::mt19937_64 random_;
  std::vector<std::int64_t> starts_;
  std::vector<std::int32_t> columns_;
  std::vector<float> values_, items_, users_;
};

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace stepwell::test
