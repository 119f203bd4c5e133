// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/mapped_npy.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "io/npy_header.hpp"

namespace stepwell::io {
namespace {

static_assert(std::endian::native == std::endian::little, "the data is used as it is");

constexpr const char* kType = "<f8";
constexpr std::int64_t kBytes = sizeof(double);

/// The data pointer of an empty matrix: a null pointer would mean that a function supplies it.
constexpr double kNothing = 0;

/// Time of the last change in nanoseconds. It may wrap around, which is harmless because it is only
/// compared for equality.
std::int64_t change_time(const struct stat& status) {
  const auto seconds = static_cast<std::uint64_t>(status.st_mtim.tv_sec);
  return static_cast<std::int64_t>(seconds * 1'000'000'000U +
                                   static_cast<std::uint64_t>(status.st_mtim.tv_nsec));
}

struct stat status_of(const Source& source) {
  struct stat status {};
  if (fstat(source.descriptor(), &status) != 0) {
    source.fail(ErrorCode::cannot_open, "",
                "can't be examined: " + std::generic_category().message(errno));
  }
  return status;
}

TallMatrix matrix_of(const NpyHeader& header, const double* data) {
  // A single column, or an empty matrix, fits both orders; products are faster by columns.
  if (!header.fortran_order && header.cols > 1) return by_rows(data, header.rows, header.cols);
  return MatrixView<const double>{data, header.rows, header.cols,
                                  std::max<std::int64_t>(1, header.rows)};
}

}  // namespace

MappedNpy::MappedNpy(const std::string& path) : source_(path) {
  changed_ = change_time(status_of(source_));
  const NpyHeader header = read_npy_header(source_);
  if (header.type != kType) {
    source_.fail(ErrorCode::unsupported, "",
                 "only elements of type '<f8' can be mapped, not " + in_quotes(header.type) +
                     "; in NumPy, numpy.save(file, a.astype('<f8')) converts them");
  }
  check_npy_length(source_, header, kBytes);
  const std::int64_t start = source_.position();
  if (start % kBytes != 0) {
    source_.fail(ErrorCode::unsupported, "byte " + std::to_string(start),
                 "the data of a mapped file must start at a multiple of 8 bytes; "
                 "numpy.save(file, numpy.load(old)) writes such a file");
  }
  if (source_.left() == 0) {
    matrix_ = matrix_of(header, &kNothing);
    return;
  }
  const auto size = static_cast<std::size_t>(source_.size());
  void* const pages = mmap(nullptr, size, PROT_READ, MAP_SHARED, source_.descriptor(), 0);
  if (pages == MAP_FAILED) {
    source_.fail(ErrorCode::cannot_open, "",
                 "can't be mapped: " + std::generic_category().message(errno));
  }
  pages_ = pages;
  // In Fortran order, reading a block of rows jumps from column to column, so that the kernel's
  // default readahead is better.
  if (!header.fortran_order) madvise(pages_, size, MADV_SEQUENTIAL);
  matrix_ =
      matrix_of(header, reinterpret_cast<const double*>(static_cast<const char*>(pages_) + start));
}

MappedNpy::~MappedNpy() {
  if (pages_ != nullptr) munmap(pages_, static_cast<std::size_t>(source_.size()));
}

void MappedNpy::check() const {
  const struct stat status = status_of(source_);
  if (status.st_size == source_.size() && change_time(status) == changed_) return;
  source_.fail(ErrorCode::malformed, "",
               "changed while it was in use; write a new file and rename it");
}

bool is_mappable(const std::string& path) {
  Source source(path);
  std::array<char, 6> start{};
  const auto count = static_cast<std::size_t>(source.read(start.data(), start.size()));
  source.rewind();
  if (std::string_view(start.data(), count) != "\x93NUMPY") return false;
  const NpyHeader header = read_npy_header(source);
  return header.type == kType && source.position() % kBytes == 0;
}

}  // namespace stepwell::io
