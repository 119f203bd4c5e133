// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <dlfcn.h>
#include <fmt/format.h>

#include <dnnl.hpp>
#include <memory>
#include <unordered_map>

#include "bench/baselines/onednn_module.hpp"
#include "core/numeric/rounding.hpp"

namespace stepwell::bench {
namespace {

using dnnl::matmul;
using dnnl::memory;

/// oneDNN uses OpenMP threads. We do not link an OpenMP runtime, so its function is looked up if
/// one is loaded.
void one_openmp_thread() {
  using SetThreads = void(int);
  const auto set = reinterpret_cast<SetThreads*>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set != nullptr) set(1);
}

struct Matmul {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  matmul primitive;
  std::unordered_map<int, memory> arguments;
};

matmul::primitive_desc describe(const dnnl::engine& engine, const memory::desc& a,
                                const memory::desc& b, const memory::desc& c) {
#if DNNL_VERSION_MAJOR >= 3
  return matmul::primitive_desc(engine, a, b, c);
#else
  return matmul::primitive_desc(matmul::desc(a, b, c), engine);
#endif
}

memory noise_bf16(const memory::desc& desc, const dnnl::engine& engine, std::uint64_t seed) {
  memory m(desc, engine);
  auto* const data = static_cast<std::uint16_t*>(m.get_data_handle());
  const std::size_t count = desc.get_size() / sizeof(std::uint16_t);
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    data[i] = core::to_bf16(static_cast<double>(static_cast<std::int64_t>(seed)) * 0x1p-63).bits;
  }
  return m;
}

std::string make_matmul(std::int64_t m, std::int64_t n, std::int64_t k, Side& side) {
  try {
    one_openmp_thread();
    const auto run = std::make_shared<Matmul>();
    const auto bf16 = memory::data_type::bf16;
    const auto plain = memory::format_tag::ab;
    const memory::desc a({m, k}, bf16, plain);
    const memory::desc b({k, n}, bf16, plain);
    const memory::desc any_b({k, n}, bf16, memory::format_tag::any);
    const memory::desc c({m, n}, memory::data_type::f32, plain);
    const matmul::primitive_desc described = describe(run->engine, a, any_b, c);

    memory b_plain = noise_bf16(b, run->engine, 2);
    memory b_packed(described.weights_desc(), run->engine);
    dnnl::reorder(b_plain, b_packed).execute(run->stream, b_plain, b_packed);
    run->primitive = matmul(described);
    run->arguments = {{DNNL_ARG_SRC, noise_bf16(a, run->engine, 1)},
                      {DNNL_ARG_WEIGHTS, b_packed},
                      {DNNL_ARG_DST, memory(c, run->engine)}};
    run->stream.wait();

    side.name = "matmul bf16";
    side.library = "oneDNN";
    const dnnl_version_t* const version = dnnl_version();
    side.version = fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
    side.core_name = described.impl_info_str();
    side.run = [run] {
      run->primitive.execute(run->stream, run->arguments);
      run->stream.wait();
    };
    return "";
  } catch (const dnnl::error& e) {
    return std::string("oneDNN can't compute this product on this machine: ") + e.what();
  }
}

}  // namespace
}  // namespace stepwell::bench

void stepwell_onednn_matmul(std::int64_t m, std::int64_t n, std::int64_t k,
                            stepwell::bench::Side& side, std::string& problem) {
  problem = stepwell::bench::make_matmul(m, n, k, side);
}
