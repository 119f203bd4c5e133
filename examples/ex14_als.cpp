// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// A recommender: ratings of items by users are modelled by a vector for each user and one for each
// item, computed by alternating least squares. The ratings are synthetic: products of hidden
// vectors, noise of standard deviation 0.5, a few users with many ratings and many with few,
// popular and unpopular items. Some ratings are kept out to test how well they are predicted.
//
//   ex14_als [users] [items] [factors] [iterations]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "stepwell/stepwell.hpp"

namespace {

constexpr std::int64_t kHidden = 3;  // elements of a hidden vector
constexpr double kNoise = 0.5;

/// A number between 0 and 1 that depends on the index alone (splitmix64).
double uniform(std::uint64_t index) {
  std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/// The sum of four such numbers, shifted and scaled: nearly normal, with standard deviation 1.
double normal(std::uint64_t index) {
  double sum = -2;
  for (std::uint64_t i = 0; i < 4; ++i) sum += uniform(4 * index + i);
  return sum * std::sqrt(3.0);
}

/// A user's rating of an item without noise: mean 3, standard deviation 1.
double opinion(std::int64_t user, std::int64_t item) {
  double sum = 0;
  for (std::int64_t h = 0; h < kHidden; ++h) {
    sum += normal(static_cast<std::uint64_t>(user * kHidden + h)) *
           normal((std::uint64_t{1} << 40) + static_cast<std::uint64_t>(item * kHidden + h));
  }
  return 3 + sum / std::sqrt(static_cast<double>(kHidden));
}

struct Rating {
  std::int64_t user;
  std::int32_t item;
  float value;
};

/// The ratings by user (CSR), and those that are kept out.
struct Data {
  std::vector<std::int64_t> starts{0};
  std::vector<std::int32_t> items;
  std::vector<float> values;
  std::vector<Rating> kept_out;
};

Data make_ratings(std::int64_t users, std::int64_t items) {
  Data d;
  std::vector<std::int32_t> chosen;
  std::uint64_t random = std::uint64_t{1} << 50;
  for (std::int64_t u = 0; u < users; ++u) {
    // At least four ratings, 20 on average, hundreds for a few users: a power law.
    const auto count = static_cast<std::int64_t>(4 * std::pow(1 - uniform(random++), -0.8));
    chosen.clear();
    for (std::int64_t i = 0; i < std::min(count, items / 4); ++i) {
      const double popularity = std::pow(uniform(random++), 2.5);
      chosen.push_back(static_cast<std::int32_t>(popularity * static_cast<double>(items)));
    }
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    for (const std::int32_t item : chosen) {
      const auto value = static_cast<float>(opinion(u, item) + kNoise * normal(random++));
      if (uniform(random++) < 0.05) {
        d.kept_out.push_back({u, item, value});
      } else {
        d.items.push_back(item);
        d.values.push_back(value);
      }
    }
    d.starts.push_back(static_cast<std::int64_t>(d.items.size()));
  }
  return d;
}

/// The root mean square error of the predictions for the ratings kept out.
double error_of(const std::vector<Rating>& ratings, stepwell::MatrixView<const float> users,
                stepwell::MatrixView<const float> items) {
  double squares = 0;
  for (const Rating& r : ratings) {
    double said = 0;
    for (std::int64_t i = 0; i < users.rows; ++i) said += users(i, r.user) * items(i, r.item);
    squares += (said - r.value) * (said - r.value);
  }
  return std::sqrt(squares / static_cast<double>(ratings.size()));
}

std::int64_t argument(int count, char** arguments, int which, std::int64_t otherwise) {
  return which < count ? std::atoll(arguments[which]) : otherwise;
}

}  // namespace

int main(int count, char** arguments) {
  const std::int64_t users = argument(count, arguments, 1, 20'000);
  const std::int64_t items = argument(count, arguments, 2, 1'000);
  const std::int64_t factors = argument(count, arguments, 3, 16);
  const std::int64_t iterations = argument(count, arguments, 4, 8);
  const Data data = make_ratings(users, items);
  std::printf("%lld users, %lld items, %zu ratings, %zu kept out; %lld factors\n",
              static_cast<long long>(users), static_cast<long long>(items), data.items.size(),
              data.kept_out.size(), static_cast<long long>(factors));

  std::vector<float> x(static_cast<std::size_t>(factors * users));
  std::vector<float> y(static_cast<std::size_t>(factors * items));
  for (std::size_t i = 0; i < y.size(); ++i) {  // positive, as ratings are, and all different
    y[i] = static_cast<float>(uniform((std::uint64_t{1} << 60) + i));
  }
  double first_loss = 0, loss = 0, error = 0;
  try {
    //---- begin als
    const stepwell::SparseRows by_user{users, items, data.starts.data(), data.items.data(),
                                       data.values.data()};
    const stepwell::OwnedSparseRows by_item = stepwell::transpose(by_user);
    const auto user_vectors = stepwell::view(x.data(), factors, users);
    const auto item_vectors = stepwell::view(y.data(), factors, items);
    stepwell::AlsOptions options;
    options.lambda = 0.1f;
    options.weighted = true;
    for (std::int64_t i = 1; i <= iterations; ++i) {
      const auto start = std::chrono::steady_clock::now();
      const stepwell::AlsReport users_step =
          stepwell::als_step(by_user, item_vectors, user_vectors, options);
      const stepwell::AlsReport items_step =
          stepwell::als_step(by_item.view(), user_vectors, item_vectors, options);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      if (!users_step.ok() || !items_step.ok()) {
        std::printf("%zu users and %zu items have no vector\n", users_step.failures.size(),
                    items_step.failures.size());
        return 1;
      }
      loss = stepwell::als_loss(by_user, user_vectors, item_vectors, options);
      error = error_of(data.kept_out, user_vectors, item_vectors);
      if (i == 1) first_loss = loss;
      std::printf("iteration %2lld: loss %.6g, error of ratings kept out %.4f, %.3f s\n",
                  static_cast<long long>(i), loss, error, seconds.count());
    }
    //---- end als
  } catch (const stepwell::Error& e) {
    std::printf("%s\n", e.what());
    return 1;
  }
  // The opinions have a standard deviation of 1, the noise one of 0.5. Written so that NaN is an
  // error, too.
  return loss <= first_loss && error < 0.9 ? 0 : 1;
}
