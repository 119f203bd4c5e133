// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <memory>
#include <string>

#include "commands/gen.hpp"
#include "commands/verbs.hpp"
#include "core/buffer.hpp"
#include "core/checked.hpp"
#include "core/machine/threads.hpp"
#include "gallery/gallery.hpp"
#include "io/matrix_file.hpp"
#include "options/requirements.hpp"
#include "report/progress_line.hpp"
#include "stepwell/error.hpp"

/// `gen`: writes a matrix of the gallery, and right-hand sides, to files.
namespace stepwell::tool {
namespace {

void generate(const GenRequest& r) {
  if (r.kind.starts_with("tall")) return generate_tall(r);
  if (r.m != 0) {
    throw Error(ErrorCode::invalid_argument, "--m is for the kinds 'tall' and 'tall-clustered'");
  }
  const gallery::Recipe recipe = recipe_of(r);
  const std::int64_t bytes = core::size_product(r.n, r.n, 8, "matrix");
  const std::int64_t rhs_bytes =
      r.rhs.empty() ? 0 : core::size_product(r.n, r.columns, 8, "right-hand sides");
  require_memory(bytes + rhs_bytes);
  require_place(r.out, {r.rhs});
  require_place(r.rhs, {});
  ProgressLine line(!r.quiet,
                    {{Phase::idle, "generating", 0},
                     {Phase::writing, "writing", static_cast<double>(bytes) / kWriteRate}});
  const core::Buffer<double> a(r.n * r.n);
  gallery::fill(view(a.data(), r.n, r.n), recipe, core::default_threads());
  io::write_matrix(r.out, view<const double>(a.data(), r.n, r.n),
                   gallery::is_symmetric(recipe.kind), line.progress());
  if (r.rhs.empty()) return;
  const core::Buffer<double> b(r.n * r.columns);
  for (std::int64_t i = 0; i < b.size(); ++i) {
    b[i] = gallery::noise(gallery::stream(r.seed, 0x62) + static_cast<std::uint64_t>(i));
  }
  io::write_matrix(r.rhs, view<const double>(b.data(), r.n, r.columns), false, line.progress());
}

}  // namespace

void add_gen(Verb app) {
  const Verb verb = app.add_subcommand("gen", "Write a test matrix to a file");
  const auto r = std::make_shared<GenRequest>();
  const Range size(std::int64_t{1}, std::int64_t{1} << 31);
  verb.add_option("kind", r->kind, "Kind of matrix, see below").type_name("KIND").required();
  verb.add_option("--n", r->n, "Order of the matrix, or columns of a tall one")
      .check(Range(std::int64_t{1}, kLargestOrder))
      .required();
  verb.add_option("--m", r->m, "Rows of a tall matrix")
      .check(Range(std::int64_t{1}, std::int64_t{1} << 40));
  add_recipe_options(verb, *r);
  verb.add_option("-o,--out", r->out, "File for the matrix: .npy, .mtx or .mm")
      .type_name("FILE")
      .required();
  verb.add_option("--rhs", r->rhs, "File for random right-hand sides").type_name("FILE");
  verb.add_option("--nrhs", r->columns, "Number of right-hand sides")
      .check(size)
      .capture_default_str();
  verb.add_flag("--quiet", r->quiet, "Show no progress");
  verb.callback([r] { generate(*r); });
  verb.footer(kinds_help() + tall_help() +
              "\nExample:\n  stepwell gen matern --n 4000 --length 0.3 -o A.npy --rhs b.npy");
}

}  // namespace stepwell::tool
