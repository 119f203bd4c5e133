// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attack/matrices/matrix.hpp"
#include "attack/report.hpp"
#include "stepwell/solve.hpp"

/// Each attack makes a system and options from a seed, calls the library and verifies the answer.
namespace stepwell::attack {

enum class Size : unsigned char { small, medium, large };

void attack_spd(std::uint64_t seed, Size size, Report& report);
void attack_general(std::uint64_t seed, Size size, Report& report);
void attack_least_squares(std::uint64_t seed, Size size, Report& report);
void attack_batch(std::uint64_t seed, Size size, Report& report);
void attack_reuse(std::uint64_t seed, Size size, Report& report);

/// A random order; orders at which the library switches algorithms are frequent.
std::int64_t random_order(Size size, Random& random);

/// A context with one worker, or sometimes two.
Context& random_context(Random& random);

/// Options of a solve, and their names for the report.
struct Choice {
  SolveOptions options;
  Structure structure = Structure::automatic;
  std::string name;
};
Choice random_choice(Structure structure, Random& random);
/// The structure that is passed for A: mostly the true one.
Structure random_structure(bool spd, Random& random);

/// A matrix inside padding that must not be touched; every element is NaN until it is assigned.
class Padded {
 public:
  Padded(std::int64_t rows, std::int64_t cols, std::int64_t padding);
  Padded(std::int64_t rows, std::int64_t cols, Random& random);
  MatrixView<double> view() { return {elements_.data() + kEdge, rows_, cols_, ld_}; }
  MatrixView<const double> view() const { return {elements_.data() + kEdge, rows_, cols_, ld_}; }
  /// Whether both are equal, bit by bit.
  bool same(const Padded& other) const;
  bool same_padding(const Padded& other) const;

 private:
  static constexpr std::int64_t kEdge = 8;
  std::int64_t rows_, cols_, ld_;
  std::vector<double> elements_;
};

/// Whether an outcome leaves x unchanged.
bool leaves_x_alone(SolveOutcome outcome);

/// Counts the outcome and its columns, and reports parts of the certificate that contradict each
/// other or the fact that the data are finite.
void judge_outcome(const Certificate& certificate, std::int64_t columns, Report& report);

/// A certificate of a square system, and everything needed to verify its claims.
struct SquareCase {
  const Matrix& a;
  bool transposed;
  MatrixView<const double> b;
  MatrixView<const double> x;
  const SolveOptions& options;
  const Certificate& certificate;
};
void judge_columns(const SquareCase& c, Report& report);

/// Reports a matrix that is called not positive definite although LAPACK's dpotrf factors it with
/// the same scaling.
void judge_definiteness(const Matrix& a, const SolveOptions& options,
                        const Certificate& certificate, Report& report);

/// Runs a call. An exception other than invalid_argument is a finding; returns false if there is no
/// answer.
template <class F>
bool survives(F&& call, Report& report);

}  // namespace stepwell::attack

#include <exception>

#include "stepwell/error.hpp"

template <class F>
bool stepwell::attack::survives(F&& call, Report& report) {
  try {
    call();
    return true;
  } catch (const Error& e) {
    if (e.code() == ErrorCode::invalid_argument) {
      report.count("refused");
      if (report.verbose()) report.say(std::string("refused: ") + e.what());
      return false;
    }
    report.found(Finding::exception, e.what());
  } catch (const std::exception& e) {
    report.found(Finding::exception, e.what());
  }
  return false;
}
