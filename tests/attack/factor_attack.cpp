// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "attack/factor_attacks.hpp"
#include "attack/oracle/exact_factor.hpp"
#include "kernels/blas/lapack.hpp"
#include "tiles/residue_factor.hpp"

/// Factors with exact sums (int8x14, int8x15), compared with dpotrf and 113-bit arithmetic:
///
///   factor_attack --kind indefinite   the failing pivot of matrices that are not positive definite
///   factor_attack --kind accuracy     the residual of L L' and, up to kMostExact, the determinant;
///                                     --order 4096: of matrices of this order
///   factor_attack --kind determinant  log_det() within log_det_error(), by either arithmetic
///   factor_attack --kind changes      sequences of append, drop, update and downdate
///   factor_attack --kind flips        a changed bit in a residue or a sum, anywhere, at any time
namespace stepwell::attack {

FactorOptions random_options(const char* map, Random& random) {
  constexpr std::int64_t kTiles[] = {32, 64, 96, 128, 192};
  FactorOptions options;
  options.map = parse_map(map);
  options.tile = random.one_of(kTiles);
  options.engine.context = &random_context(random);
  return options;
}

namespace {

constexpr double kU = 0x1p-53;

/// Orders up to which a factorization with 113 bits takes seconds.
constexpr std::int64_t kMostExact = 1000;

/// Elements of the residual that are computed of a larger matrix.
constexpr std::int64_t kSample = 20000;

/// Makes a positive definite matrix indefinite, or nearly so.
void spoil(Matrix& a, Random& random) {
  const std::int64_t n = a.rows;
  const auto cut = [&](std::int64_t i, double factor) { a(i, i) *= factor; };
  switch (random.integer(0, 4)) {
    case 0:
      for (std::int64_t cuts = random.integer(1, 3); cuts > 0; --cuts) {
        cut(random.integer(0, n - 1), random.chance(0.3) ? random.uniform() : 0.9999);
      }
      break;
    case 1: {  // eigenvalues down to a tiny negative one
      const double part = random.power_of_ten(-15, 0);
      for (std::int64_t i = 0; i < n; ++i) cut(i, 1 - part);
      break;
    }
    case 2: {  // minus a matrix of rank one
      std::vector<double> v(static_cast<std::size_t>(n));
      for (double& x : v) x = random.normal();
      const double part = random.power_of_ten(-13, 1) / static_cast<double>(n);
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = 0; i < n; ++i) {
          const double size = std::sqrt(a(i, i)) * std::sqrt(a(j, j));
          a(i, j) -= part * v[static_cast<std::size_t>(i)] * v[static_cast<std::size_t>(j)] * size;
        }
      }
      break;
    }
    case 3: {  // a pair of rows that are more than parallel
      const std::int64_t i = random.integer(0, n - 1), j = random.integer(0, n - 1);
      if (i == j) break;
      const double size = std::sqrt(a(i, i)) * std::sqrt(a(j, j));
      a(i, j) = a(j, i) = random.sign() * size * (1 + random.power_of_ten(-12, 3));
      break;
    }
    default:
      cut(random.integer(0, n - 1), random.chance(0.5) ? -random.power_of_ten(-20, 3) : 0);
  }
}

void attack_indefinite(std::uint64_t seed, Report& report) {
  Random random(seed, "indefinite");
  const std::int64_t n = random.integer(2, random.chance(0.2) ? 260 : 130);
  Named named = random_spd(n, random);
  spoil(named.a, random);
  for (std::int64_t i = 0; i < n; ++i) {
    if (!std::isfinite(named.a(i, i))) return;
  }
  const ExactFactor exact = exact_factor(named.a);
  const FactorOptions options = random_options("int8x14", random);
  report.describe(text("%s, n = %lld, tile %lld", named.name.c_str(), static_cast<long long>(n),
                       static_cast<long long>(options.tile)));
  const Factor factor = cholesky(named.a.view(), options);
  if (factor.report().outcome == FactorOutcome::non_finite) return;
  const std::int64_t ours = factor.report().attempts.front().pivot;
  Matrix l = named.a;
  const std::int64_t lapacks = kernels::potrf(view(l.data.data(), n, n));
  report.count(exact.info < 0 ? "definite" : "indefinite");
  if (!(exact.margin > 10 * kU)) {
    report.count(ours == lapacks ? "undecided, as dpotrf" : "undecided, unlike dpotrf");
    return;
  }
  report.count(ours == lapacks ? "decided, as dpotrf" : "decided, unlike dpotrf");
  if (ours == exact.info) return;
  report.found(Finding::info, text("pivot %lld failed, exactly %lld, dpotrf's %lld; margin %.3g u",
                                   static_cast<long long>(ours), static_cast<long long>(exact.info),
                                   static_cast<long long>(lapacks), exact.margin / kU));
}

/// max |A - L L'|_ij / sqrt(a_ii a_jj), in units of u: of all elements, or of some that depend on
/// the order alone.
double residual_of(const Matrix& a, const std::vector<double>& l) {
  const std::int64_t n = a.rows;
  double worst = 0;
  const auto add = [&](std::int64_t i, std::int64_t j) {
    Quad sum = a(i, j);
    for (std::int64_t k = 0; k <= j; ++k) {
      sum -= Quad(l[static_cast<std::size_t>(k * n + i)]) * l[static_cast<std::size_t>(k * n + j)];
    }
    const double size = std::sqrt(a(i, i)) * std::sqrt(a(j, j));
    const double error = std::abs(static_cast<double>(sum)) / size;
    if (!(error <= worst)) worst = error;
  };
  if (n > kMostExact) {
    Random random(static_cast<std::uint64_t>(n), "sample");
    for (std::int64_t e = 0; e < kSample; ++e) {
      const std::int64_t i = random.integer(0, n - 1);
      add(i, random.chance(0.1) ? i : random.integer(0, i));
    }
    return worst / kU;
  }
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i) add(i, j);
  }
  return worst / kU;
}

long double log_det_of(const std::vector<double>& l, std::int64_t n) {
  long double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    sum += 2 * std::log(static_cast<long double>(l[static_cast<std::size_t>(i * n + i)]));
  }
  return sum;
}

void attack_accuracy(std::uint64_t seed, std::int64_t order, Report& report) {
  Random random(seed, "accuracy");
  const std::int64_t n = order > 0 ? order : random.integer(100, 260);
  const Named named = random_spd(n, random);
  std::vector<double> lapacks = named.a.data;
  const FactorOptions options = random_options("int8x14", random);
  report.describe(text("%s, n = %lld", named.name.c_str(), static_cast<long long>(n)));
  const Factor factor = cholesky(named.a.view(), options);
  if (kernels::potrf(view(lapacks.data(), n, n)) >= 0 || !factor.ok()) {
    report.count("not positive definite in FP64");
    return;
  }
  std::vector<double> ours(lapacks.size());
  factor.copy_to(view(ours.data(), n, n));
  const double e = residual_of(named.a, ours), f = residual_of(named.a, lapacks);
  report.count(e <= f ? "residual at most dpotrf's" : "residual above dpotrf's");
  if (e > 4 && e > 1.5 * f) {
    report.found(Finding::inaccurate, text("residual %.3g u, dpotrf's %.3g u", e, f));
  }
  if (report.verbose()) {
    report.say(
        text("%s n %lld residual %.3g %.3g", named.name.c_str(), static_cast<long long>(n), e, f));
  }
  if (n > kMostExact) return;
  const ExactFactor exact = exact_factor(named.a);
  if (exact.info >= 0) return;
  // Half an ulp of the result is nobody's fault.
  const auto least = static_cast<double>(std::abs(exact.log_det)) * kU;
  const auto error_of = [&](long double log_det) {
    return std::max(least, static_cast<double>(std::abs(log_det - exact.log_det)));
  };
  const double d = error_of(factor.log_det()), p = error_of(log_det_of(lapacks, n));
  report.count(d <= 0.1 * p ? "determinant ten times better"
               : d <= p     ? "determinant as good or better"
               : d <= 2 * p ? "determinant up to twice dpotrf's error"
                            : "determinant worse");
  if (report.verbose()) report.say(text("  log det %.3g %.3g", d, p));
}

/// The counts say how far the bound is from the error, for its median.
void attack_determinant(std::uint64_t seed, std::int64_t order, Report& report) {
  Random random(seed, "determinant");
  const std::int64_t n = order > 0 ? order : random.integer(2, 260);
  const Named named = random_spd(n, random);
  const char* const map = random.chance(0.5) ? "int8x14" : "fp64";
  report.describe(text("%s, n = %lld, %s", named.name.c_str(), static_cast<long long>(n), map));
  const Factor factor = cholesky(named.a.view(), random_options(map, random));
  const ExactFactor exact = exact_factor(named.a);
  if (!factor.ok() || exact.info >= 0) return report.count("not positive definite");
  const auto error =
      static_cast<double>(std::abs(static_cast<long double>(factor.log_det()) - exact.log_det));
  const double bound = factor.log_det_error();
  if (!(error <= bound))
    report.found(Finding::inaccurate, text("error %.3g, bound %.3g", error, bound));
  const char* const reach = std::isinf(bound)      ? "infinite"
                            : bound <= 10 * error  ? "up to 10 times the error"
                            : bound <= 30 * error  ? "up to 30 times the error"
                            : bound <= 100 * error ? "up to 100 times the error"
                                                   : "above 100 times the error";
  report.count(text("%s: bound %s", map, reach));
  if (report.verbose()) {
    report.say(text("%s n %lld %s error %.3g bound %.3g", named.name.c_str(),
                    static_cast<long long>(n), map, error, bound));
  }
}

/// One factorization with one changed bit, verified against the one without.
void attack_flips(std::uint64_t seed, Report& report) {
  Random random(seed, "flips");
  const kernels::Table& t = kernels::table();
  const std::int64_t tile = 64, n = 150;
  static const tiles::test::Problem p = [] {
    Random values(1, "flips");
    tiles::test::Problem made{n, std::vector<double>(static_cast<std::size_t>(n * n))};
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = j; i < n; ++i) {
        const double x = i == j ? 2 : values.normal() / (2 * std::sqrt(static_cast<double>(n)));
        made.at(i, j) = made.at(j, i) = x;
      }
    }
    tiles::test::scale(made);
    return made;
  }();
  static const tiles::test::Factored right =
      tiles::test::factor(kernels::table(), p, tile, kernels::kVerifiedPlanes);
  const std::int64_t moment = random.integer(0, 11), place = random.integer(0, 3);
  std::int64_t calls = 0;
  bool flipped = false;
  const tiles::test::Factored f =
      tiles::test::factor(t, p, tile, kernels::kVerifiedPlanes, [&](const tiles::test::Live& live) {
        if (calls++ != moment) return;
        const std::span<std::int8_t> places[] = {live.tile, live.row, live.diagonal,
                                                 live.sums_bytes};
        const std::span<std::int8_t> memory = places[place];
        if (memory.empty()) return;
        const auto byte = static_cast<std::size_t>(
            random.integer(0, static_cast<std::int64_t>(memory.size()) - 1));
        memory[byte] = static_cast<std::int8_t>(memory[byte] ^ (1 << random.integer(0, 7)));
        flipped = true;
      });
  const bool same = f.info == right.info && f.l == right.l;
  if (!flipped) {
    report.count("no flip");
    if (f.wrong > 0 || !same) report.found(Finding::false_alarm, "nothing was changed");
    return;
  }
  report.count("flips");
  if (f.wrong > 0) return report.count("found");
  if (same) return report.count("harmless");
  report.found(Finding::missed, text("place %lld before tile %lld", static_cast<long long>(place),
                                     static_cast<long long>(moment)));
}

Attack attack(const Request& request, std::uint64_t seed) {
  const std::string& kind = request.others.at("--kind");
  const std::int64_t order = std::stoll(request.others.at("--order"));
  const std::string repeat = "--kind " + kind + " --order " + std::to_string(order);
  if (kind == "indefinite") return {repeat, [=](Report& r) { attack_indefinite(seed, r); }};
  if (kind == "flips") return {repeat, [=](Report& r) { attack_flips(seed, r); }};
  if (kind == "changes") return {repeat, [=](Report& r) { attack_changes(seed, r); }};
  if (kind == "determinant")
    return {repeat, [=](Report& r) { attack_determinant(seed, order, r); }};
  if (kind != "accuracy") throw std::invalid_argument("--kind " + kind);
  return {repeat, [=](Report& r) { attack_accuracy(seed, order, r); }};
}

}  // namespace
}  // namespace stepwell::attack

int main(int argc, char** argv) {
  using namespace stepwell::attack;
  return attack_seeds("factor_attack", argc, argv, {{"--kind", "indefinite"}, {"--order", "0"}},
                      600, attack);
}
