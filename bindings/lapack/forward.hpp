// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>
#include <type_traits>
#include <vector>

#include "next_symbol.hpp"

/// Calls the real LAPACK with the original arguments. If only a LAPACK with 32-bit integers is
/// available, the integer arguments of the 64-bit names are converted if they fit.
namespace stepwell::lapack {

/// Tags for integer arguments: input, output, pivots, scratch. All other arguments are passed
/// unchanged.
template <class Int>
struct In {
  const Int* value;
};
template <class Int>
struct Out {
  Int* value;
};
template <class Int>
struct PivotsIn {
  const Int* value;
  const Int* count;
};
template <class Int>
struct PivotsOut {
  Int* value;
  const Int* count;
};
template <class Int>
struct Scratch {
  Int* value;
};
// Clang 14 does not deduce these by itself.
template <class Int>
In(const Int*) -> In<Int>;
template <class Int>
Out(Int*) -> Out<Int>;
template <class Int>
PivotsIn(const Int*, const Int*) -> PivotsIn<Int>;
template <class Int>
PivotsOut(Int*, const Int*) -> PivotsOut<Int>;
template <class Int>
Scratch(Int*) -> Scratch<Int>;

template <class T>
concept Tagged = requires(T t) {
  t.value;
};

template <class T>
auto raw(T argument) {
  if constexpr (Tagged<T>) {
    return argument.value;
  } else {
    return argument;
  }
}

/// An argument for the 32-bit routine. This is the case of plain arguments and of integer scratch,
/// which is large enough.
template <class T>
struct Narrow {
  explicit Narrow(T argument) : argument_(argument) {}
  bool fits() const { return true; }
  auto get() {
    if constexpr (Tagged<T>) {
      return reinterpret_cast<std::int32_t*>(argument_.value);
    } else {
      return argument_;
    }
  }
  void finish() {}

 private:
  T argument_;
};

template <>
struct Narrow<In<std::int64_t>> {
  explicit Narrow(In<std::int64_t> argument)
      : wide_(*argument.value), value_(static_cast<std::int32_t>(wide_)) {}
  bool fits() const { return wide_ == value_; }
  const std::int32_t* get() const { return &value_; }
  void finish() {}

 private:
  std::int64_t wide_;
  std::int32_t value_;
};

template <>
struct Narrow<Out<std::int64_t>> {
  explicit Narrow(Out<std::int64_t> argument) : argument_(argument) {}
  bool fits() const { return true; }
  std::int32_t* get() { return &value_; }
  void finish() { *argument_.value = value_; }

 private:
  Out<std::int64_t> argument_;
  std::int32_t value_ = 0;
};

inline std::size_t pivot_count(const std::int64_t* count) {
  return static_cast<std::size_t>(std::clamp<std::int64_t>(*count, 0, 1LL << 31));
}

template <>
struct Narrow<PivotsIn<std::int64_t>> {
  explicit Narrow(PivotsIn<std::int64_t> argument) : pivots_(pivot_count(argument.count)) {
    std::transform(argument.value, argument.value + pivots_.size(), pivots_.begin(),
                   [](std::int64_t p) { return static_cast<std::int32_t>(p); });
  }
  bool fits() const { return true; }
  const std::int32_t* get() const { return pivots_.data(); }
  void finish() {}

 private:
  std::vector<std::int32_t> pivots_;
};

template <>
struct Narrow<PivotsOut<std::int64_t>> {
  explicit Narrow(PivotsOut<std::int64_t> argument)
      : argument_(argument), pivots_(pivot_count(argument.count)) {}
  bool fits() const { return true; }
  std::int32_t* get() { return pivots_.data(); }
  void finish() { std::copy(pivots_.begin(), pivots_.end(), argument_.value); }

 private:
  PivotsOut<std::int64_t> argument_;
  std::vector<std::int32_t> pivots_;
};

/// The position, from 1, of the first argument that does not fit; 0 if all fit.
template <class... Narrowed>
int first_misfit(const Narrowed&... arguments) {
  int position = 0;
  int found = 0;
  ((++position, found = found == 0 && !arguments.fits() ? position : found), ...);
  return found;
}

inline void no_routine(Routine routine, const char* why) {
  std::fprintf(stderr, "stepwell: %s: %s\n", name_of(routine), why);
}

template <class... Narrowed>
void call_narrow(Routine routine, std::int64_t* info, Narrowed... arguments) {
  void* const address = next_routine(routine, std::int32_t{});
  const int misfit = first_misfit(arguments...);
  if (address == nullptr || misfit != 0) {
    no_routine(routine, address == nullptr
                            ? "no LAPACK library was found to forward the call to"
                            : "a size needs 64-bit integers, and no LAPACK that has them was "
                              "found (Debian: libopenblas64-0-pthread)");
    *info = misfit != 0 ? -misfit : -1;
    return;
  }
  reinterpret_cast<void (*)(decltype(arguments.get())...)>(address)(arguments.get()...);
  (arguments.finish(), ...);
}

/// Calls the real routine. 'info' is also one of the arguments.
template <class Int, class... Arguments>
void forward(Routine routine, Int* info, Arguments... arguments) {
  if (void* const address = next_routine(routine, Int{})) {
    reinterpret_cast<void (*)(decltype(raw(arguments))...)>(address)(raw(arguments)...);
    return;
  }
  if constexpr (std::is_same_v<Int, std::int64_t>) {
    try {
      call_narrow(routine, info, Narrow<Arguments>(arguments)...);
    } catch (const std::bad_alloc&) {
      no_routine(routine, "out of memory for the pivots");
      *info = -1;
    }
  } else {
    no_routine(routine, "no LAPACK library was found to forward the call to");
    *info = -1;
  }
}

/// The hidden length of a character argument.
inline constexpr std::size_t kLength = 1;

}  // namespace stepwell::lapack
