// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/baselines/baseline_onednn.hpp"

#include <dlfcn.h>

#include "bench/baselines/onednn_module.hpp"
#include "stepwell/error.hpp"

namespace stepwell::bench {

Side onednn_matmul(std::int64_t m, std::int64_t n, std::int64_t k) {
  void* const module = dlopen("stepwell_onednn.so", RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    throw Error(ErrorCode::unsupported,
                std::string("--against onednn can't run: ") + dlerror() +
                    " (package stepwell-baselines; built only if oneDNN, Debian's libdnnl-dev, is "
                    "installed)");
  }
  const auto matmul =
      reinterpret_cast<decltype(&stepwell_onednn_matmul)>(dlsym(module, "stepwell_onednn_matmul"));
  if (matmul == nullptr) throw Error(ErrorCode::internal, dlerror());
  Side side;
  std::string problem;
  matmul(m, n, k, side, problem);
  if (!problem.empty()) throw Error(ErrorCode::unsupported, problem);
  return side;
}

}  // namespace stepwell::bench
