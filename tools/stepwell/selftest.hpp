// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "stepwell/view.hpp"

/// The verb `selftest`: does this machine compute what the library promises?
namespace stepwell::tool::selftest {

/// Something that was measured, and what it may be at most.
struct Check {
  std::string name;
  double measured = 0;
  double limit = 0;
  std::string unit;    ///< what is counted or compared
  std::string remark;  ///< why it is missed, if that is known

  bool ok() const { return measured <= limit; }  // a NaN is none
};

/// Each instruction set that this CPU has, against plain loops.
std::vector<Check> check_kernels();
/// Small systems of each solver, easy and hostile ones, against residuals in double-double.
std::vector<Check> check_answers();
/// The same bits with one thread and with all, and in any floating-point environment.
std::vector<Check> check_bits();

/// ||b - A x|| / (||A|| ||x|| + ||b||) in the infinity norm, with the residual in double-double.
/// Numbers are brought near 1 first, so that nothing over- or underflows.
double backward_error(MatrixView<const double> a, const std::vector<double>& b,
                      const std::vector<double>& x);
/// An upper bound on the backward error of least squares, in the scale of A's columns: of the
/// residual by x, or of A'r by the residual.
double least_squares_error(MatrixView<const double> a, const std::vector<double>& b,
                           const std::vector<double>& x);

}  // namespace stepwell::tool::selftest
