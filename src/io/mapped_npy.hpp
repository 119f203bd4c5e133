// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "io/source.hpp"
#include "stepwell/tall.hpp"

namespace stepwell::io {

/// A memory-mapped NPY file with FP64 elements, as a matrix; the file may be larger than the memory
/// of the machine. C order is a matrix by rows, Fortran order by columns; a one-dimensional array
/// is one column.
///
/// Supports only <f8 with data that starts at a multiple of 8 bytes, as NumPy writes it; other
/// files that read_npy() can read are Error(unsupported). Files that are too short or too long are
/// rejected when they are mapped. If another process truncates the file later, a read beyond its
/// end ends this process with SIGBUS: write a new file and rename it, do not overwrite a file in
/// use. check() detects other changes.
class MappedNpy {
 public:
  /// Throws Error: cannot_open, malformed, truncated, too_large, unsupported, shape.
  explicit MappedNpy(const std::string& path);
  ~MappedNpy();
  MappedNpy(const MappedNpy&) = delete;
  MappedNpy& operator=(const MappedNpy&) = delete;

  /// Valid for the lifetime of this object.
  const TallMatrix& matrix() const { return matrix_; }
  std::int64_t bytes() const { return source_.size(); }

  /// Throws Error(malformed) if the length of the file or the time of its last change has changed
  /// since it was mapped.
  void check() const;

 private:
  Source source_;  ///< keeps the file open
  std::int64_t changed_ = 0;
  void* pages_ = nullptr;
  TallMatrix matrix_;
};

/// Whether MappedNpy supports the file, according to its first bytes and its header. Throws Error
/// for an NPY file with an invalid header.
bool is_mappable(const std::string& path);

}  // namespace stepwell::io
