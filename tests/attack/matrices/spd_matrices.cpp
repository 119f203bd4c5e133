// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>

#include "attack/matrices/matrix.hpp"

namespace stepwell::attack {
namespace {

/// The symmetric matrix with a(i, j) = f(i, j) for i >= j.
template <class F>
Matrix symmetric(std::int64_t n, F&& f) {
  Matrix a(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i) a(i, j) = f(i, j);
  }
  copy_to_upper(a);
  return a;
}

/// B B' + shift I, with B of n x k elements.
template <class F>
Matrix gram(std::int64_t n, std::int64_t k, double shift, F&& element) {
  Matrix b(n, k);
  for (double& x : b.data) x = element();
  return symmetric(n, [&](std::int64_t i, std::int64_t j) {
    double sum = i == j ? shift : 0;
    for (std::int64_t l = 0; l < k; ++l) sum += b(i, l) * b(j, l);
    return sum;
  });
}

Matrix dominant(std::int64_t n, Random& random) {
  Matrix a = symmetric(
      n, [&](std::int64_t i, std::int64_t j) { return i == j ? 0 : random.between(-1, 1); });
  for (std::int64_t j = 0; j < n; ++j) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += std::abs(a(i, j));
    a(j, j) = sum * random.between(1, 2) + (sum == 0 ? 1 : 0);
  }
  return a;
}

/// 'indefinite': the last eigenvalue is slightly negative.
Matrix given_spectrum(std::int64_t n, bool indefinite, Random& random) {
  Matrix a(n, n);
  const double condition = random.power_of_ten(0, 17);
  const int kind = static_cast<int>(random.integer(0, 4));
  for (std::int64_t i = 0; i < n; ++i) a(i, i) = spectrum(kind, i, n, condition, random);
  if (indefinite) a(n - 1, n - 1) = -random.power_of_ten(-17, 0);
  reflect(a, n > 600 ? 1 : 3, Sides::both, random);
  copy_to_upper(a);
  return a;
}

/// R'R with Kahan's triangular matrix R: its diagonal says little about the condition of the
/// factor.
Matrix kahan(std::int64_t n, Random& random) {
  const double angle = random.between(0.1, 1.5);
  const double c = std::cos(angle), s = std::sin(angle);
  std::vector<double> q(n), below(n + 1);  // the squares of the row scales, and their sums
  for (std::int64_t k = 0; k < n; ++k) {
    q[k] = std::max(std::pow(s, 2.0 * static_cast<double>(k)), 1e-280);
    below[k + 1] = below[k] + q[k];
  }
  return symmetric(n, [&](std::int64_t i, std::int64_t j) {
    return c * c * below[j] + (i == j ? q[j] : -c * q[j]);
  });
}

/// Exponential covariance of points in a square, some of them twice.
Matrix covariance_with_twins(std::int64_t n, Random& random) {
  std::vector<double> x(n), y(n);
  for (std::int64_t i = 0; i < n; ++i) {
    x[i] = random.uniform();
    y[i] = random.uniform();
    if (i > 0 && random.chance(0.1)) {
      const std::int64_t twin = random.integer(0, i - 1);
      x[i] = x[twin];
      y[i] = y[twin];
    }
  }
  const double length = random.power_of_ten(-2, 0);
  const double nugget = random.chance(0.3) ? 0 : random.power_of_ten(-16, 0);
  return symmetric(n, [&](std::int64_t i, std::int64_t j) {
    return std::exp(-std::hypot(x[i] - x[j], y[i] - y[j]) / length) + (i == j ? nugget : 0);
  });
}

Matrix smooth_covariance(std::int64_t n, Random& random) {
  const double length = random.power_of_ten(-2, 0) * static_cast<double>(n);
  const double nugget = random.power_of_ten(-17, 0);
  return symmetric(n, [&](std::int64_t i, std::int64_t j) {
    const double d = static_cast<double>(i - j) / length;
    return std::exp(-d * d) + (i == j ? nugget : 0);
  });
}

/// Elements just above one, so that each partial sum of a row is rounded in the same direction.
Matrix biased(std::int64_t n, Random& random) {
  const int power = std::ilogb(static_cast<double>(n));
  const double low_bits =
      std::ldexp(random.between(0.3, 0.49), power - 52 - static_cast<int>(random.integer(0, 5)));
  const double diagonal = std::ldexp(1, static_cast<int>(random.integer(-2, power + 2)));
  return equal_off_diagonals(n, 1 + low_bits, 1 + low_bits + diagonal);
}

/// Compound symmetry, as in statistics.
Matrix compound(std::int64_t n, Random& random) {
  constexpr std::array off = {0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.9};
  constexpr std::array diagonal = {1.0, 3.0, 100.0, 1000.0};
  return equal_off_diagonals(n, random.one_of(off), random.one_of(diagonal));
}

Matrix nearly_ones(std::int64_t n, Random& random) {
  const double shift = random.power_of_ten(-17, 3) * static_cast<double>(n);
  const double element = random.chance(0.5) ? 1 : random.between(1, 2);
  return equal_off_diagonals(n, element, element + shift);
}

using Maker = Matrix (*)(std::int64_t n, Random& random);
struct Family {
  const char* name;
  Maker make;
};

constexpr Family kFamilies[] = {
    {"dominant", dominant},
    {"spectrum", [](std::int64_t n, Random& random) { return given_spectrum(n, false, random); }},
    {"slightly-indefinite",
     [](std::int64_t n, Random& random) { return given_spectrum(n, true, random); }},
    {"hilbert",
     [](std::int64_t n, Random& random) {
       const double shift = random.chance(0.5) ? 0 : random.power_of_ten(-16, 0);
       return symmetric(n, [&](std::int64_t i, std::int64_t j) {
         return 1 / static_cast<double>(i + j + 1) + (i == j ? shift : 0);
       });
     }},
    {"kahan", kahan},
    {"low-rank",
     [](std::int64_t n, Random& random) {
       const std::int64_t most = n > 300 ? 20 : std::max<std::int64_t>(1, n / 2);
       const double shift = random.power_of_ten(-18, 0) * static_cast<double>(n);
       return gram(n, random.integer(1, most), shift, [&] { return random.normal(); });
     }},
    {"covariance-with-twins", covariance_with_twins},
    {"minij",
     [](std::int64_t n, Random&) {
       return symmetric(n, [](std::int64_t, std::int64_t j) { return static_cast<double>(j + 1); });
     }},
    {"smooth-covariance", smooth_covariance},
    {"nearly-ones", nearly_ones},
    {"laplacian",
     [](std::int64_t n, Random&) {
       return symmetric(n, [](std::int64_t i, std::int64_t j) {
         return i == j ? 2.0 : i == j + 1 ? -1.0 : 0.0;
       });
     }},
    {"integers",
     [](std::int64_t n, Random& random) {
       const std::int64_t k = n > 300 ? 8 : n + random.integer(0, 3);
       return gram(n, k, n > 300 ? 1 : 0,
                   [&] { return static_cast<double>(random.integer(-3, 3)); });
     }},
    {"lehmer",
     [](std::int64_t n, Random&) {
       return symmetric(n, [](std::int64_t i, std::int64_t j) {
         return static_cast<double>(j + 1) / static_cast<double>(i + 1);
       });
     }},
    {"biased", biased},
    {"compound", compound},
    {"diagonal",
     [](std::int64_t n, Random& random) {
       return symmetric(n, [&](std::int64_t i, std::int64_t j) {
         return i == j ? random.power_of_ten(-20, 20) : 0.0;
       });
     }},
    {"wishart",
     [](std::int64_t n, Random& random) {
       return gram(n, n > 300 ? 16 : n, n > 300 ? 1e-3 : 0, [&] { return random.normal(); });
     }},
};

}  // namespace

Named random_spd(std::int64_t n, Random& random) {
  const Family& family = random.one_of(kFamilies);
  return {family.make(n, random), family.name};
}

}  // namespace stepwell::attack
