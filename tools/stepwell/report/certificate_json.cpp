// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <nlohmann/json.hpp>
#include "report/certificate.hpp"

namespace stepwell::tool {

using nlohmann::ordered_json;

ordered_json certificate_json(const Certificate& c) {
  ordered_json rungs = ordered_json::array();
  for (const LadderStep& r : c.rungs) {
    rungs.push_back({{"map", map_text(r.method)},
                     {"refiner", refiner_text(r.method)},
                     {"factored", r.factored},
                     {"iterations", r.iterations},
                     {"error", r.error},
                     {"seconds", r.seconds},
                     {"left_because", r.reason}});
  }
  ordered_json columns = ordered_json::array();
  for (const ColumnCertificate& column : c.columns) {
    columns.push_back({{"outcome", to_string(column.outcome)},
                       {"backward_error", column.backward_error},
                       {"iterations", column.iterations},
                       {"history", column.history}});
    if (column.proven_backward_error != 0) {
      columns.back()["proven_backward_error"] = column.proven_backward_error;
    }
    if (column.forward_error != 0) columns.back()["forward_error"] = column.forward_error;
    if (column.measure != Measure::normwise) {
      columns.back()["measure"] = to_string(column.measure);
    }
    if (c.structure == Structure::least_squares && column.measure != Measure::normwise) {
      columns.back()["residual_norm"] = column.residual_norm;
    }
  }
  ordered_json json = {{"outcome", to_string(c.outcome)},
                       {"reason", c.reason},
                       {"structure", to_string(c.structure)},
                       {"backward_error", c.backward_error},
                       {"tolerance", c.tolerance},
                       {"iterations", c.iterations},
                       {"map", map_text(c.method)},
                       {"refiner", refiner_text(c.method)},
                       {"shift", c.shift},
                       {"norm", c.norm},
                       {"rungs", std::move(rungs)},
                       {"seconds",
                        {{"analysis", c.times.analysis},
                         {"factor", c.times.factor},
                         {"refine", c.times.refine},
                         {"certify", c.times.certify},
                         {"wall", c.times.wall}}},
                       {"peak_bytes", c.peak_bytes},
                       {"threads", c.threads},
                       {"threads_reason", c.threads_reason},
                       {"columns", std::move(columns)}};
  if (c.rank >= 0) json["rank"] = c.rank;
  if (!c.dependent.empty()) json["dependent"] = c.dependent;
  if (c.minimum_norm) json["minimum_norm"] = true;
  if (c.factor.growth > 0) json["growth"] = c.factor.growth;
  if (c.condition != 0) json["condition"] = c.condition;  // NaN (unknown) is written as null
  if (c.pivot >= 0) json["pivot"] = {{"index", c.pivot}, {"value", c.pivot_value}};
  if (c.row >= 0) json["at"] = {{"matrix", c.in_b ? "b" : "A"}, {"row", c.row}, {"col", c.col}};
  return json;
}

}  // namespace stepwell::tool
