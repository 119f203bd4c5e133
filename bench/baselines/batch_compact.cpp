// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/baselines/batch_compact.hpp"

#include <string>
#include <type_traits>

#include "bench/baselines/baseline_mkl.hpp"
#include "stepwell/error.hpp"

namespace stepwell::bench {
namespace {

/// MKL_COMPACT_PACK: registers of 16, 32 and 64 bytes.
constexpr int kSse = 181, kAvx512 = 183;

template <class T>
MklCompact<T> load_compact() {
  const std::string prefix = std::is_same_v<T, double> ? "mkl_d" : "mkl_s";
  MklCompact<T> m;
  m.format = mkl_function<int()>("mkl_get_format_compact")();
  if (m.format < kSse || m.format > kAvx512) {
    throw Error(ErrorCode::unsupported, "oneMKL has no compact format for this machine");
  }
  m.lanes = (16 << (m.format - kSse)) / static_cast<int>(sizeof(T));
  m.size = mkl_function<typename MklCompact<T>::Size>(prefix + "get_size_compact");
  m.pack = mkl_function<typename MklCompact<T>::Pack>(prefix + "gepack_compact");
  m.unpack = mkl_function<typename MklCompact<T>::Unpack>(prefix + "geunpack_compact");
  m.potrf = mkl_function<typename MklCompact<T>::Potrf>(prefix + "potrf_compact");
  m.trsm = mkl_function<typename MklCompact<T>::Trsm>(prefix + "trsm_compact");
  return m;
}

}  // namespace

template <class T>
const MklCompact<T>& mkl_compact() {
  static const MklCompact<T> loaded = load_compact<T>();
  return loaded;
}

template const MklCompact<float>& mkl_compact<float>();
template const MklCompact<double>& mkl_compact<double>();

}  // namespace stepwell::bench
