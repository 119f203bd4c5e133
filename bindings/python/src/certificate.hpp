// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include "stepwell/certificate.hpp"
#include "stepwell/solve.hpp"

namespace stepwell::python {

/// The fields of stepwell.Certificate and stepwell.Plan, by name.
nanobind::dict to_dict(const Certificate& certificate);
nanobind::dict to_dict(const Plan& plan);

}  // namespace stepwell::python
