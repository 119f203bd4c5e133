// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <functional>

#include "stepwell/factor.hpp"
#include "stepwell/progress.hpp"

namespace stepwell::python {

namespace nb = nanobind;

/// A Cholesky factor at FP64 quality of a solver, and the Progress that calls with it share. Python
/// holds a lock during each call.
class FactorUses {
 public:
  /// The factor must exist as long as this.
  FactorUses(const Factor& factor, Context* context) : factor_(&factor) {
    engine_.context = context;
    engine_.progress = &state_;
  }
  FactorUses(const FactorUses&) = delete;
  FactorUses& operator=(const FactorUses&) = delete;

  const Factor& factor() const { return *factor_; }
  const EngineOptions& engine() const { return engine_; }

  /// Runs the work, which takes about so many multiplications: run().
  void call(const nb::object& progress, double products, const std::function<void()>& work);

 protected:
  Progress state_;
  EngineOptions engine_;

 private:
  const Factor* factor_;
};

}  // namespace stepwell::python
