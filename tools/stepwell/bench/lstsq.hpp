// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace stepwell::tool {

/// Options of `bench lstsq`. Empty or zero selects the default.
struct LstsqBenchRequest {
  std::int64_t m = 20000;
  std::int64_t n = 500;
  std::int64_t columns = 1;
  double condition = 10;
  bool clustered = false;  ///< all singular values except one are 1
  double residual = 1;     ///< ||b - A x|| / ||A x||
  std::uint64_t seed = 1;
  std::string layout = "columns";  ///< or "rows"
  std::string rung;                ///< empty: the plan's rung
  std::string refiner;             ///< empty: cg
  bool qr = false;
  std::string against = "dgels";
  int threads = 0;
  int pairs = 5;
  bool allow_slow_blas = false;
  bool json = false;
};

/// Runs the benchmark and prints it. Throws Error, also when lstsq() does not converge.
void bench_lstsq(const LstsqBenchRequest& request);

/// For --help.
std::string lstsq_bench_help();

}  // namespace stepwell::tool
