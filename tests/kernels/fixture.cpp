// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fixture.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>

namespace stepwell::kernels::test {

std::string isa_name(const ::testing::TestParamInfo<core::Isa>& info) {
  return std::string(to_string(info.param));
}

std::string isa_rung_name(const ::testing::TestParamInfo<std::tuple<core::Isa, Rung>>& info) {
  return std::string(to_string(std::get<0>(info.param))) + "_" +
         std::string(to_string(std::get<1>(info.param)));
}

const Table& reference_table() {
  static const Table table = make_table(core::Isa::reference);
  return table;
}

void PerIsa::SetUp() {
  const core::Usable& usable_here = usable()[static_cast<unsigned>(GetParam())];
  if (!usable_here.yes) GTEST_SKIP() << to_string(GetParam()) << ": " << usable_here.reason;
  table_ = make_table(GetParam());
}

void PerIsaAndRung::SetUp() {
  const core::Usable& usable_here = usable()[static_cast<unsigned>(isa())];
  if (!usable_here.yes) GTEST_SKIP() << to_string(isa()) << ": " << usable_here.reason;
  table_ = make_table(isa());
}

std::vector<Sizes> contract_sizes(bool plain_loops) {
  std::vector<Sizes> sizes;
  constexpr std::int64_t step = kSanitized ? 3 : 1;
  for (std::int64_t i = 1; i <= 70; i += step) sizes.push_back({i, i * 29 % 71, i * 41 % 71});
  constexpr std::array<std::int64_t, 6> large = {127, 128, 129, 511, 512, 513};
  for (std::size_t i = 0; i < large.size(); ++i) {
    if (plain_loops || kSanitized) {
      sizes.push_back({large[i], 33, 65});
      sizes.push_back({65, large[i], 33});
      sizes.push_back({33, 65, large[i]});
    } else {
      sizes.push_back({large[i], large[(i + 1) % 6], large[(i + 3) % 6]});
    }
  }
  return sizes;
}

std::vector<std::pair<std::int64_t, std::int64_t>> contract_pairs() {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (const Sizes& s : contract_sizes(kSanitized)) pairs.emplace_back(s.m, s.n);
  return pairs;
}

PageEnd::PageEnd(std::int64_t bytes) {
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  const std::int64_t used = core::round_up(bytes, page);
  map_bytes_ = used + page;
  map_ = mmap(nullptr, map_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map_ == MAP_FAILED) throw std::bad_alloc();
  auto* base = static_cast<std::byte*>(map_);
  if (mprotect(base + used, page, PROT_NONE) != 0) throw std::bad_alloc();
  data_ = base + used - bytes;
}

PageEnd::~PageEnd() {
  munmap(map_, map_bytes_);
}

Scratch::Scratch(std::int64_t bytes) : bytes_(bytes), memory_(bytes + 2 * kZone) {
  // All bytes 0xff are a NaN in every format, so that scratch read before it is written is
  // detected.
  std::fill(memory_.begin(), memory_.end(), std::byte{0xff});
}

::testing::AssertionResult Scratch::zones_untouched() const {
  for (std::int64_t p = 0; p < memory_.size(); ++p) {
    const bool inside = p >= kZone && p < kZone + bytes_;
    if (!inside && memory_[p] != std::byte{0xff}) {
      return ::testing::AssertionFailure()
             << "scratch of " << bytes_ << " bytes written at byte " << p - kZone;
    }
  }
  return ::testing::AssertionSuccess();
}

Operand make_operand(const Dense<double>& x, Rung rung, Order order) {
  Operand o;
  const int planes = info(rung).planes;
  o.memory = core::Buffer<std::uint16_t>(
      std::max<std::int64_t>(packed_elements(x.rows, x.cols, planes), 32));
  o.packed = packed(o.memory.data(), x.rows, x.cols, rung, order);
  o.value = Dense<double>(x.rows, x.cols);
  for (std::int64_t k = 0; k < x.cols; ++k) {
    for (std::int64_t i = 0; i < x.rows; ++i) {
      const core::Terms terms = core::split(x(i, k), rung);
      for (int p = 0; p < planes; ++p) o.memory[o.packed.offset(i, k, p)] = terms.term[p].bits;
      o.value(i, k) = core::join(terms);
    }
  }
  return o;
}

namespace {

// The inner loops of the oracles. They take most of the time of some tests, are not under test
// themselves, and would be ten times slower with the sanitizers.
#define STEPWELL_UNWATCHED __attribute__((no_sanitize("address", "undefined")))

STEPWELL_UNWATCHED void add_column(const double* column, double factor, std::int64_t rows,
                                   double* value, double* magnitude) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const double product = column[i] * factor;
    value[i] += product;
    magnitude[i] += std::fabs(product);
  }
}

STEPWELL_UNWATCHED long double dot(const double* row, std::int64_t stride, const long double* x,
                                   std::int64_t count) {
  long double sum = 0;
  for (std::int64_t k = 0; k < count; ++k) sum += row[k * stride] * x[k];
  return sum;
}

#undef STEPWELL_UNWATCHED

}  // namespace

Product exact_product(const Dense<double>& a, const Dense<double>& b) {
  Product p{Dense<double>(a.rows, b.rows), Dense<double>(a.rows, b.rows)};
  for (std::int64_t j = 0; j < b.rows; ++j) {
    double* const value = &p.value.data[j * a.rows];
    double* const magnitude = &p.magnitude.data[j * a.rows];
    for (std::int64_t k = 0; k < a.cols; ++k) {
      const double* const column = &a.data[k * a.rows];
      const double factor = b(j, k);
      if (factor == 0) continue;  // half of a triangle
      add_column(column, factor, a.rows, value, magnitude);
    }
  }
  return p;
}

Dense<double> inverse_of(const Dense<double>& l) {
  const std::int64_t n = l.rows;
  Dense<double> w(n, n);
  std::vector<long double> x(n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i) {
      const long double sum = i == j ? 1 : -dot(&l.data[i + j * n], n, &x[j], i - j);
      x[i] = sum / l(i, i);
      w(i, j) = static_cast<double>(x[i]);
    }
  }
  return w;
}

Dense<double> transposed(const Dense<double>& a) {
  Dense<double> d(a.cols, a.rows);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) d(j, i) = a(i, j);
  }
  return d;
}

}  // namespace stepwell::kernels::test
