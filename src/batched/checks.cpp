// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "batched/checks.hpp"

#include <algorithm>

#include "batched/pack_solver.hpp"
#include "core/checked.hpp"
#include "stepwell/error.hpp"

namespace stepwell::batched {
namespace {

std::string text(std::int64_t number) {
  return std::to_string(number);
}

}  // namespace

void Checks::misuse(const std::string& what) const {
  throw Error(ErrorCode::invalid_argument, std::string(entry_) + ": " + what);
}

template <class T>
void Checks::view(const BatchView<T>& v, const char* what, bool written) const {
  const std::string name = what;
  if (v.count < 0 || v.rows < 0 || v.cols < 0) {
    misuse(name + " has a negative size: " + text(v.count) + " matrices of " + text(v.rows) +
           " x " + text(v.cols));
  }
  if (v.lanes < 0) misuse(name + ": lanes is " + text(v.lanes) + ", must be at least 0");
  if (v.lanes > 0 && v.pointers != nullptr) {
    misuse(name + " has both pointers and lanes; give pointers or interleaved matrices, not both");
  }
  if (v.ld < std::max<std::int64_t>(1, v.rows)) {
    misuse(name + ": leading dimension " + text(v.ld) + " is less than its " + text(v.rows) +
           " rows");
  }
  if (v.count == 0 || v.rows == 0 || v.cols == 0) return;
  const std::int64_t size = core::size_product(v.ld, v.cols, "matrix");
  if (v.pointers != nullptr) {
    const auto end = v.pointers + v.count;
    const auto null = std::find(v.pointers, end, nullptr);
    if (null != end) misuse(name + ": pointer " + text(null - v.pointers) + " is null");
    return;
  }
  if (v.data == nullptr) misuse(name + " is null");
  // The last column need not be padded.
  const std::int64_t least = written ? size - v.ld + v.rows : 0;
  const std::int64_t groups = v.lanes == 0 ? v.count : (v.count - 1) / v.lanes + 1;
  if (groups > 1 && v.stride < least) {
    misuse(name + ": stride " + text(v.stride) + " is less than the " + text(least) +
           " elements of a matrix");
  }
  const std::int64_t lanes = std::max<std::int64_t>(1, v.lanes);
  const auto elements =
      core::checked_add(core::size_product(groups - 1, v.stride < 0 ? 0 : v.stride, "batch"), size);
  if (!elements)
    throw Error(ErrorCode::too_large, std::string(entry_) + ": " + name + " is too large");
  core::size_product(*elements, lanes, static_cast<std::int64_t>(sizeof(T)), "batch");
}

template <class T>
void Checks::square(const BatchView<T>& a) const {
  if (a.rows != a.cols) misuse("A is " + text(a.rows) + " x " + text(a.cols) + ", must be square");
  if (a.rows > kBatchOrder) {
    misuse("the order " + text(a.rows) + " is above " + text(kBatchOrder) +
           "; solve such systems one by one, with solve_spd() (Python: stepwell.solve)");
  }
}

template <class T, class U>
void Checks::right_hand_sides(const BatchView<T>& a, const BatchView<U>& b) const {
  if (b.count != a.count) {
    misuse("there are " + text(a.count) + " matrices and " + text(b.count) + " right-hand sides");
  }
  if (b.rows != a.rows) {
    misuse("B has " + text(b.rows) + " rows, A has " + text(a.rows));
  }
  core::size_product(b.rows, b.cols, 8 * kMostLanes, "pack of right-hand sides");
}

void Checks::outputs(std::int64_t count, const BatchOutputs& outputs) const {
  const auto check = [&](std::size_t size, const char* what) {
    if (size != 0 && size != static_cast<std::size_t>(count)) {
      misuse(std::string("outputs.") + what + " has " + std::to_string(size) +
             " elements, must be empty or have one for each of the " + text(count) + " systems");
    }
  };
  check(outputs.pivots.size(), "pivots");
  check(outputs.log_determinants.size(), "log_determinants");
  check(outputs.backward_errors.size(), "backward_errors");
  check(outputs.iterations.size(), "iterations");
}

void Checks::tuning(const BatchTuning& tuning, Format format) const {
  const auto all = batch_tunings(format);
  if (std::find(all.begin(), all.end(), tuning) == all.end()) {
    misuse("no such tuning: " + text(tuning.rows) + " x " + text(tuning.cols) + ", " +
           text(tuning.vectors) + " vectors, prefetch " + text(tuning.prefetch) +
           "; batch_tunings() lists the available ones");
  }
}

template void Checks::view(const BatchView<float>&, const char*, bool) const;
template void Checks::view(const BatchView<double>&, const char*, bool) const;
template void Checks::view(const BatchView<const float>&, const char*, bool) const;
template void Checks::view(const BatchView<const double>&, const char*, bool) const;
template void Checks::square(const BatchView<const float>&) const;
template void Checks::square(const BatchView<const double>&) const;
template void Checks::right_hand_sides(const BatchView<const float>&,
                                       const BatchView<float>&) const;
template void Checks::right_hand_sides(const BatchView<const double>&,
                                       const BatchView<double>&) const;

}  // namespace stepwell::batched
