// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "refine/residual_gap.hpp"

#include <algorithm>

namespace stepwell::refine {
namespace {

/// An element of the copy is rounded by at most 2^-24 of its size, on average by less than half of
/// that, and the errors of a row have random signs: those of a product have about the norm of this
/// many times ||A||_F / sqrt(n) times that of the vector.
constexpr double kRounding = 0x1p-25;

/// The gap may be this share of the residual that is expected after the product, or of the one at
/// which the solver stops. With a quarter, some systems took two more iterations.
constexpr double kShare = 0x1p-4;

/// Expected reduction of the residual by an iteration: as by the one before, within these limits.
constexpr double kFastest = 0x1p-8;
constexpr double kSlowest = 0x1p-1;

/// The largest gap where this residual is expected.
double allowed(double residual, double enough) {
  return kShare * std::max(residual, enough);
}

}  // namespace

void ResidualGap::observe(double residual, double enough) {
  rate_ = residual_ > 0 ? std::clamp(residual / residual_, kFastest, kSlowest) : kFastest;
  residual_ = residual;
  enough_ = enough;
}

bool ResidualGap::too_wide() const {
  const double most = allowed(rate_ * residual_, enough_);
  return gap_ > most / 2 && gap_ + rate_ * error_ > most;
}

Reads ResidualGap::next(double step) {
  error_ = kRounding * norm_ * step;
  if (copied_ && gap_ + error_ <= allowed(rate_ * residual_, enough_)) {
    gap_ += error_;
    return Reads::copy;
  }
  if (copied_ || rate_ * error_ > allowed(rate_ * rate_ * residual_, enough_)) return Reads::fp64;
  copied_ = true;  // the next product will be able to use it
  return Reads::and_copy;
}

}  // namespace stepwell::refine
