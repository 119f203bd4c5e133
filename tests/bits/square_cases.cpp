// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bits/cases.hpp"
#include "stepwell/level3.hpp"
#include "stepwell/lu.hpp"
#include "stepwell/solve.hpp"

namespace stepwell::bits {
namespace {

/// One solve: a name, the structure of A, its matrix and the options.
struct Square {
  std::string name;
  Structure structure;
  Matrix (*matrix)(std::int64_t n);
  std::int64_t n;
  std::int64_t columns = 1;
  SolveOptions options = {};
};

Matrix dominant(std::int64_t n) {
  Matrix a = noise(n, n, 1);
  for (std::int64_t j = 0; j < n; ++j) {
    a(j, j) = static_cast<double>(n);
    for (std::int64_t i = j + 1; i < n; ++i) a(j, i) = a(i, j);
  }
  return a;
}

/// Not positive definite from row 250 on.
Matrix indefinite(std::int64_t n) {
  Matrix a = random_walk(n);
  a(250, 250) = 1;
  return a;
}

/// The last column is the sum of the first two.
Matrix singular(std::int64_t n) {
  Matrix a = noise(n, n, 5);
  for (std::int64_t i = 0; i < n; ++i) {
    a(i, 0) = static_cast<double>(i % 3);
    a(i, 1) = static_cast<double>(i % 5);
    a(i, n - 1) = a(i, 0) + a(i, 1);
  }
  return a;
}

void add_square(std::vector<Case>& cases, const Square& s) {
  cases.push_back({s.name, [s](Context& context, Digest& digest) {
                     const Matrix a = s.matrix(s.n), b = noise(s.n, s.columns, 3);
                     Matrix x(s.n, s.columns);
                     SolveOptions options = s.options;
                     options.engine.context = &context;
                     digest.add(solve(a.view(), b.view(), x.view(), options, s.structure));
                     digest.add(x.data);
                   }});
}

std::string joined(const char* system, Rung rung, Refiner refiner) {
  return std::string(system) + " " + std::string(to_string(rung)) + " " +
         std::string(to_string(refiner));
}

SolveOptions with(void (*set)(SolveOptions&)) {
  SolveOptions options;
  set(options);
  return options;
}

}  // namespace

void add_spd_cases(std::vector<Case>& cases) {
  constexpr auto kSpd = Structure::spd;
  for (const Rung rung : mixable_rungs) {
    for (const Refiner refiner : all_refiners) {
      SolveOptions o;
      o.map = uniform(rung);
      o.refine.refiner = refiner;
      o.tile = 128;
      add_square(cases, {joined("spd", rung, refiner), kSpd, random_walk, 300, 2, o});
    }
  }
  for (const std::int64_t n : {5, 40, 150, 300, 700, 1100}) {
    add_square(cases, {"spd auto " + std::to_string(n), kSpd, random_walk, n});
  }
  add_square(cases, {"spd dominant", kSpd, dominant, 600});
  add_square(cases, {"spd columns", kSpd, random_walk, 400, 9});
  add_square(cases, {"spd indefinite", kSpd, indefinite, 400});
  for (const char* map : {"bf16,bf16x2,fp32", "graded:bf16x3*1,bf16", "adaptive:1e-6"}) {
    SolveOptions o;
    o.map = parse_map(map);
    o.tile = 64;
    add_square(cases, {std::string("spd ") + map, kSpd, random_walk, 350, 1, o});
  }
  add_square(cases, {"spd upper", kSpd, random_walk, 350, 1,
                     with([](SolveOptions& o) { o.triangle = Triangle::upper; })});
  add_square(cases, {"spd exact residual", kSpd, random_walk, 600, 2,
                     with([](SolveOptions& o) { o.refine.exact_residual = true; })});
  add_square(cases, {"spd proof", kSpd, random_walk, 600, 2,
                     with([](SolveOptions& o) { o.prove = o.condition = true; })});
  add_square(cases, {"spd fp32", kSpd, random_walk, 600, 1, with([](SolveOptions& o) {
                       o.refine.working = Format::fp32;
                       o.tolerance = 1e-5;
                     })});
  add_square(cases, {"spd no climb", kSpd, random_walk, 900, 1, with([](SolveOptions& o) {
                       o.climb = false;
                       o.map = uniform(Rung::bf16);
                       o.refine.iterations = 7;
                     })});
  add_square(cases, {"spd fp16 scaled", kSpd, random_walk, 400, 1, with([](SolveOptions& o) {
                       o.map = uniform(Rung::fp16);
                       o.cholesky.scaling = Scaling::unit_diagonal;
                       o.theta = 0.25;
                       o.cholesky.shift = 2;
                     })});
}

void add_general_cases(std::vector<Case>& cases) {
  constexpr auto kGeneral = Structure::general;
  for (const Rung rung : mixable_rungs) {
    for (const Refiner refiner : all_refiners) {
      if (refiner == Refiner::cg || refiner == Refiner::ir_cg) continue;
      SolveOptions o;
      o.map = uniform(rung);
      o.refine.refiner = refiner;
      o.tile = 128;
      add_square(cases, {joined("general", rung, refiner), kGeneral, mixed, 300, 2, o});
    }
  }
  for (const std::int64_t n : {5, 40, 150, 300, 700, 1100}) {
    add_square(cases, {"general auto " + std::to_string(n), kGeneral, mixed, n});
  }
  add_square(cases, {"automatic spd", Structure::automatic, random_walk, 400});
  add_square(cases, {"automatic indefinite", Structure::automatic, indefinite, 400});
  add_square(cases, {"automatic general", Structure::automatic, mixed, 400});
  add_square(cases, {"general columns", kGeneral, mixed, 400, 9});
  add_square(cases, {"general singular", kGeneral, singular, 300});
  add_square(cases, {"general transposed", kGeneral, mixed, 400, 2,
                     with([](SolveOptions& o) { o.transposed = true; })});
  add_square(cases, {"general butterfly", kGeneral, mixed, 400, 1, with([](SolveOptions& o) {
                       o.map = uniform(Rung::bf16x3);
                       o.lu.pivoting = Pivoting::butterfly;
                     })});
  add_square(cases, {"general proof", kGeneral, mixed, 600, 2,
                     with([](SolveOptions& o) { o.prove = o.condition = true; })});
}

/// The factors themselves, and products with them.
void add_factor_cases(std::vector<Case>& cases) {
  // Exact sums: these lines are the same in all sections of the manifest.
  for (const char* map : {"int8x14", "int8x15"}) {
    cases.push_back({std::string("cholesky ") + map, [map](Context& context, Digest& digest) {
                       FactorOptions options;
                       options.map = parse_map(map);
                       options.tile = 96;
                       options.engine.context = &context;
                       const Matrix a = dominant(333);
                       Matrix l(333, 333);
                       const Factor factor = cholesky(a.view(), options);
                       factor.copy_to(l.view());
                       digest.add(l.data);
                     }});
  }
  for (const Rung rung : mixable_rungs) {
    FactorOptions o;
    o.map = uniform(rung);
    o.tile = 96;
    const std::string name(to_string(rung));
    cases.push_back({"cholesky " + name, [o](Context& context, Digest& digest) {
                       FactorOptions options = o;
                       options.engine.context = &context;
                       const Matrix a = dominant(333);
                       Matrix l(333, 333), b = noise(40, 333, 4);
                       const Factor factor = cholesky(a.view(), options);
                       factor.copy_to(l.view());
                       Level3Options product;
                       product.engine.context = &context;
                       (void)trsm(factor, b.view(), product);
                       digest.add(factor.report());
                       digest.add(l.data);
                       digest.add(b.data);
                     }});
    cases.push_back({"lu " + name, [o](Context& context, Digest& digest) {
                       FactorOptions options = o;
                       options.engine.context = &context;
                       const Matrix a = mixed(333);
                       Matrix g(333, 333), l(333, 333);
                       const LuFactor factor = lu(a.view(), options);
                       factor.copy_to(g.view(), l.view());
                       digest.add(factor.report());
                       digest.add(factor.permutation());
                       digest.add(g.data);
                       digest.add(l.data);
                     }});
    cases.push_back({"syrk " + name, [o](Context& context, Digest& digest) {
                       const Matrix a = noise(200, 70, 6);
                       Matrix c = dominant(200);
                       Level3Options product;
                       product.map = o.map;
                       product.tile = 96;
                       product.engine.context = &context;
                       (void)syrk(-0.5, a.view(), 2, c.view(), product);
                       digest.add(c.data);
                     }});
  }
}

}  // namespace stepwell::bits
