// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// The vector types of a pack. There are no functions, hence no instruction set to switch on.
// Included once per target: hence a toggling guard instead of a pragma.
#if defined(STEPWELL_BATCH_VECTORS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEPWELL_BATCH_VECTORS_INL
#undef STEPWELL_BATCH_VECTORS_INL
#else
#define STEPWELL_BATCH_VECTORS_INL
#endif

namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::CappedTag<T, 64 / sizeof(T)>;
template <class T>
using Vec = hn::Vec<Tag<T>>;
template <class T>
constexpr std::int64_t kLanes = hn::MaxLanes(Tag<T>());

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels

#endif  // STEPWELL_BATCH_VECTORS_INL
