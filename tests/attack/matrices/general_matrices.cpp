// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "attack/matrices/matrix.hpp"

namespace stepwell::attack {
namespace {

template <class F>
Matrix filled(std::int64_t n, F&& f) {
  Matrix a(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) a(i, j) = f(i, j);
  }
  return a;
}

Matrix normals(std::int64_t n, Random& random) {
  return filled(n, [&](std::int64_t, std::int64_t) { return random.normal(); });
}

/// Wilkinson's matrix: with partial pivoting its elements grow to 2^(n-1).
Matrix largest_growth(std::int64_t n, double noise, Random& random) {
  return filled(n, [&](std::int64_t i, std::int64_t j) {
    const double element = i == j || j == n - 1 ? 1 : i > j ? -1 : 0;
    return noise == 0 ? element : element + noise * random.normal();
  });
}

Matrix kahan(std::int64_t n, Random& random) {
  const double angle = random.between(0.1, 1.5);
  const double c = std::cos(angle), s = std::sin(angle);
  return filled(n, [&](std::int64_t i, std::int64_t j) {
    const double scale = std::max(std::pow(s, static_cast<double>(i)), 1e-250);
    return i == j ? scale : i < j ? -c * scale : 0;
  });
}

Matrix given_spectrum(std::int64_t n, Random& random) {
  Matrix a(n, n);
  const double condition = random.power_of_ten(0, 17);
  const int kind = static_cast<int>(random.integer(0, 4));
  for (std::int64_t i = 0; i < n; ++i) a(i, i) = spectrum(kind, i, n, condition, random);
  reflect(a, n > 600 ? 1 : 3, Sides::left, random);
  reflect(a, n > 600 ? 1 : 3, Sides::right, random);
  return a;
}

/// One column is nearly, or exactly, equal to another.
Matrix nearly_singular(std::int64_t n, Random& random) {
  Matrix a = normals(n, random);
  const std::int64_t to = random.integer(0, n - 1), from = random.integer(0, n - 1);
  const double distance = random.chance(0.2) ? 0 : random.power_of_ten(-20, 0);
  if (to == from) return a;
  for (std::int64_t i = 0; i < n; ++i) a(i, to) = a(i, from) + distance * random.normal();
  return a;
}

Matrix nearly_rank_one(std::int64_t n, Random& random) {
  const double shift = random.power_of_ten(-18, 0) * static_cast<double>(n);
  std::vector<double> u(n), v(n);
  for (std::int64_t i = 0; i < n; ++i) {
    u[i] = random.normal();
    v[i] = random.normal();
  }
  return filled(n,
                [&](std::int64_t i, std::int64_t j) { return u[i] * v[j] + (i == j ? shift : 0); });
}

Matrix permutation(std::int64_t n, Random& random) {
  std::vector<std::int64_t> row(n);
  std::iota(row.begin(), row.end(), 0);
  for (std::int64_t i = n - 1; i > 0; --i) std::swap(row[i], row[random.integer(0, i)]);
  Matrix a(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    a(row[j], j) = std::ldexp(1, static_cast<int>(random.integer(-30, 30)));
  }
  return a;
}

Matrix orthogonal(std::int64_t n, Random& random) {
  Matrix a = filled(n, [](std::int64_t i, std::int64_t j) { return i == j ? 1.0 : 0.0; });
  reflect(a, n > 600 ? 1 : 3, Sides::left, random);
  return a;
}

/// Like biased() of spd_matrices.cpp, but the lower triangle is negated, zero or unchanged.
Matrix biased(std::int64_t n, Random& random) {
  const int power = std::ilogb(static_cast<double>(n));
  const double element = 1 + std::ldexp(random.between(0.3, 0.49),
                                        power - 52 - static_cast<int>(random.integer(0, 5)));
  const double diagonal = std::ldexp(1, static_cast<int>(random.integer(-2, power + 2)));
  Matrix a = equal_off_diagonals(n, element, element + diagonal);
  if (random.chance(0.5)) return a;
  const double sign = random.chance(0.5) ? -1 : 0;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j + 1; i < n; ++i) a(i, j) *= sign;
  }
  return a;
}

using Maker = Matrix (*)(std::int64_t n, Random& random);
struct Family {
  const char* name;
  Maker make;
};

constexpr Family kFamilies[] = {
    {"normals", normals},
    {"largest-growth", [](std::int64_t n, Random& random) { return largest_growth(n, 0, random); }},
    {"growth-with-noise",
     [](std::int64_t n, Random& random) { return largest_growth(n, 1e-8, random); }},
    {"kahan", kahan},
    {"triangle-of-minus-ones",
     [](std::int64_t n, Random&) {
       return filled(n, [](std::int64_t i, std::int64_t j) {
         return i == j ? 1.0 : i < j ? -1.0 : 0.0;
       });
     }},
    {"hilbert",
     [](std::int64_t n, Random&) {
       return filled(
           n, [](std::int64_t i, std::int64_t j) { return 1 / static_cast<double>(i + j + 1); });
     }},
    {"spectrum", given_spectrum},
    {"frank",
     [](std::int64_t n, Random&) {
       return filled(n, [n](std::int64_t i, std::int64_t j) {
         return i <= j + 1 ? static_cast<double>(n - std::max(i, j)) : 0.0;
       });
     }},
    {"nearly-singular", nearly_singular},
    {"nearly-rank-one", nearly_rank_one},
    {"hadamard",
     [](std::int64_t n, Random&) {
       return filled(n, [](std::int64_t i, std::int64_t j) {
         return std::popcount(static_cast<std::uint64_t>(i & j)) % 2 == 1 ? -1.0 : 1.0;
       });
     }},
    {"vandermonde",
     [](std::int64_t n, Random&) {
       return filled(n, [n](std::int64_t i, std::int64_t j) {
         return std::pow(static_cast<double>(i + 1) / static_cast<double>(n),
                         static_cast<double>(j));
       });
     }},
    {"orthogonal", orthogonal},
    {"biased", biased},
    {"hessenberg",
     [](std::int64_t n, Random& random) {
       return filled(
           n, [&](std::int64_t i, std::int64_t j) { return i <= j + 1 ? random.normal() : 0.0; });
     }},
    {"permutation", permutation},
    {"zero-block",
     [](std::int64_t n, Random& random) {
       return filled(n, [&](std::int64_t i, std::int64_t j) {
         return i < n / 2 && j < n / 2 ? 0.0 : random.normal();
       });
     }},
    {"dominant",
     [](std::int64_t n, Random& random) {
       return filled(n, [&](std::int64_t i, std::int64_t j) {
         return i == j ? static_cast<double>(n) * random.between(0.5, 1.5) : random.between(-1, 1);
       });
     }},
};

}  // namespace

Named random_general(std::int64_t n, Random& random) {
  const Family& family = random.one_of(kFamilies);
  return {family.make(n, random), family.name};
}

}  // namespace stepwell::attack
