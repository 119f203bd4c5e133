// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "io/source.hpp"
#include "stepwell/tall.hpp"

namespace stepwell::io {

/// An NPY file of FP64 numbers as a matrix that is not read but mapped: it may be larger than the
/// memory there is. By rows in C's order, by columns in Fortran's; of one dimension, one column.
///
/// Only <f8 whose data starts at a multiple of 8, as NumPy writes it. What read_npy() takes and
/// this does not is Error(unsupported). Files that are too short or too long are refused here, but
/// one that another process makes shorter later ends whoever reads the lost part with SIGBUS: make
/// a new file and rename it, don't write over one that is in use. check() finds it out otherwise.
class MappedNpy {
 public:
  /// Throws Error: cannot_open, malformed, truncated, too_large, unsupported, shape.
  explicit MappedNpy(const std::string& path);
  ~MappedNpy();
  MappedNpy(const MappedNpy&) = delete;
  MappedNpy& operator=(const MappedNpy&) = delete;

  /// Valid as long as the mapping lives.
  const TallMatrix& matrix() const { return matrix_; }
  std::int64_t bytes() const { return source_.size(); }

  /// Throws Error(malformed) if the file is not as it was when it was mapped: its length, or the
  /// time of its last change.
  void check() const;

 private:
  Source source_;  ///< holds the file open
  std::int64_t changed_ = 0;
  void* pages_ = nullptr;
  TallMatrix matrix_;
};

/// Whether MappedNpy would take the file, by its name or first bytes and its header. Throws Error
/// for an NPY file whose header is wrong.
bool is_mappable(const std::string& path);

}  // namespace stepwell::io
