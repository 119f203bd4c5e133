// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>
#include <vector>

/// Did a ratio change between two runs? Ranks, not means: a machine that others use has outliers on
/// one side. Knows nothing of files.
namespace stepwell::tool {

/// The probability of ranks at least as uneven as these if both samples come from one distribution,
/// whatever it is: the two-sided test of Wilcoxon, Mann and Whitney. Exact up to 40 numbers, ties
/// included. 1 if one sample is empty.
double rank_test(const std::vector<double>& a, const std::vector<double>& b);

/// The smallest that rank_test() can give for samples of these sizes.
double least_probability(std::size_t a, std::size_t b);

/// Probabilities of many tests raised so that those below alpha hold at most that share of false
/// alarms (Benjamini & Hochberg). In the order given.
std::vector<double> adjust_for_many(const std::vector<double>& probabilities);

enum class Change { faster, same, slower, unknown };
std::string_view to_string(Change change);

struct Comparison {
  double before = 0;       ///< medians of the ratios
  double after = 0;        ///<
  double change = 0;       ///< after / before - 1
  double probability = 1;  ///< of noise alone, adjusted
  Change verdict = Change::unknown;
};

struct CompareOptions {
  double alpha = 0.05;         ///< false alarms there may be, by chance
  double least_change = 0.05;  ///< what is too small to matter
};

struct Samples {
  std::vector<double> before, after;
};

/// Compares all pairs of samples of ratios (more is faster). 'unknown': so few numbers, or so few
/// among so many cases, that a difference can't be told from chance; equal samples are the same
/// however few.
std::vector<Comparison> compare_samples(const std::vector<Samples>& cases,
                                        const CompareOptions& options);

}  // namespace stepwell::tool
