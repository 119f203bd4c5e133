// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "bench/harness/harness.hpp"
#include "stepwell/rung.hpp"

/// The verb `bench kernel`: one kernel on one machine, compared with a baseline that bounds it.
namespace stepwell::bench {

/// Options of the command line. Empty or zero selects the operation's default.
struct KernelRequest {
  std::string op;
  std::string rung;
  std::int64_t size = 512;
  std::string against;
  int threads = 0;
  std::string vector;  ///< format of the vectors of trsv
  bool transposed = false;
};

/// The same with all defaults filled in.
struct KernelCase {
  Rung rung = Rung::fp64;
  std::int64_t size = 0;
  std::string against;
  int threads = 1;
  Format vector = Format::fp32;
  bool transposed = false;
};

/// What an operation provides to the harness. check() runs the candidate once and returns what is
/// wrong with the answer, or an empty string: a wrong answer is not timed.
struct Bench {
  Contest contest;
  std::function<std::string()> check;
};

Bench make_update(const KernelCase& c);
Bench make_syrk(const KernelCase& c);
Bench make_pack(const KernelCase& c);
Bench make_load(const KernelCase& c);
Bench make_factor(const KernelCase& c);
Bench make_trsm(const KernelCase& c);
Bench make_symv(const KernelCase& c);
Bench make_gemv(const KernelCase& c);
Bench make_trsv(const KernelCase& c);

/// The bare loop of that many tile products on each thread, with or without loads. Only for CPUs
/// with a matrix engine.
Side engine_loop(std::int64_t products, bool fed, int threads);
inline constexpr double kTileProductFlop = 2.0 * 16 * 16 * 32;

/// Description of the operations, rungs and baselines, for --help.
std::string kernel_ops_help();

/// Runs the benchmark and prints it. Throws Error.
void bench_kernel(const KernelRequest& request, const HarnessOptions& options, bool json);

}  // namespace stepwell::bench
