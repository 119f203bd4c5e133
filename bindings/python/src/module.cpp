// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "module.hpp"

#include <nanobind/nanobind.h>

#include "stepwell/error.hpp"
#include "stepwell/version.hpp"

namespace {

namespace nb = nanobind;

PyObject* kind_of(stepwell::ErrorCode code) {
  switch (code) {
    case stepwell::ErrorCode::invalid_argument:
    case stepwell::ErrorCode::shape:
      return PyExc_ValueError;
    case stepwell::ErrorCode::too_large:
    case stepwell::ErrorCode::out_of_memory:
      return PyExc_MemoryError;
    default:
      return PyExc_RuntimeError;
  }
}

}  // namespace

NB_MODULE(_stepwell, m) {
  m.doc() = "Internal module of the package 'stepwell'; use the package.";
  m.attr("version") = stepwell::version();
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const stepwell::Error& error) {
      PyErr_SetString(kind_of(error.code()), error.what());
    }
  });
  stepwell::python::bind_factor(m);
  stepwell::python::bind_solve(m);
  stepwell::python::bind_lstsq(m);
  stepwell::python::bind_batch(m);
  stepwell::python::bind_als(m);
  stepwell::python::bind_machine(m);
}
