// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "attack/matrices/matrix.hpp"

namespace stepwell::attack {
namespace {

template <class F>
Matrix filled(std::int64_t m, std::int64_t n, F&& f) {
  Matrix a(m, n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < m; ++i) a(i, j) = f(i, j);
  }
  return a;
}

Matrix normals(std::int64_t m, std::int64_t n, Random& random) {
  return filled(m, n, [&](std::int64_t, std::int64_t) { return random.normal(); });
}

Matrix given_spectrum(std::int64_t m, std::int64_t n, Random& random) {
  Matrix a(m, n);
  const double condition = random.power_of_ten(0, 18);
  const int kind = static_cast<int>(random.integer(0, 4));
  for (std::int64_t j = 0; j < n; ++j) a(j, j) = spectrum(kind, j, n, condition, random);
  reflect(a, 3, Sides::left, random);
  reflect(a, 3, Sides::right, random);
  return a;
}

Matrix nearly_dependent(std::int64_t m, std::int64_t n, Random& random) {
  Matrix a = normals(m, n, random);
  const std::int64_t to = random.integer(0, n - 1), from = random.integer(0, n - 1);
  const double distance = random.chance(0.4) ? 0 : random.power_of_ten(-20, 0);
  if (to == from) return a;
  for (std::int64_t i = 0; i < m; ++i) a(i, to) = a(i, from) + distance * random.normal();
  return a;
}

/// Laeuchli's matrix: the normal equations lose the small elements.
Matrix laeuchli(std::int64_t m, std::int64_t n, Random& random) {
  const double small = random.power_of_ten(-12, 0);
  return filled(m, n, [&](std::int64_t i, std::int64_t j) {
    return i == 0 ? 1.0 : i == j + 1 ? small : 0.0;
  });
}

Matrix graded(std::int64_t m, std::int64_t n, bool by_rows, Random& random) {
  Matrix a = normals(m, n, random);
  const double most = random.chance(0.5) ? 10 : by_rows ? 100 : 140;
  std::vector<double> scale(by_rows ? m : n);
  for (double& s : scale) s = random.power_of_ten(-most, most);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < m; ++i) a(i, j) *= scale[by_rows ? i : j];
  }
  return a;
}

using Maker = Matrix (*)(std::int64_t m, std::int64_t n, Random& random);
struct Family {
  const char* name;
  Maker make;
};

constexpr Family kFamilies[] = {
    {"normals", normals},
    {"spectrum", given_spectrum},
    {"nearly-dependent", nearly_dependent},
    {"vandermonde",
     [](std::int64_t m, std::int64_t n, Random&) {
       return filled(m, n, [m](std::int64_t i, std::int64_t j) {
         return std::pow(static_cast<double>(i + 1) / static_cast<double>(m),
                         static_cast<double>(j));
       });
     }},
    {"laeuchli", laeuchli},
    {"zero-column",
     [](std::int64_t m, std::int64_t n, Random& random) {
       const std::int64_t zero = random.integer(0, n - 1);
       return filled(
           m, n, [&](std::int64_t, std::int64_t j) { return j == zero ? 0.0 : random.normal(); });
     }},
    {"graded-columns",
     [](std::int64_t m, std::int64_t n, Random& random) { return graded(m, n, false, random); }},
    {"graded-rows",
     [](std::int64_t m, std::int64_t n, Random& random) { return graded(m, n, true, random); }},
    {"nearly-ones",
     [](std::int64_t m, std::int64_t n, Random& random) {
       const double noise = random.chance(0.5) ? 1e-3 : 1e-12;
       return filled(m, n, [&](std::int64_t, std::int64_t) { return 1 + noise * random.normal(); });
     }},
};

}  // namespace

Named random_tall(std::int64_t m, std::int64_t n, Random& random) {
  const Family& family = random.one_of(kFamilies);
  Named named{family.make(m, n, random), family.name};
  if (!random.chance(0.3)) return named;
  // The whole matrix near an end of FP64's range.
  const int power = static_cast<int>(random.integer(-1060, 1000));
  for (double& x : named.a.data) {
    x = std::ldexp(x, power);
    if (!std::isfinite(x)) x = std::copysign(1e308, x);
  }
  named.name += " 2^" + std::to_string(power);
  return named;
}

}  // namespace stepwell::attack
