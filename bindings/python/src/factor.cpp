// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor.hpp"

#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <vector>

#include "arrays.hpp"
#include "module.hpp"
#include "run.hpp"

namespace stepwell::python {

void FactorUses::call(const nb::object& progress, double products,
                      const std::function<void()>& work) {
  state_.enter(Phase::idle);
  state_.cancel = false;
  run(state_, progress, brief(products), work);
}

namespace {

/// Multiplications with the factor for this many columns.
double products_of(const Factor& factor, std::int64_t columns) {
  const auto n = static_cast<double>(factor.order());
  return n * n * static_cast<double>(columns);
}

/// run() throws what stopped the computation, so this is only for a cancellation without reason.
void require_complete(bool complete) {
  if (!complete) throw std::runtime_error("cancelled");
}

double log_det_error(FactorUses& f) {
  double error = 0;
  f.call(nb::none(), products_of(f.factor(), 33),
         [&] { error = f.factor().log_det_error(f.engine()); });
  return error;
}

void solve_unrefined(FactorUses& f, const Matrix<double>& b) {
  const MatrixView<double> x = columns_of(b);
  f.call(nb::none(), products_of(f.factor(), x.cols),
         [&] { f.factor().solve_unrefined(x, f.engine()); });
}

void half_solve(FactorUses& f, const Matrix<double>& b) {
  const MatrixView<double> x = columns_of(b);
  f.call(nb::none(), products_of(f.factor(), x.cols),
         [&] { f.factor().half_solve(x, f.engine()); });
}

std::vector<double> quadratic_forms(FactorUses& f, const Matrix<const double>& b) {
  const MatrixView<const double> x = columns_of(b);
  std::vector<double> forms;
  f.call(nb::none(), products_of(f.factor(), x.cols),
         [&] { forms = f.factor().quadratic_forms(x, f.engine()); });
  return forms;
}

void multiply(FactorUses& f, const Matrix<double>& z) {
  const MatrixView<double> x = columns_of(z);
  f.call(nb::none(), products_of(f.factor(), x.cols), [&] { f.factor().multiply(x, f.engine()); });
}

void inverse(FactorUses& f, const Matrix<double>& out, const nb::object& progress) {
  const MatrixView<double> x = columns_of(out);
  bool complete = false;
  f.call(progress, products_of(f.factor(), x.cols),
         [&] { complete = f.factor().inverse(x, f.engine()); });
  require_complete(complete);
}

std::vector<double> inverse_diagonal(FactorUses& f, const nb::object& progress) {
  const std::int64_t n = f.factor().order();
  std::vector<double> diagonal;
  f.call(progress, products_of(f.factor(), n),
         [&] { diagonal = f.factor().inverse_diagonal(f.engine()); });
  require_complete(static_cast<std::int64_t>(diagonal.size()) == n);
  return diagonal;
}

double trace_inverse_product(FactorUses& f, const Matrix<const double>& s,
                             const nb::object& progress) {
  const MatrixView<const double> x = columns_of(s);
  double trace = 0;
  f.call(progress, products_of(f.factor(), f.factor().order()),
         [&] { trace = f.factor().trace_inverse_product(x, f.engine()); });
  return trace;
}

void copy_to(FactorUses& f, const Matrix<double>& l) {
  const MatrixView<double> to = columns_of(l);
  f.call(nb::none(), products_of(f.factor(), 1), [&] { f.factor().copy_to(to); });
}

/// A factor of its own, which can be changed.
class OwnFactor : public FactorUses {
 public:
  explicit OwnFactor(int threads) : FactorUses(own_, context(threads)) {}

  /// The outcome, the failing pivot or the place of an element that is not finite, and the jitter.
  nb::tuple compute(const Matrix<const double>& a, bool upper, double start, double factor,
                    int tries, const nb::object& progress) {
    const MatrixView<const double> matrix = columns_of(a);
    const auto n = static_cast<double>(matrix.rows);
    FactorOptions options;
    options.map = uniform(Rung::fp64);
    options.triangle = upper ? Triangle::upper : Triangle::lower;
    options.jitter = {start, factor, tries};
    options.engine = engine_;
    call(progress, n * n * n / 3, [&] { own_ = cholesky(matrix, options); });
    const FactorReport& r = own_.report();
    return nb::make_tuple(to_string(r.outcome), r.pivot, r.row, r.col, r.jitter);
  }

  /// L, or L' in the upper triangle, from another library.
  void adopt(const Matrix<const double>& l, bool upper) {
    const MatrixView<const double> from = columns_of(l);
    const auto n = static_cast<double>(from.rows);
    call(nb::none(), n * n,
         [&] { own_ = factor_from(from, upper ? Triangle::upper : Triangle::lower); });
  }
  void copy_triangle(const Matrix<double>& l, bool upper) {
    const MatrixView<double> to = columns_of(l);
    call(nb::none(), products_of(own_, 1),
         [&] { own_.copy_to(to, upper ? Triangle::upper : Triangle::lower); });
  }

  bool append(const Matrix<const double>& rows) {
    const MatrixView<const double> x = columns_of(rows);
    bool definite = false;
    call(nb::none(), products_of(own_, x.rows), [&] { definite = own_.append(x, engine_); });
    return definite;
  }
  void drop(const std::vector<std::int64_t>& rows) {
    call(nb::none(), products_of(own_, static_cast<std::int64_t>(rows.size())),
         [&] { own_.drop(rows, engine_); });
  }
  void update(const Matrix<const double>& v) {
    const MatrixView<const double> x = columns_of(v);
    call(nb::none(), products_of(own_, x.cols), [&] { own_.update(x, engine_); });
  }
  bool downdate(const Matrix<const double>& v) {
    const MatrixView<const double> x = columns_of(v);
    bool definite = false;
    call(nb::none(), products_of(own_, x.cols), [&] { definite = own_.downdate(x, engine_); });
    return definite;
  }

 private:
  Factor own_;
};

}  // namespace

void bind_factor(nb::module_& m) {
  m.def(
      "has_fast_factor", [](std::int64_t n) { return fp64_rung(n) != Rung::fp64; }, nb::arg("n"),
      "Whether a factor in FP64 of this order takes less time than LAPACK's.");
  nb::class_<FactorUses>(m, "FactorUses", "A Cholesky factor at FP64 quality.")
      .def_prop_ro("order", [](const FactorUses& f) { return f.factor().order(); })
      .def("log_det", [](const FactorUses& f) { return f.factor().log_det(); })
      .def("log_det_error", &log_det_error)
      .def("solve_unrefined", &solve_unrefined, nb::arg("b").noconvert())
      .def("half_solve", &half_solve, nb::arg("b").noconvert())
      .def("quadratic_forms", &quadratic_forms, nb::arg("b").noconvert())
      .def("multiply", &multiply, nb::arg("z").noconvert())
      .def("inverse", &inverse, nb::arg("out").noconvert(), nb::arg("progress").none())
      .def("inverse_diagonal", &inverse_diagonal, nb::arg("progress").none())
      .def("trace_inverse_product", &trace_inverse_product, nb::arg("s").noconvert(),
           nb::arg("progress").none())
      .def("copy_to", &copy_to, nb::arg("l").noconvert());
  nb::class_<OwnFactor, FactorUses>(m, "OwnFactor", "One that can be changed.")
      .def(nb::init<int>(), nb::arg("threads"))
      .def("compute", &OwnFactor::compute, nb::arg("a").noconvert(), nb::arg("upper"),
           nb::arg("start"), nb::arg("factor"), nb::arg("tries"), nb::arg("progress").none())
      .def("adopt", &OwnFactor::adopt, nb::arg("l").noconvert(), nb::arg("upper"))
      .def("copy_triangle", &OwnFactor::copy_triangle, nb::arg("l").noconvert(), nb::arg("upper"))
      .def("append", &OwnFactor::append, nb::arg("rows").noconvert())
      .def("drop", &OwnFactor::drop, nb::arg("rows"))
      .def("update", &OwnFactor::update, nb::arg("v").noconvert())
      .def("downdate", &OwnFactor::downdate, nb::arg("v").noconvert());
}

}  // namespace stepwell::python
