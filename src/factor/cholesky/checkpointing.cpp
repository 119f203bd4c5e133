// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/cholesky/checkpointing.hpp"
#include "core/clock.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/buffer.hpp"
#include "core/log.hpp"
#include "core/numeric/checksum.hpp"
#include "factor/setup.hpp"
#include "kernels/blas/blas.hpp"
#include "kernels/table.hpp"
#include "stepwell/error.hpp"

namespace stepwell::factor {
namespace {

using tiles::Milestone;

/// Maximum number of generations that a run considers: two are kept, and one more may have been in
/// progress.
constexpr std::size_t kMostCandidates = 4;

template <class T>
void broadcast(const ProcessContext& process, std::span<T> x) {
  if (!process.alone()) process.ranks()->broadcast(std::as_writable_bytes(x), 0);
}

void largest(const ProcessContext& process, std::span<std::int64_t> x) {
  if (!process.alone()) process.ranks()->largest(x);
}

void barrier(const ProcessContext& process) {
  if (!process.alone()) process.ranks()->barrier();
}

/// Fraction of the flops that are done when so many of the block columns are finished and have been
/// subtracted from all columns to the right of them.
double fraction_done(std::int64_t columns, std::int64_t of) {
  const double left = static_cast<double>(of - columns) / static_cast<double>(of);
  return 1 - left * left * left;
}

std::int64_t bytes_of(const std::vector<tiles::SavedPiece>& pieces) {
  std::int64_t sum = 0;
  for (const tiles::SavedPiece& p : pieces) sum += std::ssize(p.memory);
  return sum;
}

}  // namespace

Checkpointing::Checkpointing(const ProcessContext& process, std::string directory,
                             double fraction_of_work, std::string matrix)
    : process_(process),
      directory_(std::move(directory)),
      fraction_of_work_(fraction_of_work),
      matrix_(std::move(matrix)) {
  if (!(fraction_of_work > 0 && fraction_of_work <= 1)) {
    throw Error(ErrorCode::invalid_argument,
                "checkpoint: the fraction of the work must lie in (0, 1]");
  }
}

std::string Checkpointing::identity(const BlockSource& source, const tiles::Grid& grid,
                                    const Diagonal& diagonal) const {
  const std::int64_t last = grid.tiles() - 1;
  const std::array<std::pair<std::int64_t, std::int64_t>, 3> places = {
      std::pair{last, std::int64_t{0}}, {last, last / 2}, {(last + 1) / 2, last / 4}};
  std::array<std::int64_t, 3> sums{};
  sums.fill(std::numeric_limits<std::int64_t>::min());
  process_.together([&] {
    const core::Buffer<double> scratch(grid.tile * grid.tile);
    for (std::size_t k = 0; k < places.size() && last >= 0; ++k) {
      const auto [i, j] = places[k];
      if (!process_.owns(i, j)) continue;
      const auto tile =
          source.block({i * grid.tile, j * grid.tile, grid.size(i), grid.size(j)}, scratch.data());
      core::Checksum sum;
      for (std::int64_t c = 0; c < tile.cols; ++c) {
        const std::int64_t above = i == j ? c : 0;  // elements above the diagonal are undefined
        sum.add(std::as_bytes(
            std::span(tile.column(c) + above, static_cast<std::size_t>(tile.rows - above))));
      }
      sums[k] = static_cast<std::int64_t>(sum.value());
    }
  });
  largest(process_, sums);
  core::Checksum all;
  all.add(std::as_bytes(std::span(sums)));
  all.add(std::as_bytes(std::span(diagonal.value)));
  all.add(matrix_);
  return std::to_string(all.value());
}

std::optional<kernels::Pivot> Checkpointing::begin(const tiles::Facts& facts,
                                                   const Schedule& schedule) {
  schedule_ = schedule;
  saved_ = generation_ = previous_ = 0;
  report_ = {};
  attempts_.emplace_back(directory_, process_.rank(), process_.distribution().ranks(), facts);
  const tiles::Checkpoints& files = attempts_.back();
  std::string difference;
  std::optional<kernels::Pivot> verdict;
  std::array<std::int64_t, 2> found{};  // [0]: there is a verdict; [1]: largest generation
  process_.together([&] {
    files.open();
    found[1] = files.newest();
    if (process_.rank() != 0) return;
    difference = files.difference_to_others();
    verdict.emplace();
    if (!files.read_verdict(std::as_writable_bytes(std::span(&*verdict, 1)))) verdict.reset();
    found[0] = verdict ? 1 : 0;
  });
  if (!difference.empty() && attempts_.size() == 1) {
    core::warn_once("checkpoint in '" + directory_ + "' " + difference + "; it is ignored");
  }
  largest(process_, found);
  generation_ = found[1];
  if (found[0] == 0) return std::nullopt;
  if (!verdict) verdict.emplace();
  broadcast(process_, std::span(&*verdict, 1));
  return verdict;
}

/// The generations that rank 0 has declared complete, newest first.
std::vector<Milestone> Checkpointing::candidates() const {
  std::vector<Milestone> found;
  process_.together([&] {
    if (process_.rank() == 0) found = attempts_.back().complete();
  });
  std::erase_if(found, [&](const Milestone& m) {
    const bool all = m.columns == schedule_.grid.tiles();
    return m.columns < 1 || (m.columns % schedule_.window != 0 && !all);
  });
  std::int64_t count = std::min(std::ssize(found), static_cast<std::ptrdiff_t>(kMostCandidates));
  broadcast(process_, std::span(&count, 1));
  found.resize(static_cast<std::size_t>(count));
  broadcast(process_, std::span(found));
  return found;
}

/// Waits for the graph, after which the communicator is free. Returns false if a rank has stopped.
bool Checkpointing::rest(engine::Graph& graph) const {
  process_.together([&] { graph.wait(); });
  return !process_.any(graph.stopped());
}

std::int64_t Checkpointing::restore(engine::Graph& graph, const State& state) {
  if (!rest(graph)) return 0;
  const tiles::Checkpoints& files = attempts_.back();
  for (const Milestone& m : candidates()) {
    std::vector<tiles::SavedPiece> pieces;
    std::string wrong;
    process_.together([&] {
      pieces = state(m.columns);
      wrong = files.verify(m, pieces);
    });
    if (!wrong.empty()) core::warn_once("checkpoint '" + files.path(m.generation) + "' " + wrong);
    if (process_.any(!wrong.empty())) continue;
    process_.together([&] { files.read(m, pieces); });
    report_.resumed = saved_ = m.columns;
    core::log("checkpoint: " + std::to_string(m.columns) + " of " +
              std::to_string(schedule_.grid.tiles()) + " block columns restored from '" +
              files.path(m.generation) + "'");
    previous_ = m.generation;
    break;
  }
  graph.go_on();
  return saved_;
}

bool Checkpointing::due(std::int64_t columns) const {
  const std::int64_t all = schedule_.grid.tiles();
  return columns == all ||
         fraction_done(columns, all) - fraction_done(saved_, all) >= fraction_of_work_;
}

bool Checkpointing::save(engine::Graph& graph, std::int64_t columns, const State& state) {
  if (!rest(graph)) return false;
  const auto start = core::Clock::now();
  const tiles::Checkpoints& files = attempts_.back();
  const Milestone milestone{generation_ + 1, columns};
  process_.together([&] {
    const std::vector<tiles::SavedPiece> pieces = state(columns);
    files.write(milestone, pieces);
    report_.bytes = bytes_of(pieces);
  });
  process_.together([&] {
    if (process_.rank() == 0) files.declare_complete(milestone);
  });
  files.remove_before(previous_);
  previous_ = ++generation_;
  saved_ = columns;
  ++report_.written;
  const double seconds = core::seconds_since(start);
  report_.seconds += seconds;
  core::log("checkpoint: " + std::to_string(columns) + " of " +
            std::to_string(schedule_.grid.tiles()) + " block columns, " +
            std::to_string(report_.bytes) + " bytes of this rank in " + std::to_string(seconds) +
            " s");
  graph.go_on();
  return true;
}

void Checkpointing::failed(kernels::Pivot pivot) {
  const tiles::Checkpoints& files = attempts_.back();
  process_.together([&] {
    if (process_.rank() == 0) files.write_verdict(std::as_writable_bytes(std::span(&pivot, 1)));
  });
  files.remove(false);
}

void Checkpointing::remove() noexcept {
  barrier(process_);
  for (const tiles::Checkpoints& files : attempts_) files.remove(true);
  attempts_.clear();
}

std::string kernels_in_use() {
  const kernels::Table& t = kernels::table();
  std::string text;
  for (const auto& update : t.update) text += std::string(update.name) + " ";
  for (const char* name : {t.pack_fp32.name, t.pack_fp64.name, t.potrf_fp32.name, t.trsm_fp32.name,
                           t.potrf_fp64.name, t.trsm_fp64.name, t.load.name}) {
    text += std::string(name) + " ";
  }
  const BlasIdentity blas = kernels::blas_identity();
  return text + blas.library + " " + blas.version + " " + blas.core_name;
}

}  // namespace stepwell::factor
