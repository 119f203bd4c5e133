// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attack/matrices/matrix.hpp"
#include "attack/report.hpp"
#include "stepwell/solve.hpp"

/// Each takes a seed, makes a system and options from it, calls the library and judges the answer.
namespace stepwell::attack {

enum class Size : unsigned char { small, medium, large };

void attack_spd(std::uint64_t seed, Size size, Report& report);
void attack_general(std::uint64_t seed, Size size, Report& report);
void attack_least_squares(std::uint64_t seed, Size size, Report& report);
void attack_batch(std::uint64_t seed, Size size, Report& report);
void attack_reuse(std::uint64_t seed, Size size, Report& report);

/// An order; those where the library changes its ways are frequent.
std::int64_t random_order(Size size, Random& random);

/// One worker, or sometimes two.
Context& random_context(Random& random);

/// Options of a solve, and their names for the report.
struct Choice {
  SolveOptions options;
  Structure structure = Structure::automatic;
  std::string name;
};
Choice random_choice(Structure structure, Random& random);
/// What A is taken for: mostly what it is.
Structure random_structure(bool spd, Random& random);

/// Numbers in the middle of padding that nobody may touch, all NaN where nothing was put.
class Padded {
 public:
  Padded(std::int64_t rows, std::int64_t cols, std::int64_t padding);
  Padded(std::int64_t rows, std::int64_t cols, Random& random);
  MatrixView<double> view() { return {numbers_.data() + kEdge, rows_, cols_, ld_}; }
  MatrixView<const double> view() const { return {numbers_.data() + kEdge, rows_, cols_, ld_}; }
  /// To the bit.
  bool same(const Padded& other) const;
  bool same_padding(const Padded& other) const;

 private:
  static constexpr std::int64_t kEdge = 8;
  std::int64_t rows_, cols_, ld_;
  std::vector<double> numbers_;
};

/// Whether an outcome leaves x as it was.
bool leaves_x_alone(SolveOutcome outcome);

/// Counts the outcome and its columns, and says which of the certificate's parts contradict each
/// other or the finite data that it was made for.
void judge_outcome(const Certificate& certificate, std::int64_t columns, Report& report);

/// All that a certificate of a square system claims, against the truth.
struct SquareCase {
  const Matrix& a;
  bool transposed;
  MatrixView<const double> b;
  MatrixView<const double> x;
  const SolveOptions& options;
  const Certificate& certificate;
};
void judge_columns(const SquareCase& c, Report& report);

/// Finds a matrix that is called not positive definite while LAPACK's dpotrf factors it in the same
/// scale.
void judge_definiteness(const Matrix& a, const SolveOptions& options,
                        const Certificate& certificate, Report& report);

/// Runs a call. An exception other than invalid_argument is a finding; false: there is no answer.
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
