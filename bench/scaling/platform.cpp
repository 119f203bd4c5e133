// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "platform.hpp"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "stepwell/error.hpp"

namespace stepwell::bench::scaling {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

double positive(const json& object, const char* key, double otherwise) {
  const double value = object.value(key, otherwise);
  if (!(value > 0)) refuse(std::string("'") + key + "' must be a positive number");
  return value;
}

Rates rates_from(const json& object) {
  Rates r;
  r.rung = parse_map(object.value("rung", "bf16")).layers.at(0);
  r.tile = static_cast<std::int64_t>(positive(object, "tile", 0));
  r.product = positive(object, "product", 0);
  r.diagonal = positive(object, "diagonal", 0);
  r.solve = positive(object, "solve", 0);
  r.load = positive(object, "load", 0);
  r.reorder = positive(object, "reorder", 0);
  return r;
}

}  // namespace

const Rates& Platform::rates_of(Rung rung, std::int64_t tile) const {
  const auto distance = [&](const Rates& r) {
    return std::abs(std::log(static_cast<double>(r.tile) / static_cast<double>(tile)));
  };
  const Rates* best = nullptr;
  for (const Rates& r : rates) {
    if (r.rung == rung && (best == nullptr || distance(r) < distance(*best))) best = &r;
  }
  if (best == nullptr) {
    refuse("the platform '" + name + "' has no rates of rung " + std::string(to_string(rung)));
  }
  return *best;
}

Platform read_platform(const std::string& path) {
  std::ifstream file(path);
  if (!file) refuse(path + ": cannot be read");
  try {
    const json object = json::parse(file);
    Platform p;
    p.name = object.value("name", path);
    p.workers = static_cast<int>(positive(object, "workers", p.workers));
    p.ranks_per_host = static_cast<int>(positive(object, "ranks_per_host", p.ranks_per_host));
    p.cores = object.value("cores", p.cores);
    p.task_seconds = object.value("task_seconds", p.task_seconds);
    p.bandwidth = positive(object, "bandwidth", p.bandwidth);
    p.latency = object.value("latency", p.latency);
    p.memory = positive(object, "memory", p.memory);
    p.regenerate = positive(object, "regenerate", p.regenerate);
    for (const json& entry : object.at("rates")) p.rates.push_back(rates_from(entry));
    return p;
  } catch (const std::exception& error) {
    refuse(path + ": " + error.what());
  }
}

}  // namespace stepwell::bench::scaling
