// SPDX-License-Identifier: BSD-3-Clause
// rung_step() and ends_by(): convert the length of a rung (the number of epochs after which a search compares
// its trials) to a step, for search_session.cpp. The database has only steps: an epoch ends where dev was
// scored and the parameters were digested. Epochs have nearly equal numbers of steps (they vary with
// train.batch_tokens), so the epoch end that is nearest to its share of all steps is taken. The step decides
// which score a search sees: a changed rule makes stored searches continue differently. Read next:
// search_session.hpp.
#include "app/search_session.hpp"

#include <cmath>
#include <cstdlib>
#include <set>

#include "config/selection.hpp"

namespace encore::app {

namespace {

std::set<std::int64_t> scored_steps(store::Store& store, std::int64_t run, const std::string& select) {
  std::set<std::int64_t> steps;
  for (const store::CurvePoint& point : store.read_curve(run, config::parse_selection(select).metric))
    steps.insert(point.step);
  return steps;
}

std::set<std::int64_t> digested_steps(store::Store& store, std::int64_t run) {
  store::Statement& rows = store.database().cached(
      "SELECT DISTINCT step FROM current_digest WHERE run = ? AND scope = 'parameters'");
  rows.with(run);
  std::set<std::int64_t> steps;
  while (rows.step()) steps.insert(rows.integer(0));
  rows.reset();
  return steps;
}

}  // namespace

std::int64_t rung_step(store::Store& store, const store::RunRow& run,
                       const plan::search::SearchOptions& options, const std::string& select,
                       std::int64_t length) {
  if (options.unit == plan::search::LengthUnit::steps) return length;
  std::set<std::int64_t> ends = digested_steps(store, run.number);
  const std::set<std::int64_t> scored = scored_steps(store, run.number, select);
  std::erase_if(ends, [&](std::int64_t step) { return !scored.contains(step); });
  if (ends.empty()) return 0;
  const std::int64_t all = run.progress ? run.progress->total_steps : *ends.rbegin();
  const auto expected = static_cast<std::int64_t>(std::llround(
      static_cast<double>(all) * static_cast<double>(length) / static_cast<double>(options.epochs)));
  std::int64_t nearest = *ends.begin();
  for (const std::int64_t end : ends)
    if (std::abs(end - expected) < std::abs(nearest - expected)) nearest = end;
  return nearest;
}

bool ends_by(store::Store& store, const store::RunRow& run, const plan::search::SearchOptions& options,
             const std::string& select, std::int64_t length) {
  if (run.state != store::RunState::completed) return false;
  if (length >= options.epochs) return true;
  const std::set<std::int64_t> scored = scored_steps(store, run.number, select);
  return scored.empty() || *scored.rbegin() <= rung_step(store, run, options, select, length);
}

}  // namespace encore::app
