// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>

#include <nlohmann/json.hpp>
#include "bench/papers/paper.hpp"
#include "factor/cholesky/factor_data.hpp"
#include "gallery/gallery.hpp"
#include "io/matrix_file.hpp"
#include "refine/operators/symmetric_product.hpp"
#include "refine/preconditioner.hpp"
#include "refine/refine.hpp"
#include "solvers/analysis/scaled.hpp"
#include "stepwell/factor.hpp"

/// `bench paper`, part tables: Tables 6.2, 6.3 and 6.6 of Higham & Pranesh (2021), the published
/// values next to ours.
namespace stepwell::bench {
namespace {

using nlohmann::ordered_json;

constexpr int kNone = -1;

/// Values of the paper. A cell has iterations (refinement steps); -1: no convergence.
struct Published {
  int shift;
  std::array<std::array<int, 2>, 8> cell;  ///< GMRES and CG for each of the four triples
};

struct Matrix {
  const char* name;
  Published paper;
};

// clang-format off
const std::vector<Matrix> kMatrices = {
    //               c    half,single,double    half,double,quad        half,double,double      single,double,double
    {"Trefethen_300", {0, {{{0, 0}, {0, 0},     {4, 2}, {4, 2},         {3, 3}, {3, 3},         {1, 1}, {1, 1}}}}},
    {"mesh2e1",       {0, {{{2, 1}, {2, 1},     {6, 2}, {6, 2},         {6, 3}, {8, 4},         {2, 2}, {2, 2}}}}},
    {"mesh2em5",      {0, {{{2, 1}, {2, 1},     {6, 2}, {6, 2},         {6, 3}, {6, 3},         {1, 1}, {1, 1}}}}},
    {"plat362",       {2, {{{362, 1}, {362, 1}, {382, 2}, {kNone, 0},   {562, 3}, {kNone, 0},   {61, 2}, {38, 1}}}}},
    {"mhdb416",       {0, {{{0, 0}, {2, 1},     {3, 2}, {3, 1},         {3, 2}, {3, 2},         {0, 0}, {0, 0}}}}},
    {"bcsstk06",      {1, {{{0, 0}, {8, 1},     {25, 2}, {26, 2},       {38, 5}, {32, 4},       {2, 1}, {2, 1}}}}},
    {"bcsstk07",      {1, {{{0, 0}, {6, 1},     {34, 3}, {34, 3},       {39, 5}, {32, 4},       {2, 1}, {2, 1}}}}},
    {"bcsstm06",      {0, {{{0, 0}, {0, 0},     {1, 1}, {1, 1},         {1, 1}, {1, 1},         {1, 1}, {1, 1}}}}},
    {"bcsstm07",      {0, {{{0, 0}, {0, 0},     {4, 2}, {4, 2},         {4, 4}, {4, 4},         {1, 1}, {1, 1}}}}},
    {"nos5",          {0, {{{3, 1}, {4, 1},     {18, 3}, {19, 3},       {13, 4}, {16, 4},       {2, 2}, {2, 2}}}}},
    {"bcsstk20",      {2, {{{0, 0}, {0, 0},     {124, 2}, {71, 2},      {157, 3}, {105, 3},     {4, 1}, {6, 1}}}}},
    {"bcsstm20",      {0, {{{0, 0}, {0, 0},     {1, 1}, {1, 1},         {1, 1}, {1, 1},         {1, 1}, {1, 1}}}}},
    {"494_bus",       {1, {{{0, 0}, {0, 0},     {27, 2}, {20, 2},       {40, 4}, {32, 4},       {3, 2}, {2, 1}}}}},
    {"Trefethen_500", {0, {{{0, 0}, {0, 0},     {4, 2}, {4, 2},         {3, 3}, {3, 3},         {1, 1}, {1, 1}}}}},
};
// clang-format on

/// The paper's precisions (u_l, u, u_r).
struct Triple {
  const char* name;
  Rung low;
  bool single;  ///< u is single and u_r is double
  bool quad;    ///< u is double and u_r is quad
};

constexpr Triple kTriples[] = {{"half, single, double", Rung::fp16, true, false},
                               {"half, double, quad", Rung::fp16, false, true},
                               {"half, double, double", Rung::fp16, false, false},
                               {"single, double, double", Rung::fp32, false, false}};
constexpr double kPaperShift = 2;  // c

Factor factor_of(const io::DenseMatrix& a, Rung rung, double shift) {
  FactorOptions f;
  f.map = uniform(rung);
  f.tile = 32;  // so that most products are at the rung: inside a diagonal tile they are fp32
  f.cholesky.scaling = Scaling::unit_diagonal;
  f.cholesky.shift = shift;
  f.climb = false;
  return cholesky(a.view(), f);
}

/// The least integer c for which A + c u diag(A) has a factor.
int least_shift(const io::DenseMatrix& a, Rung rung) {
  for (int c = 0; c <= 100; ++c) {
    if (factor_of(a, rung, c).ok()) return c;
  }
  return kNone;
}

/// Normally distributed (Box & Muller), as in the paper.
std::vector<double> right_hand_side(std::int64_t n) {
  std::vector<double> b(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double u = 0.5 + 0.5 * gallery::noise(2 * i);
    const double v = gallery::noise(2 * i + 1);
    b[i] = std::sqrt(-2 * std::log(u + 0x1p-60)) * std::cos(std::numbers::pi * v);
  }
  return b;
}

/// Algorithm 4.1, starting from the solution with the factor alone. Returns [iterations, steps], or
/// null if it does not converge or there is no factor.
ordered_json refine_as_paper(const io::DenseMatrix& a, const Triple& t, double shift,
                             Refiner refiner) {
  const Factor factor = factor_of(a, t.low, shift);
  if (!factor.ok()) return nullptr;
  const std::int64_t n = a.rows;
  engine::ThreadPool pool(1);
  refine::SymmetricProduct product(pool, a.view());
  const factor::Diagonal diagonal = factor::read_diagonal(a.view());
  const factor::Scale scale = factor::scale_factors(diagonal, Scaling::powers_of_two);
  const solvers::Exponents exponents(scale.row, scale.col);
  refine::ScaledOperator op(product, scale.row, scale.col);
  refine::FactorPreconditioner m(pool, FactorData::of(factor), scale.row, scale.col,
                                 refine::Substitution::fp64);
  const std::vector<double> b0 = right_hand_side(n);
  core::Buffer<double> b(n), x(n), r(n), dummy(n);
  const solvers::ScaledColumn column(exponents, b0.data(), b.data());
  refine::MatrixScan found;
  product.apply({}, MatrixView<double>{dummy.data(), n, 0, n}, &found);
  m.apply(view<const double>(b.data(), n, 1), view(x.data(), n, 1));

  refine::Request q;
  q.refiner = refiner;
  q.norm = 0.5;  // the diagonal of a scaled matrix is at least that
  q.fp32 = t.single;
  q.sums = t.quad ? refine::Sums::double_double : refine::Sums::fp64;
  q.preconditioned = true;
  q.inner_tolerance = t.single ? 1e-2 : 1e-4;
  q.goal = static_cast<double>(n) * (t.single ? 0x1p-24 : 0x1p-53) / refine::kDone;  // (6.1)
  q.inner_iterations = q.restart = static_cast<int>(n);
  q.iterations = 100 * static_cast<int>(n);
  q.steps = 10;
  q.error_of = [&](std::int64_t, const double* res, const double* y, const double* d) {
    return solvers::backward_error(found.norm_inf,
                                   solvers::sizes_of(exponents, b.data(), y, res, d));
  };
  const refine::Outcome outcome = refine::refine(op, m, view<const double>(b.data(), n, 1),
                                                 view(x.data(), n, 1), view(r.data(), n, 1), q);
  const refine::System& s = outcome.system[0];
  if (s.status != refine::Status::done) return nullptr;
  return ordered_json::array({s.iterations, s.steps});
}

struct NamedRefiner {
  const char* name;
  Refiner refiner;
};
constexpr NamedRefiner kRefiners[] = {{"GMRES-IR", Refiner::ir_gmres}, {"CG-IR", Refiner::ir_cg}};
constexpr Rung kShiftRungs[] = {Rung::fp16, Rung::bf16, Rung::bf16x2, Rung::bf16x3, Rung::fp32};
constexpr Rung kOtherRungs[] = {Rung::bf16, Rung::fp16, Rung::bf16x2, Rung::bf16x3};

ordered_json row_of(const Matrix& matrix, const io::DenseMatrix& a) {
  ordered_json shifts = {{"paper", matrix.paper.shift}};
  for (const Rung r : kShiftRungs) shifts[std::string(to_string(r))] = least_shift(a, r);
  ordered_json iterations = ordered_json::array();
  for (std::size_t k = 0; k < std::size(kRefiners); ++k) {
    ordered_json row = {{"refiner", kRefiners[k].name}};
    for (std::size_t t = 0; t < std::size(kTriples); ++t) {
      const std::array<int, 2>& cell = matrix.paper.cell[2 * t + k];
      row[kTriples[t].name] = {
          {"paper", cell[0] == kNone ? ordered_json() : ordered_json(cell)},
          {"ours", refine_as_paper(a, kTriples[t], kPaperShift, kRefiners[k].refiner)}};
    }
    for (const Rung r : kOtherRungs) {
      const std::string name(to_string(r));
      row["rungs"][name] =
          refine_as_paper(a, {"", r, false, false}, shifts[name].get<int>(), kRefiners[k].refiner);
    }
    iterations.push_back(row);
  }
  return {{"matrix", matrix.name}, {"n", a.rows}, {"shift", shifts}, {"iterations", iterations}};
}

}  // namespace

double tables_cost(const PaperRun&) {
  return 10;
}

ordered_json paper_tables(const PaperRun& run) {
  ordered_json section = {{"figure", "Higham & Pranesh (2021), Tables 6.2, 6.3 and 6.6"},
                          {"cell", "[iterations, refinement steps]; null: no convergence"},
                          {"rows", ordered_json::array()}};
  add_suitesparse_rows(run, "tables", kMatrices, tables_cost(run), section, row_of);
  return section;
}

}  // namespace stepwell::bench
