// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stepwell/solve.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>

#include "arrays.hpp"
#include "certificate.hpp"
#include "factor.hpp"
#include "module.hpp"
#include "options.hpp"
#include "run.hpp"

namespace stepwell::python {
namespace {

bool brief_solve(std::int64_t n, std::int64_t columns) {
  const auto order = static_cast<double>(n);
  return brief(order * order * (order + 20.0 * static_cast<double>(columns)));
}

nb::dict solve_of(const Matrix<const double>& a, const Matrix<const double>& b,
                  const Matrix<double>& x, const Options& options, const nb::object& progress) {
  Progress state;
  const SolveOptions o = options.options(&state);
  const MatrixView<const double> matrix = columns_of(a);
  const MatrixView<const double> right = columns_of(b);
  const MatrixView<double> left = columns_of(x);
  Certificate c;
  run(state, progress, brief_solve(matrix.rows, right.cols),
      [&] { c = solve(matrix, right, left, o, options.structure_of()); });
  return to_dict(c);
}

nb::dict plan_of(std::int64_t n, std::int64_t columns, const Options& options) {
  const SolveOptions o = options.options(nullptr);
  return to_dict(options.structure_of() == Structure::spd ? plan_spd(n, columns, o)
                                                          : plan_general(n, columns, o));
}

/// A solver and the Progress that its calls share. Python holds a lock during each call.
class KeptSolver {
 public:
  KeptSolver(const Matrix<const double>& a, const Options& options)
      : engine_(options.options(&state_).engine),
        solver_(columns_of(a), options.options(&state_), options.structure_of()) {}

  nb::dict factor(const nb::object& progress) {
    Certificate c;
    call(progress, 1, [&] { c = solver_.factor(); });
    return to_dict(c);
  }

  nb::dict solve(const Matrix<const double>& b, const Matrix<double>& x, bool transposed,
                 const nb::object& progress) {
    const MatrixView<const double> right = columns_of(b);
    const MatrixView<double> left = columns_of(x);
    Certificate c;
    call(progress, right.cols, [&] {
      c = transposed ? solver_.solve_transposed(right, left) : solver_.solve(right, left);
    });
    return to_dict(c);
  }

  double inverse_norm(bool transposed) {
    double norm = 0;
    call(nb::none(), 10, [&] { norm = solver_.inverse_norm(transposed); });
    return norm;
  }

  nb::tuple log_det() {
    LogDet found;
    call(nb::none(), 1, [&] { found = solver_.log_det(); });
    return nb::make_tuple(found.sign, found.log);
  }

  /// The factor at FP64 quality, which is computed here unless solves use one.
  std::unique_ptr<FactorUses> cholesky(const nb::object& progress) {
    const Factor* factor = nullptr;
    call(progress, 1, [&] { factor = &solver_.cholesky_factor(); });
    return std::make_unique<FactorUses>(*factor, engine_.context);
  }

  const char* structure() const { return to_string(solver_.structure()); }

 private:
  void call(const nb::object& progress, std::int64_t columns, const std::function<void()>& work) {
    state_.enter(Phase::idle);
    state_.cancel = false;
    run(state_, progress, brief_solve(solver_.order(), columns), work);
  }

  Progress state_;
  EngineOptions engine_;
  Solver solver_;
};

}  // namespace

void bind_solve(nb::module_& m) {
  nb::class_<Options>(m, "Options", "The keyword arguments of a solve.")
      .def(nb::init<>())
      .def_rw("structure", &Options::structure)
      .def_rw("upper", &Options::upper)
      .def_rw("transposed", &Options::transposed)
      .def_rw("tolerance", &Options::tolerance)
      .def_rw("iterations", &Options::iterations)
      .def_rw("map", &Options::map, nb::arg().none())
      .def_rw("refiner", &Options::refiner, nb::arg().none())
      .def_rw("climb", &Options::climb)
      .def_rw("exact_residual", &Options::exact_residual)
      .def_rw("check_symmetry", &Options::check_symmetry)
      .def_rw("condition", &Options::condition)
      .def_rw("prove", &Options::prove)
      .def_rw("threads", &Options::threads);
  m.def("solve", &solve_of, nb::arg("a").noconvert(), nb::arg("b").noconvert(),
        nb::arg("x").noconvert(), nb::arg("options"), nb::arg("progress").none(),
        "Solves into x, which may be b; returns the certificate as a dict.");
  m.def("plan", &plan_of, nb::arg("n"), nb::arg("columns"), nb::arg("options"),
        "Returns the plan as a dict.");
  nb::class_<KeptSolver>(m, "Solver", "A matrix with its factor; the matrix is not copied.")
      .def(nb::init<const Matrix<const double>&, const Options&>(), nb::arg("a").noconvert(),
           nb::arg("options"), nb::keep_alive<1, 2>())
      .def("factor", &KeptSolver::factor, nb::arg("progress").none())
      .def("solve", &KeptSolver::solve, nb::arg("b").noconvert(), nb::arg("x").noconvert(),
           nb::arg("transposed"), nb::arg("progress").none())
      .def("inverse_norm", &KeptSolver::inverse_norm, nb::arg("transposed"))
      .def("log_det", &KeptSolver::log_det)
      .def("cholesky", &KeptSolver::cholesky, nb::arg("progress").none(), nb::keep_alive<0, 1>())
      .def_prop_ro("structure", &KeptSolver::structure);
}

}  // namespace stepwell::python
