// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>

#include "factor_cache.hpp"

/// Helpers of LAPACKE's functions: layouts, NaN checks, error messages.
namespace stepwell::lapack {

inline constexpr int kRows = 101;  ///< LAPACK_ROW_MAJOR
inline constexpr int kColumns = 102;
inline constexpr int kWorkMemory = -1010;  ///< LAPACK_WORK_MEMORY_ERROR
inline constexpr int kTransposeMemory = -1011;

/// Calls the process's LAPACKE_xerbla, or prints its text if there is none. Returns 'info'.
std::int64_t report_error(const char* name, std::int64_t info);

/// The result of the process's LAPACKE_get_nancheck, or of the variable LAPACKE_NANCHECK if there
/// is none.
bool checks_nan();

/// Whether the given part of an m x n matrix has a NaN.
bool has_nan(int layout, std::int64_t m, std::int64_t n, const double* a, std::int64_t lda,
             Part part = Part::all);

/// The same for a factor, except for factors of Stepwell, which consist of NaNs.
bool has_foreign_nan(int layout, std::int64_t n, const double* a, std::int64_t lda,
                     Part part = Part::all);

/// A column-major matrix: the caller's own, or a copy of a row-major one.
template <class Int>
class Columns {
 public:
  Columns(int layout, Int m, Int n, double* a, Int lda, Part part = Part::all)
      : m_(m), n_(n), a_(a), lda_(lda), part_(part), data_(a), ld_(lda) {
    if (layout != kRows) return;
    ld_ = std::max<Int>(1, m);
    const auto size = static_cast<std::size_t>(ld_) * static_cast<std::size_t>(std::max<Int>(1, n));
    copy_.reset(new (std::nothrow) double[size]);
    data_ = copy_.get();
    ready_ = data_ != nullptr;
    if (ready_) core::transpose({a_, n_, m_, lda_}, {data_, m_, n_, ld_}, part_);
  }
  Columns(int layout, Int m, Int n, const double* a, Int lda, Part part = Part::all)
      : Columns(layout, m, n, const_cast<double*>(a), lda, part) {}  // must not call write_back()

  bool ready() const { return ready_; }
  double* data() const { return data_; }
  const Int* ld() const { return &ld_; }
  void write_back() const {
    if (!copy_) return;
    const Part other = part_ == Part::all     ? Part::all
                       : part_ == Part::lower ? Part::upper
                                              : Part::lower;
    core::transpose({data_, m_, n_, ld_}, {a_, n_, m_, lda_}, other);
  }

 private:
  Int m_, n_;
  double* a_;
  Int lda_;
  Part part_;
  std::unique_ptr<double[]> copy_;
  double* data_;
  Int ld_;
  bool ready_ = true;
};

/// Uninitialized memory for a routine that may not need it.
template <class T>
class Workspace {
 public:
  Workspace(std::int64_t m, std::int64_t n)
      : data_(new (std::nothrow) T[static_cast<std::size_t>(std::max<std::int64_t>(1, m) *
                                                            std::max<std::int64_t>(1, n))]) {}
  bool ready() const { return data_ != nullptr; }
  T* data() const { return data_.get(); }

 private:
  std::unique_ptr<T[]> data_;
};

template <class Int>
Int refuse(const char* name, int info) {
  return static_cast<Int>(report_error(name, info));
}

/// LAPACKE has one more argument, the layout, in front: argument positions in 'info' shift by one.
template <class Int>
Int shifted(Int info) {
  return info < 0 ? info - 1 : info;
}

}  // namespace stepwell::lapack
