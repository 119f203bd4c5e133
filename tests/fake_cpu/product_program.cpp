// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Multiplies matrices at every rung with the kernels that the table chose and compares with a plain
// FP64 loop. Prints the kernels used and why the others were refused, one keyword and its values
// per line:
//   isa <name>
//   usable <isa> yes|no <reason>
//   update <rung> <isa> <kernel>
//   error <rung> <largest error / bound>
// Exit code 0 if every error is within its bound.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/buffer.hpp"
#include "core/machine/cpu.hpp"
#include "kernels/kernels.hpp"

namespace stepwell::kernels {
namespace {

constexpr std::int64_t kRows = 97;  // three panels and a row
constexpr std::int64_t kCols = 66;
constexpr std::int64_t kInner = 130;

struct Problem {
  std::vector<double> a, b, c;
};

Problem make_problem() {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Problem p{std::vector<double>(kRows * kInner), std::vector<double>(kCols * kInner),
            std::vector<double>(kRows * kCols)};
  // fp32 values, so that the operands are the same at every rung from fp32 up.
  for (std::vector<double>* matrix : {&p.a, &p.b, &p.c}) {
    for (double& x : *matrix) x = static_cast<float>(uniform(random));
  }
  return p;
}

/// The largest error of C - A B' divided by its bound. Rounding an operand costs u, the dropped
/// terms product_error, and a sum of n terms n - 1 roundings of its partial sums (Higham, Accuracy
/// and Stability, (3.3)), which the sum of all magnitudes bounds.
template <class T>
double worst(const Problem& p, MatrixView<const T> result, Rung rung) {
  const RungInfo r = info(rung);
  const double u = r.unit_roundoff;
  const double sum_unit = rung == Rung::fp64 ? 0x1p-53 : 0x1p-24;
  const double terms = static_cast<double>(kInner * std::max(1, r.products) + 1);
  const double sums = terms * sum_unit / (1 - terms * sum_unit);
  const auto a = view(p.a.data(), kRows, kInner);
  const auto b = view(p.b.data(), kCols, kInner);
  const auto c = view(p.c.data(), kRows, kCols);
  double ratio = 0;
  for (std::int64_t j = 0; j < kCols; ++j) {
    for (std::int64_t i = 0; i < kRows; ++i) {
      double exact = c(i, j);
      double size = 0;
      for (std::int64_t k = 0; k < kInner; ++k) {
        exact -= a(i, k) * b(j, k);
        size += std::abs(a(i, k) * b(j, k));
      }
      // (1 + 3u) covers the terms of the split, whose magnitudes add up to slightly more than |a|.
      const double bound = size * (2 * u + u * u + r.product_error) +
                           sums * (std::abs(c(i, j)) + size * (1 + 3 * u) * (1 + 3 * 0x1p-8)) +
                           static_cast<double>(kInner) * 0x1p-53 * size;
      const double error = std::abs(static_cast<double>(result(i, j)) - exact) / bound;
      if (!(error <= ratio)) ratio = error;  // keeps a NaN
    }
  }
  return ratio;
}

double packed_error(const Table& t, const Problem& p, Rung rung) {
  const int planes = info(rung).planes;
  const core::Buffer<std::uint16_t> a_data(packed_elements(kRows, kInner, planes));
  const core::Buffer<std::uint16_t> b_data(packed_elements(kCols, kInner, planes));
  const PackedOut a = packed(a_data.data(), kRows, kInner, rung, Order::pairs);
  const PackedOut b = packed(b_data.data(), kCols, kInner, rung, Order::rows);
  pack(t, rung, view(p.a.data(), kRows, kInner), a);
  pack(t, rung, view(p.b.data(), kCols, kInner), b);
  std::vector<float> c(p.c.begin(), p.c.end());
  const auto result = view(c.data(), kRows, kCols);
  update(t, rung, a, b, result);
  return worst<float>(p, result, rung);
}

template <class T>
double dense_error(const Table& t, const Problem& p, Rung rung) {
  const std::vector<T> a(p.a.begin(), p.a.end());
  const std::vector<T> b(p.b.begin(), p.b.end());
  std::vector<T> c(p.c.begin(), p.c.end());
  const auto result = view(c.data(), kRows, kCols);
  update(t, view(a.data(), kRows, kInner), view(b.data(), kCols, kInner), result);
  return worst<T>(p, result, rung);
}

template <class F>
void print_entry(Rung rung, const Entry<F>& entry) {
  std::printf("update %s %s %s\n", std::string(to_string(rung)).c_str(),
              std::string(to_string(entry.isa)).c_str(), entry.name);
}

bool run() {
  const Table& t = table();
  std::printf("isa %s\n", std::string(to_string(t.cap)).c_str());
  for (const core::Isa isa : core::all_isas) {
    const core::Usable& u = usable()[static_cast<unsigned>(isa)];
    std::printf("usable %s %s %s\n", std::string(to_string(isa)).c_str(), u.yes ? "yes" : "no",
                u.reason.c_str());
  }
  const Problem p = make_problem();
  bool good = true;
  for (const Rung rung : mixable_rungs) {
    double error = 0;
    if (rung == Rung::fp32) {
      print_entry(rung, t.update_fp32);
      error = dense_error<float>(t, p, rung);
    } else if (rung == Rung::fp64) {
      print_entry(rung, t.update_fp64);
      error = dense_error<double>(t, p, rung);
    } else {
      print_entry(rung, t.update_at(rung));
      error = packed_error(t, p, rung);
    }
    std::printf("error %s %.3g\n", std::string(to_string(rung)).c_str(), error);
    if (!(error <= 1)) good = false;
  }
  return good;
}

/// A new thread must see the same CPU as the first one.
bool threads_agree() {
  constexpr core::Isa cap = core::Isa::avx512_bf16;
  const core::Cpu here = core::probe_cpu(cap);
  core::Cpu there;
  std::thread([&] { there = core::probe_cpu(cap); }).join();
  return here.features == there.features && here.vendor == there.vendor;
}

}  // namespace
}  // namespace stepwell::kernels

int main() {
  const bool good = stepwell::kernels::run();
  if (!stepwell::kernels::threads_agree()) {
    std::puts("threads disagree about the CPU");
    return 1;
  }
  return good ? 0 : 1;
}
