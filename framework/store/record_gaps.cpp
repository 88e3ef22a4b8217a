// SPDX-License-Identifier: BSD-3-Clause
// find_record_gaps(): reads the damage events that merges have stored, and finds steps without a loss. `exp
// run`, `exp show` and `exp db check` print the result, which is not stored. Read record_gaps.hpp first.
#include "store/record_gaps.hpp"

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "store/merge.hpp"

namespace encore::store {

namespace {

/// Returns whether a later attempt began at or before `from_step`, the first step that may be missing. If an
/// attempt had nothing left to train, its event Ended has its last step.
bool recorded_again(Database& database, std::int64_t run, std::int64_t attempt, std::int64_t from_step) {
  Statement& later = database.cached(
      "SELECT 1 FROM attempt WHERE run = ?1 AND number > ?2 AND coalesce(first_step, "
      "(SELECT max(body ->> 'step') + 1 FROM event WHERE event.attempt = attempt.number "
      "AND type = ?4)) <= ?3");
  const bool found = later.with(run, attempt, from_step, record::Ended::type).step();
  later.reset();
  return found;
}

void add_damages(Store& store, const RunRow& run, std::vector<RecordGap>& gaps) {
  struct Damage {
    std::int64_t attempt;
    nlohmann::json body;
  };
  std::vector<Damage> damages;
  Statement& events = store.database().cached(
      "SELECT attempt, body FROM event JOIN attempt ON attempt.number = event.attempt WHERE attempt.run = ? "
      "AND sequence <= 0 AND type = ? ORDER BY attempt, sequence DESC");
  events.with(run.number, spool_damage_event);
  while (events.step()) damages.push_back({events.integer(0), json_or_null(events.text(1))});
  events.reset();
  for (const Damage& damage : damages) {
    if (!damage.body.is_object()) continue;
    const nlohmann::json records = damage.body.value("records", nlohmann::json());
    const bool empty = records.is_number_integer() && records.get<std::int64_t>() == 0;
    const std::int64_t from_step = damage.body.value("from_step", std::int64_t{0});
    const bool lost = !empty && !recorded_again(store.database(), run.number, damage.attempt, from_step);
    gaps.push_back(
        {damage.body.value("text", "") + (lost ? ", of step " + std::to_string(from_step) + " or later" : ""),
         lost});
  }
}

/// Adds the steps that have no loss: each trained step must have one.
void add_missing_steps(Store& store, const RunRow& run, std::vector<RecordGap>& gaps) {
  Statement& missing = store.database().cached(
      "WITH told AS (SELECT step FROM current_point WHERE run = ?1 AND metric = (SELECT number FROM metric "
      "WHERE name = 'train/loss') UNION ALL SELECT max(body ->> 'step') + 1 FROM event JOIN attempt "
      "ON attempt.number = event.attempt WHERE attempt.run = ?1 AND type = ?2 AND body ->> 'state' = ?3), "
      "pair AS (SELECT coalesce(lag(step) OVER (ORDER BY step), 0) + 1 AS first, step - 1 AS last FROM told "
      "WHERE step IS NOT NULL) "
      "SELECT first, last FROM pair WHERE first <= last ORDER BY first");
  std::string ranges;
  std::int64_t steps = 0;
  missing.with(run.number, record::Ended::type, record::name_of(record::Ending::completed));
  while (missing.step()) {
    const std::int64_t first = missing.integer(0), last = missing.integer(1);
    ranges += (ranges.empty() ? "" : ", ") + std::to_string(first) +
              (last > first ? " to " + std::to_string(last) : "");
    steps += last - first + 1;
  }
  missing.reset();
  if (steps == 0) return;
  gaps.push_back(
      {"there is no train/loss of " + std::to_string(steps) + (steps == 1 ? " step: " : " steps: ") + ranges,
       true});
}

}  // namespace

std::vector<RecordGap> find_record_gaps(Store& store, const RunRow& run) {
  std::vector<RecordGap> gaps;
  const bool is_complete = run.state == RunState::completed;
  if (is_complete && run.attempts < 2) return gaps;  // an attempt with a damaged spool completes no run
  add_damages(store, run, gaps);
  if (is_complete) add_missing_steps(store, run, gaps);
  return gaps;
}

}  // namespace encore::store
