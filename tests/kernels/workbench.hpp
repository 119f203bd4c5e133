// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>

#include "kernels/fixture.hpp"
#include "kernels/recursive.hpp"

namespace stepwell::kernels::test {

using Bytes = std::vector<std::byte>;

/// One kernel call with its own data.
struct Job {
  std::string name;
  bool calls_blas;
  std::function<void()> prepare;  ///< restores the initial output
  std::function<void()> run;      ///< runs only the kernel
  std::function<Bytes()> result;
};

/// All kernels of a table, with inputs for which flush-to-zero and rounding modes change the
/// result.
class Workbench {
 public:
  explicit Workbench(const Table& table) : t_(table) {
    add_updates();
    add_moves();
    add_recursions();
    add_products();
  }
  Workbench(const Workbench&) = delete;
  Workbench& operator=(const Workbench&) = delete;
  const std::vector<Job>& jobs() const { return jobs_; }

 private:
  // Two diagonal blocks, and tails in every dimension.
  static constexpr std::int64_t kM = kSanitized ? 86 : 150, kN = kSanitized ? 70 : 130,
                                kK = kSanitized ? 77 : 140;

  /// kernel(view) works in place on a copy of 'start'.
  template <class T, class F>
  void add(std::string name, bool calls_blas, const Dense<T>& start, const F& kernel) {
    const auto kept = std::make_shared<const Dense<T>>(start);
    const auto out = std::make_shared<Dense<T>>(start);
    jobs_.push_back({std::move(name), calls_blas,
                     [=] { std::copy(kept->data.begin(), kept->data.end(), out->data.begin()); },
                     [=] { kernel(out->view()); },
                     [=] {
                       const auto* first = reinterpret_cast<const std::byte*>(out->data.data());
                       return Bytes(first, first + out->data.size() * sizeof(T));
                     }});
  }

  /// The same for a kernel that writes packed elements.
  template <class F>
  void add_packing(std::string name, std::int64_t rows, std::int64_t depth, Rung rung, Order order,
                   const F& kernel) {
    const auto memory = std::make_shared<core::Buffer<std::uint16_t>>(
        packed_elements(rows, depth, info(rung).planes));
    jobs_.push_back({std::move(name), false,
                     [=] { std::fill(memory->begin(), memory->end(), 0xffff); },
                     [=] { kernel(packed(memory->data(), rows, depth, rung, order)); },
                     [=] {
                       const auto* first = reinterpret_cast<const std::byte*>(memory->data());
                       return Bytes(first, first + memory->size() * 2);
                     }});
  }

  template <class T>
  Dense<T> random_matrix(std::int64_t m, std::int64_t n) {
    return Dense<T>::generate(m, n, [&] {
      const double x = random_.gaussian();
      return random_.bits() % 16 == 0 ? x * 1e-41 : x;  // subnormal in fp32 and bf16
    });
  }

  void add_updates() {
    for (Rung rung : {Rung::bf16, Rung::bf16x2, Rung::bf16x3, Rung::fp16}) {
      const auto a = std::make_shared<Operand>(
          make_operand(random_matrix<double>(kM, kK), rung, Order::pairs));
      const auto b =
          std::make_shared<Operand>(make_operand(random_matrix<double>(kN, kK), rung, Order::rows));
      add("update " + std::string(to_string(rung)), false, random_matrix<float>(kM, kN),
          [this, rung, a, b](MatrixView<float> c) { update(t_, rung, a->packed, b->packed, c); });
    }
    add_dense_update<float>("update fp32");
    add_dense_update<double>("update fp64");
  }

  template <class T>
  void add_dense_update(const std::string& name) {
    const auto a = std::make_shared<const Dense<T>>(random_matrix<T>(kM, kK));
    const auto b = std::make_shared<const Dense<T>>(random_matrix<T>(kN, kK));
    add(name, true, random_matrix<T>(kM, kN),
        [this, a, b](MatrixView<T> c) { update(t_, a->view(), b->view(), c, Shape::lower); });
  }

  void add_moves() {
    const auto a32 = std::make_shared<const Dense<float>>(random_matrix<float>(kM, kK));
    const auto a64 = std::make_shared<const Dense<double>>(random_matrix<double>(kM, kK));
    const auto scale = std::make_shared<const Dense<double>>(random_matrix<double>(kM, 1));
    for (Rung rung : {Rung::bf16x3, Rung::fp16}) {
      add_packing("pack fp32", kM, kK, rung, Order::pairs,
                  [this, rung, a32](PackedOut p) { pack(t_, rung, a32->view(), p); });
      add_packing("pack fp64", kM, kK, rung, Order::rows, [this, rung, a64, scale](PackedOut p) {
        pack(t_, rung, a64->view(), p, Shape::lower, {scale->data.data(), nullptr});
      });
    }
    const auto o = std::make_shared<Operand>(
        make_operand(random_matrix<double>(kM, kK), Rung::bf16x3, Order::pairs));
    add_packing("reorder", kM, kK, Rung::bf16x3, Order::rows,
                [this, o](PackedOut p) { reorder(t_, o->packed, p); });
    add("unpack fp32", false, random_matrix<float>(kM, kK), [this, o, scale](MatrixView<float> x) {
      unpack(t_, o->packed, x, {scale->data.data(), nullptr});
    });
    add("unpack fp64", false, random_matrix<double>(kM, kK),
        [this, o, scale](MatrixView<double> x) {
          unpack(t_, o->packed, x, {scale->data.data(), nullptr});
        });
    add("load", false, random_matrix<float>(kM, kK), [this, a64, scale](MatrixView<float> x) {
      LoadArgs args;
      args.a = a64->view();
      args.scales.row = scale->data.data();
      args.out32 = x;
      Scan scan;
      load(t_, args, scan);
    });
  }

  /// Diagonally dominant: its lower triangle is well conditioned, and the whole matrix is definite.
  template <class T>
  Dense<T> dominant(std::int64_t n) {
    Dense<T> a = random_matrix<T>(n, n);
    for (T& x : a.data) x /= static_cast<T>(4 * n);
    for (std::int64_t i = 0; i < n; ++i) a(i, i) = 1 + std::abs(a(i, i));
    return a;
  }

  template <class T>
  void add_recursions_in(const Layers& layers, const std::string& format) {
    const auto scratch = std::make_shared<core::Buffer<std::byte>>(tree_scratch(kM));
    const auto l = std::make_shared<const Dense<T>>(dominant<T>(kN));
    add("tree_potrf " + format, true, dominant<T>(kM),
        [=, this](MatrixView<T> a) { tree_potrf(t_, a, layers, scratch->data()); });
    add("tree_trsm " + format, true, random_matrix<T>(kM, kN),
        [=, this](MatrixView<T> b) { tree_trsm(t_, l->view(), b, layers, scratch->data()); });
    add("tree_syrk " + format, true, random_matrix<T>(kN, kN),
        [=, this](MatrixView<T> c) { tree_syrk(t_, l->view(), c, layers, scratch->data()); });
    add("invert_diagonal_blocks " + format, true, random_matrix<T>(kN, kN),
        [=, this](MatrixView<T> x) {
          invert_diagonal_blocks(t_, l->view(), 64, x, scratch->data());
        });
  }

  void add_recursions() {
    add_recursions_in<float>(uniform_layers(Rung::bf16), "fp32");
    add_recursions_in<double>(uniform_layers(Rung::bf16x2), "fp64");
    const auto scratch = std::make_shared<core::Buffer<std::byte>>(tree_scratch(kM));
    const auto w32 = std::make_shared<const Dense<float>>(dominant<float>(kN));
    add("solve_inverted fp32", true, random_matrix<float>(kM, kN), [=, this](MatrixView<float> b) {
      solve_inverted(t_, w32->view(), 64, b, scratch->data());
    });
    const auto x = std::make_shared<core::Buffer<std::uint16_t>>(packed_elements(kM, kN, 2));
    const auto w =
        std::make_shared<Operand>(make_operand(dominant<double>(kN), Rung::bf16x2, Order::rows));
    add("solve_inverted packed", false, random_matrix<float>(kM, kN),
        [=, this](MatrixView<float> b) {
          solve_inverted(t_, Rung::bf16x2, w->packed, 64, b,
                         packed(x->data(), kM, kN, Rung::bf16x2, Order::pairs), scratch->data());
        });
  }

  template <class V>
  void add_products_in(const std::string& format) {
    const auto l32 = std::make_shared<const Dense<float>>(dominant<float>(kN));
    const auto l =
        std::make_shared<Operand>(make_operand(dominant<double>(kN), Rung::bf16, Order::pairs));
    const auto x = std::make_shared<const Dense<V>>(random_matrix<V>(kN, 2));
    for (bool transposed : {false, true}) {
      const std::string name = format + (transposed ? " transposed" : "");
      add("packed_product " + name, false, random_matrix<V>(kN, 2),
          [=, this](MatrixView<V> y) { packed_product(t_, l->packed, transposed, x->view(), y); });
      add("tile_product " + name, false, random_matrix<V>(kN, 2),
          [=, this](MatrixView<V> y) { tile_product(t_, l32->view(), transposed, x->view(), y); });
      add("tile_trsv packed " + name, false, random_matrix<V>(kN, 2),
          [=, this](MatrixView<V> y) { tile_trsv(t_, PackedIn(l->packed), transposed, y); });
      add("tile_trsv " + name, false, random_matrix<V>(kN, 2),
          [=, this](MatrixView<V> y) { tile_trsv(t_, l32->view(), transposed, y); });
    }
  }

  void add_products() {
    add_products_in<float>("fp32");
    add_products_in<double>("fp64");
    const auto a = std::make_shared<const Dense<double>>(random_matrix<double>(kN, kN));
    const auto x = std::make_shared<const Dense<double>>(random_matrix<double>(kN, 2));
    add("product", false, random_matrix<double>(kN, 2), [=, this](MatrixView<double> y) {
      product(t_, a->view(), {x->view(), y, {}, {}});
    });
    const auto items = std::make_shared<const Dense<float>>(random_matrix<float>(kGramOrder, kN));
    const auto coefficients = std::make_shared<const Dense<float>>(random_matrix<float>(kN, 1));
    const auto columns = std::make_shared<std::vector<std::int32_t>>();
    for (std::int64_t e = 0; e < kN; ++e) {
      columns->push_back(static_cast<std::int32_t>(random_.integer(0, kN - 1)));
    }
    add("gather_gram", false, random_matrix<float>(kGramOrder, kGramOrder + 1),
        [=, this](MatrixView<float> c) {
          const float* const values = coefficients->data.data();
          gather_gram(t_, {items->view(), columns->data(), kN, 0, values, values, c.data,
                           c.block(0, 0, kGramOrder, kGramOrder), c.column(kGramOrder)});
        });
    add("symmetric_product", false, random_matrix<double>(kN, 2),
        [=, this](MatrixView<double> y) { symmetric_product(t_, a->view(), x->view(), y); });
  }

  const Table& t_;
  Random random_{42};
  std::vector<Job> jobs_;
};

inline Bytes run_once(const Job& job) {
  job.prepare();
  job.run();
  return job.result();
}

}  // namespace stepwell::kernels::test
