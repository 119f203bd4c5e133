// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/harness/compare_stats.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "bench/harness/harness.hpp"

namespace stepwell::bench {
namespace {

constexpr std::size_t kExact = 40;

/// Twice the rank of each value among both samples. Equal values share their mean rank.
struct RankSums {
  std::vector<std::int64_t> twice;  ///< of a, then of b
  double ties = 0;                  ///< sum of t^3 - t over groups of t equal values
};

RankSums rank(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> all = a;
  all.insert(all.end(), b.begin(), b.end());
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return all[i] < all[j]; });
  RankSums ranks;
  ranks.twice.resize(all.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && all[order[end]] == all[order[begin]]) ++end;
    for (std::size_t k = begin; k < end; ++k) {
      ranks.twice[order[k]] = static_cast<std::int64_t>(begin + 1 + end);
    }
    const auto t = static_cast<double>(end - begin);
    ranks.ties += t * t * t - t;
  }
  return ranks;
}

/// The fraction of all ways to choose 'count' of the ranks whose sum is at least 'distance' away
/// from the middle.
double exact_tail(const std::vector<std::int64_t>& twice, std::size_t count, std::int64_t middle,
                  std::int64_t distance) {
  const auto sums =
      static_cast<std::size_t>(std::accumulate(twice.begin(), twice.end(), std::int64_t{0})) + 1;
  // ways[k][s]: number of ways to choose k of the ranks seen so far with sum s
  std::vector<std::vector<double>> ways(count + 1, std::vector<double>(sums, 0.0));
  ways[0][0] = 1;
  for (const std::int64_t r : twice) {
    const auto step = static_cast<std::size_t>(r);
    for (std::size_t k = count; k > 0; --k) {
      for (std::size_t s = sums - 1; s >= step; --s) ways[k][s] += ways[k - 1][s - step];
    }
  }
  double far = 0;
  double all = 0;
  for (std::size_t s = 0; s < sums; ++s) {
    all += ways[count][s];
    if (std::abs(static_cast<std::int64_t>(s) - middle) >= distance) far += ways[count][s];
  }
  return far / all;
}

}  // namespace

double rank_test(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.empty() || b.empty()) return 1;
  const RankSums ranks = rank(a, b);
  const std::size_t count = a.size();
  const std::size_t total = ranks.twice.size();
  const std::int64_t sum =
      std::accumulate(ranks.twice.begin(), ranks.twice.begin() + static_cast<std::ptrdiff_t>(count),
                      std::int64_t{0});
  const auto middle = static_cast<std::int64_t>(count * (total + 1));
  const std::int64_t distance = std::abs(sum - middle);
  if (total <= kExact) return exact_tail(ranks.twice, count, middle, distance);
  const auto n = static_cast<double>(total);
  const double product = static_cast<double>(a.size()) * static_cast<double>(b.size());
  const double variance = product / 12 * (n + 1 - ranks.ties / (n * (n - 1)));
  if (!(variance > 0)) return 1;
  // The ranks are doubled; the half rank is the continuity correction.
  const double z = std::max(0.0, static_cast<double>(distance) / 2 - 0.5) / std::sqrt(variance);
  return std::erfc(z / std::sqrt(2.0));
}

double least_probability(std::size_t a, std::size_t b) {
  // The two extreme orders out of all (a + b)! / (a! b!) orders.
  const auto count = [](std::size_t n) { return std::lgamma(static_cast<double>(n) + 1); };
  return a == 0 || b == 0 ? 1 : std::min(1.0, 2 * std::exp(count(a) + count(b) - count(a + b)));
}

std::vector<double> adjust_for_many(const std::vector<double>& probabilities) {
  std::vector<std::size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return probabilities[i] > probabilities[j]; });
  std::vector<double> adjusted(probabilities.size());
  double least = 1;
  const auto count = static_cast<double>(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    least = std::min(least, probabilities[order[k]] * count / (count - static_cast<double>(k)));
    adjusted[order[k]] = least;
  }
  return adjusted;
}

std::string_view to_string(Change change) {
  switch (change) {
    case Change::faster:
      return "faster";
    case Change::same:
      return "same";
    case Change::slower:
      return "slower";
    case Change::unknown:
      break;
  }
  return "unknown";
}

std::vector<Comparison> compare_samples(const std::vector<Samples>& cases,
                                        const CompareOptions& options) {
  std::vector<double> probabilities;
  for (const Samples& s : cases) probabilities.push_back(rank_test(s.before, s.after));
  probabilities = adjust_for_many(probabilities);
  std::vector<Comparison> results;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Samples& s = cases[i];
    Comparison c;
    c.before = summarize(s.before).median;
    c.after = summarize(s.after).median;
    c.change = c.before > 0 ? c.after / c.before - 1 : 0;
    c.probability = probabilities[i];
    const bool certain = c.probability <= options.alpha;
    const bool relevant = !(std::abs(c.change) < options.least_change);
    // The smallest probability that samples of these sizes can give, and whether it is too large to
    // be significant among so many cases.
    const double best = least_probability(s.before.size(), s.after.size());
    const bool weak = best * static_cast<double>(cases.size()) > options.alpha;
    c.verdict = s.before == s.after && !s.before.empty() ? Change::same
                : certain && relevant ? (c.change < 0 ? Change::slower : Change::faster)
                : weak && (relevant || best > options.alpha) ? Change::unknown
                                                             : Change::same;
    results.push_back(c);
  }
  return results;
}

}  // namespace stepwell::bench
