// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include "stepwell/stepwell.h"
#include "stepwell/stepwell.hpp"

/// Helpers of the C functions: error codes from exceptions, structs of other versions, text in
/// arrays.
struct stepwell_context {
  stepwell::Context context;
};
struct stepwell_progress {
  stepwell::Progress progress;
};

namespace stepwell::c {

/// Stores the text for stepwell_last_error() and returns minus the code.
int refuse(int code, const char* what) noexcept;

/// Thrown when the caller's function returned an error.
struct Refused {};

/// Runs call() and turns exceptions into negative codes.
template <class Call>
int guarded(Call call) noexcept {
  try {
    return call();
  } catch (const Error& e) {
    return refuse(static_cast<int>(e.code()), e.what());
  } catch (const Refused&) {
    return refuse(STEPWELL_CALLBACK, "the callback that provides the rows of A returned an error");
  } catch (const std::bad_alloc&) {
    return refuse(STEPWELL_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& e) {
    return refuse(STEPWELL_INTERNAL, e.what());
  } catch (...) {
    return refuse(STEPWELL_INTERNAL, "an unexpected exception of unknown type");
  }
}

[[noreturn]] inline void misuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

inline void require(const void* pointer, const char* what) {
  if (pointer == nullptr) misuse(std::string(what) + " is null");
}

/// Throws unless 'size' is a plausible size of a struct.
inline void check_size(std::size_t size, std::size_t least, const char* what) {
  if (size >= least && size <= (1u << 16)) return;
  misuse(std::string(what) + ".size is " + std::to_string(size) + "; initialize it with " + what +
         "_defaults()");
}

/// Copies the caller's struct; fields that the caller's version does not have yet, or all fields if
/// 'from' is null, get their defaults.
template <class Struct>
Struct read_struct(const Struct* from, const Struct& defaults, const char* what) {
  Struct s = defaults;
  if (from == nullptr) return s;
  check_size(from->size, sizeof(std::size_t), what);
  const std::size_t size = from->size;
  const auto* const bytes = reinterpret_cast<const char*>(from);
  if (std::any_of(bytes + std::min(size, sizeof(Struct)), bytes + size,
                  [](char c) { return c != 0; })) {
    misuse(std::string(what) + " has a field that this library (" + version() +
           ") does not know; use a newer library");
  }
  std::memcpy(&s, from, std::min(size, sizeof(Struct)));
  s.size = sizeof(Struct);
  return s;
}

/// Copies a struct to the caller's, as much as fits there.
template <class Struct>
void write_struct(const Struct& from, Struct* to) {
  const std::size_t size = to->size;
  std::memcpy(static_cast<void*>(to), &from, std::min(size, sizeof(Struct)));
  to->size = size;
}

/// Sets the defaults of a struct that may be shorter or longer than this library's.
template <class Struct>
void set_defaults(Struct* to, std::size_t size, const Struct& defaults) {
  if (to == nullptr || size < sizeof(std::size_t)) return;
  std::memset(static_cast<void*>(to), 0, size);
  std::memcpy(static_cast<void*>(to), &defaults, std::min(size, sizeof(Struct)));
  to->size = size;
}

/// Copies the text, truncated to what fits.
template <std::size_t N>
void put(char (&to)[N], std::string_view text) {
  const std::size_t length = std::min(text.size(), N - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

/// The value of a C++ enum, whose values are those of the C header.
template <class Enum>
Enum choice(std::int32_t value, std::int32_t count, const char* what) {
  if (value < 0 || value >= count) {
    misuse(std::string(what) + " is " + std::to_string(value) + "; it must be from 0 to " +
           std::to_string(count - 1));
  }
  return static_cast<Enum>(value);
}

inline Context* context_of(stepwell_context* c) {
  return c == nullptr ? nullptr : &c->context;
}
inline Progress* progress_of(stepwell_progress* p) {
  return p == nullptr ? nullptr : &p->progress;
}

/// The refiner called 'name'; empty for null.
std::optional<Refiner> refiner_of(const char* name);

/// Fills the caller's certificate unless it is null, and returns the outcome.
int deliver(const Certificate& c, stepwell_certificate* to);

/// Throws unless deliver() can write the certificate; called before any work is done.
void check_certificate(const stepwell_certificate* to);

int deliver(const Plan& plan, stepwell_plan* to);

}  // namespace stepwell::c
