// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

namespace stepwell::python {

// Each function adds the bindings of one source file to the module.
void bind_factor(nanobind::module_& m);
void bind_solve(nanobind::module_& m);
void bind_lstsq(nanobind::module_& m);
void bind_batch(nanobind::module_& m);
void bind_als(nanobind::module_& m);
void bind_machine(nanobind::module_& m);

}  // namespace stepwell::python
