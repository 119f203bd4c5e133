// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "commands/plan.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/checked.hpp"
#include "core/machine/system.hpp"
#include "report/certificate.hpp"
#include "report/screen.hpp"
#include "stepwell/error.hpp"
#include "stepwell/lstsq.hpp"

namespace stepwell::tool {
namespace {

using nlohmann::ordered_json;

LeastSquaresOptions tall_options(const SolveOptionsRequest& r) {
  LeastSquaresOptions options;
  if (!r.map.empty()) {
    const std::optional<Rung> rung = rung_from_string(r.map);
    if (!rung) {
      throw Error(ErrorCode::invalid_argument,
                  "--map '" + r.map +
                      "': least squares has one rung, that of the Gram matrix; the rungs are bf16, "
                      "bf16x2, bf16x3, fp16, fp32 and fp64");
    }
    options.map = uniform(*rung);
  }
  if (r.assume != "auto") {
    throw Error(ErrorCode::invalid_argument,
                "--assume is for a square A; this one has more rows than columns");
  }
  options.refine.refiner = refiner_of(r.refiner);
  options.tolerance = r.tolerance;
  options.climb = !r.no_climb;
  return options;
}

}  // namespace

void print_tall_plan(std::int64_t m, std::int64_t n, std::int64_t columns,
                     const SolveOptionsRequest& r, bool json) {
  Context context(r.threads);
  LeastSquaresOptions options = tall_options(r);
  options.engine.context = &context;
  const Plan plan = plan_lstsq(m, n, columns, options);
  const std::int64_t matrix = core::size_product(m, n, 8, "A");
  const std::int64_t vectors = core::size_product(m, columns, 8, "b");
  const std::int64_t available = core::memory_allowance().available;
  if (json) {
    const ordered_json out = {{"m", m},
                              {"n", n},
                              {"columns", columns},
                              {"structure", "least squares"},
                              {"map", map_text(plan.method)},
                              {"refiner", refiner_text(plan.method)},
                              {"iterations", plan.iterations},
                              {"seconds", {{"wall", plan.seconds}}},
                              {"bytes",
                               {{"a", matrix},
                                {"b", vectors},
                                {"workspace", plan.bytes},
                                {"workspace_at_most", plan.top_bytes}}},
                              {"bytes_available", available}};
    fmt::print("{}\n", out.dump(2));
    return;
  }
  Screen screen(colour_on_stdout());
  screen.line("solved as", "least squares");
  screen.line("path", path_text(plan.method, plan.iterations, true));
  screen.line("", "if the columns are not nearly linearly dependent");
  screen.line("time", time_text({0, 0, 0, 0, plan.seconds}));
  screen.line("", "by the rates of the machine Stepwell was developed on");
  screen.line("memory", fmt::format("{} in addition to A, b and x; {} if it has to climb to QR",
                                    size_text(plan.bytes), size_text(plan.top_bytes)));
  screen.line("", fmt::format("A takes {} unless it is mapped, b {}", size_text(matrix),
                              size_text(vectors)));
  if (available > 0) {
    const bool fits = plan.top_bytes / 2 + vectors / 2 <= available / 2;
    const std::string text = size_text(available) + " are available: ";
    if (fits) {
      screen.good("", text + "it fits if A is mapped");
    } else {
      screen.bad("", text + "it does not fit");
    }
  }
  fmt::print("{}", screen.take());
}

}  // namespace stepwell::tool
