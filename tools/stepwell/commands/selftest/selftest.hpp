// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "stepwell/view.hpp"

/// The verb `selftest`: checks whether this machine computes what the library promises.
namespace stepwell::tool::selftest {

/// A measured value and its limit.
struct Check {
  std::string name;
  double measured = 0;
  double limit = 0;
  std::string unit;    ///< what is counted or compared
  std::string remark;  ///< why the limit is missed, if known

  bool ok() const { return measured <= limit; }  // false for a NaN
};

/// Checks each instruction set that this CPU has against plain loops.
std::vector<Check> check_kernels();
/// Checks small systems of each solver, easy and difficult ones, against residuals in
/// double-double.
std::vector<Check> check_answers();
/// Checks that one thread and all threads, and any floating-point environment, give the same bits.
std::vector<Check> check_bits();

/// ||b - A x|| / (||A|| ||x|| + ||b||) in the infinity norm, with the residual in double-double.
/// All values are scaled near 1 first, so that nothing over- or underflows.
double backward_error(MatrixView<const double> a, const std::vector<double>& b,
                      const std::vector<double>& x);
/// An upper bound on the backward error of least squares, with A's columns scaled: the smaller of
/// ||r|| / ||x|| and ||A'r|| / ||r||, divided by ||A||.
double least_squares_error(MatrixView<const double> a, const std::vector<double>& b,
                           const std::vector<double>& x);

}  // namespace stepwell::tool::selftest
