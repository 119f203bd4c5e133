// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>
#include <vector>

/// Decides whether a ratio changed between two runs. Uses ranks, not means, because the outliers of
/// a machine that others use are all on one side. Does not read files.
namespace stepwell::bench {

/// The probability of ranks at least as uneven as these if both samples come from the same
/// distribution, whatever it is: the two-sided test of Wilcoxon, Mann and Whitney. Exact up to 40
/// values, including ties. 1 if one sample is empty.
double rank_test(const std::vector<double>& a, const std::vector<double>& b);

/// The smallest probability that rank_test() can return for samples of these sizes.
double least_probability(std::size_t a, std::size_t b);

/// Raises the probabilities of many tests so that at most a fraction alpha of those below alpha are
/// false alarms (Benjamini & Hochberg). Keeps the given order.
std::vector<double> adjust_for_many(const std::vector<double>& probabilities);

enum class Change { faster, same, slower, unknown };
std::string_view to_string(Change change);

struct Comparison {
  double before = 0;       ///< median of the ratios
  double after = 0;        ///< median of the ratios
  double change = 0;       ///< after / before - 1
  double probability = 1;  ///< that this is only noise, adjusted
  Change verdict = Change::unknown;
};

struct CompareOptions {
  double alpha = 0.05;         ///< accepted fraction of false alarms
  double least_change = 0.05;  ///< smaller changes do not matter
};

struct Samples {
  std::vector<double> before, after;
};

/// Compares all pairs of samples of ratios (a larger ratio is faster). 'unknown': there are too few
/// values, or too few for so many cases, to tell a difference from chance. Equal samples are 'same'
/// however few values they have.
std::vector<Comparison> compare_samples(const std::vector<Samples>& cases,
                                        const CompareOptions& options);

}  // namespace stepwell::bench
