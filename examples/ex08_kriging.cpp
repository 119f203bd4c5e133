// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Kriging with a duplicate station. The covariances have four digits, as in tables; two rows for
// nearly the same place are then inconsistent, and the matrix is not positive definite. The
// certificate names the row. There are two remedies, and both lead to an estimate: a measurement
// error for the readings (a nugget on the diagonal), or the removal of the station.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "stepwell/stepwell.hpp"

namespace {

struct Station {
  double x, y;
  double reading;
};

double field(double x, double y) {
  return std::cos(6 * x) + std::sin(7 * y) * x;
}

double distance(const Station& p, const Station& q) {
  return std::hypot(p.x - q.x, p.y - q.y);
}

/// Matern 3/2, to four digits.
double covariance(double d) {
  const double s = std::sqrt(3.0) * d / 0.1;
  return std::round((1 + s) * std::exp(-s) * 1e4) / 1e4;
}

/// The estimate at 'place' from the stations, if their covariances are positive definite.
stepwell::Certificate krige(const std::vector<Station>& stations, double nugget,
                            const Station& place, double& estimate) {
  const std::size_t size = stations.size();
  const auto n = static_cast<std::int64_t>(size);
  std::vector<double> k(size * size), b(size), weights(size);
  for (std::size_t j = 0; j < size; ++j) {
    b[j] = covariance(distance(stations[j], place));
    for (std::size_t i = j; i < size; ++i) {
      k[i + j * size] = covariance(distance(stations[i], stations[j])) + (i == j ? nugget : 0);
    }
  }
  stepwell::Certificate c =
      stepwell::solve_spd(stepwell::view(k.data(), n, n), stepwell::view(b.data(), n, 1),
                          stepwell::view(weights.data(), n, 1));
  estimate = 0;
  for (std::size_t i = 0; c.ok() && i < size; ++i) estimate += weights[i] * stations[i].reading;
  return c;
}

void print(const char* what, const stepwell::Certificate& c, double estimate, double truth) {
  std::printf("%-16s %s", what, to_string(c.outcome));
  if (c.ok()) {
    std::printf(", %s, %d iterations: %.4f (truth %.4f)", map_text(c.method).c_str(), c.iterations,
                estimate, truth);
  }
  std::printf("\n");
}

}  // namespace

int main() {
  std::vector<Station> stations;  // on a grid, each displaced a little
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> nudge(-0.008, 0.008);
  for (int row = 0; row < 32; ++row) {
    for (int col = 0; col < 32; ++col) {
      Station s{(col + 0.5) / 32 + nudge(random), (row + 0.5) / 32 + nudge(random), 0};
      s.reading = field(s.x, s.y);
      stations.push_back(s);
    }
  }
  const std::size_t first = 333, twice = 700;  // one station whose position was measured twice
  Station again = stations[first];
  again.x += 3e-4;
  again.y -= 4e-4;
  stations.insert(stations.begin() + static_cast<std::ptrdiff_t>(twice), again);
  const Station place{0.4321, 0.5678, 0};
  const double truth = field(place.x, place.y);

  double estimate = 0;
  stepwell::Certificate c = krige(stations, 0, place, estimate);
  print("all stations:", c, estimate, truth);
  //---- begin row
  if (c.outcome != stepwell::SolveOutcome::not_positive_definite) return 1;
  std::printf("  %s\n", c.reason.c_str());
  const auto bad = static_cast<std::size_t>(c.pivot);
  //---- end row
  std::size_t nearest = bad == 0 ? 1 : 0;
  for (std::size_t i = 0; i < stations.size(); ++i) {
    if (i == bad) continue;
    if (distance(stations[i], stations[bad]) < distance(stations[nearest], stations[bad])) {
      nearest = i;
    }
  }
  std::printf("  station %zu lies %.1e from station %zu\n", bad,
              distance(stations[bad], stations[nearest]), nearest);

  c = krige(stations, 1e-2, place, estimate);
  print("with a nugget:", c, estimate, truth);
  bool good = c.ok() && std::fabs(estimate - truth) <= 0.01;

  stations.erase(stations.begin() + static_cast<std::ptrdiff_t>(bad));
  c = krige(stations, 0, place, estimate);
  print("one removed:", c, estimate, truth);
  good = good && c.ok() && std::fabs(estimate - truth) <= 0.01;
  return good && bad == twice && nearest == first ? 0 : 1;
}
