// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>
#include <optional>

#include "batched/pack_solver.hpp"
#include "batched/residual.hpp"
#include "core/numeric/worst.hpp"

namespace stepwell::batched {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

template <class T>
class Direct final : public PackSolver<T> {
 public:
  Direct(const kernels::Table& t, std::int64_t n, std::int64_t columns, const BatchTuning& tuning,
         const Request& request)
      : request_(request), worker_(t, n, columns, tuning) {
    worker_.expect(request.ld, request.step, request.triangle);
    if (request.errors) residual_.emplace(worker_.kernel(), n, columns, worker_.lanes());
  }

  std::int64_t lanes() const override { return worker_.lanes(); }
  std::int64_t bytes() const override {
    return worker_.bytes() + (residual_ ? residual_->bytes() : 0);
  }

  void solve(const PackSystems<T>& systems, PackOutcome& outcome) noexcept override {
    const kernels::BatchEntries<T>& kernel = worker_.kernel();
    const kernels::BatchPack<T>& pack = worker_.pack();
    worker_.fetch(systems.next, 0);
    kernel.load.run(systems.a, request_.triangle, pack);
    if (pack.rhs > 0) kernel.load_columns.run(constant(systems.b), pack);
    if (residual_) {
      std::copy_n(pack.data, kernels::batch_pack_size(pack.n, pack.rhs, pack.lanes),
                  residual_->system().data);
      residual_->scan();
    }
    worker_.fetch(systems.next, 1);
    if (request_.factored) {
      kernel.forward.run(pack, outcome.pivots);
    } else {
      worker_.factor({request_.fast, worker_.next(systems.next)}, outcome.pivots);
    }
    if (pack.rhs > 0) {
      kernel.backward.run(pack);
      kernel.store_columns.run(pack, systems.b, outcome.pivots);
    }
    worker_.fetch(systems.next, 2);
    if (request_.keep) {
      kernel.store.run(pack, systems.factor, request_.triangle, request_.both_triangles,
                       outcome.pivots);
    }
    if (request_.log_determinants) {
      for (std::int64_t q = 0; q < systems.a.count; ++q) {
        outcome.log_determinants[q] = outcome.pivots[q] < 0 ? worker_.log_determinant(q) : kNone;
      }
    }
    if (residual_) measure(outcome);
  }

 private:
  void measure(PackOutcome& outcome) {
    std::fill_n(outcome.errors, kMostLanes, 0.0);
    const kernels::BatchPack<T>& pack = worker_.pack();
    for (std::int64_t c = 0; c < pack.rhs; ++c) {
      residual_->compute(c, pack.row(pack.n + c));
      for (std::int64_t q = 0; q < pack.lanes; ++q) {
        outcome.errors[q] = core::worst(outcome.errors[q], residual_->error(q));
      }
    }
    for (std::int64_t q = 0; q < pack.lanes; ++q) {
      if (outcome.pivots[q] >= 0) outcome.errors[q] = kNone;
    }
  }

  Request request_;
  Worker<T> worker_;
  std::optional<Residual<T>> residual_;
};

}  // namespace

template <class T>
std::unique_ptr<PackSolver<T>> direct_solver(const kernels::Table& t, std::int64_t n,
                                             std::int64_t columns, const BatchTuning& tuning,
                                             const Request& request) {
  return std::make_unique<Direct<T>>(t, n, columns, tuning, request);
}

template std::unique_ptr<PackSolver<float>> direct_solver(const kernels::Table&, std::int64_t,
                                                          std::int64_t, const BatchTuning&,
                                                          const Request&);
template std::unique_ptr<PackSolver<double>> direct_solver(const kernels::Table&, std::int64_t,
                                                           std::int64_t, const BatchTuning&,
                                                           const Request&);

}  // namespace stepwell::batched
