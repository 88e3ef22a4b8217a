// SPDX-License-Identifier: BSD-3-Clause
// The rows of searches: writes each decision or observation with its trial in one transaction, and reads a
// whole search back. Tables search, search_trial, search_decision and search_observation.
// app/search_session.cpp calls it. Rows are only added: `exp verify` computes the decisions again from them.
// Read searches.hpp first.
#include "store/searches.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/json_text.hpp"
#include "base/measures.hpp"
#include "record/best_checkpoint.hpp"

namespace encore::store {

using nlohmann::json;

namespace {

using plan::search::Decision;
using plan::search::DecisionKind;
using plan::search::Observation;
using plan::search::Outcome;

constexpr DecisionKind decision_kinds[] = {DecisionKind::propose, DecisionKind::promote, DecisionKind::prune,
                                           DecisionKind::confirm};
constexpr Outcome outcomes[] = {Outcome::measured, Outcome::complete, Outcome::failed, Outcome::repeated,
                                Outcome::confirmed};

[[noreturn]] void refuse(const SearchRow& row, const std::string& what) {
  throw Error("search " + row.name + ": its rows are damaged: " + what);
}

template <class T, std::size_t N>
T named(const SearchRow& row, const T (&all)[N], const std::string& name) {
  for (const T value : all)
    if (plan::search::name_of(value) == name) return value;
  refuse(row, "there is no \"" + name + "\"");
}

json stored(const SearchRow& row, const std::string& text) {
  try {
    return parse_json(text);
  } catch (const JsonError& error) {
    refuse(row, std::string("a JSON text, at ") + error.what());
  }
}

template <class T>
T as(const SearchRow& row, const json& value) {
  try {
    return value.get<T>();
  } catch (const json::exception& error) {
    refuse(row, error.what());
  }
}

/// Returns the number as JSON; as text if it is not finite, because JSON has no NaN.
json number_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double number_from(const SearchRow& row, const json& value) {
  if (!value.is_string()) return as<double>(row, value);
  const std::string word = value.get<std::string>();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return word == "inf" ? infinity : word == "-inf" ? -infinity : std::numeric_limits<double>::quiet_NaN();
}

json limits_json(const plan::search::SearchLimits& limits) {
  json written = {{"trials", limits.trials}, {"patience", limits.patience}, {"hours", limits.hours}};
  if (limits.confirm > 0) {
    written["confirm"] = limits.confirm;
    written["confirm_seeds"] = limits.confirm_seeds;
  }
  return written;
}

plan::search::SearchLimits limits_from(const SearchRow& row, const json& limits) {
  if (!limits.is_object()) refuse(row, "limits of a decision");
  const auto member = [&](const char* name, int otherwise = 0) {
    return limits.contains(name) ? limits.at(name) : json(otherwise);
  };
  return {.trials = as<std::int64_t>(row, member("trials")),
          .patience = as<std::int64_t>(row, member("patience")),
          .hours = as<double>(row, member("hours")),
          .confirm = as<std::int64_t>(row, member("confirm")),
          .confirm_seeds = as<std::int64_t>(row, member("confirm_seeds", 5))};
}

std::vector<SearchRow> rows_where(Store& store, const std::string& condition, const std::string& first,
                                  const std::string& second) {
  Statement& rows = store.database().cached(
      "SELECT number, name, identity, backend, settings, space, created, sweep FROM search WHERE " +
      condition + " ORDER BY number DESC");
  rows.with(first, second);
  std::vector<SearchRow> list;
  while (rows.step()) {
    SearchRow& row = list.emplace_back();
    row.number = rows.integer(0);
    row.name = rows.text(1);
    row.identity = rows.text(2);
    row.backend = rows.text(3);
    row.settings = stored(row, rows.text(4));
    row.space = stored(row, rows.text(5));
    row.created = rows.number(6);
    row.sweep = rows.integer(7);
  }
  rows.reset();
  return list;
}

void read_trials(Store& store, const SearchRow& row, SearchRecord& record) {
  Statement& rows = store.database().cached(
      "SELECT number, point, active, problem, excluded FROM search_trial WHERE search = ? ORDER BY number");
  rows.with(row.number);
  while (rows.step()) {
    if (rows.integer(0) != static_cast<std::int64_t>(record.trials.size()))
      refuse(row, "trial " + std::to_string(record.trials.size()) + " is missing");
    plan::search::Trial trial{as<plan::search::Point>(row, stored(row, rows.text(1))),
                              as<std::vector<bool>>(row, stored(row, rows.text(2)))};
    if (trial.point.size() != row.space.size() || trial.active.size() != row.space.size())
      refuse(row, "trial " + std::to_string(record.trials.size()) + " is not a point of the space");
    for (std::size_t i = 0; i < trial.point.size(); ++i) {
      const json& variable = row.space[i];
      const bool fits =
          !variable.contains("values") ||
          (trial.point[i] >= 0.0 && trial.point[i] < static_cast<double>(variable.at("values").size()));
      if (!fits)
        refuse(row, "trial " + std::to_string(record.trials.size()) + " has a value that is not a choice");
    }
    record.history.trials.push_back(std::move(trial));
    record.trials.push_back({.problem = rows.text(3), .runs = {}, .excluded = rows.integer(4) != 0});
  }
  rows.reset();
  Statement& runs = store.database().cached(
      "SELECT trial, run, confirms FROM search_run JOIN run ON run.number = run WHERE search = ? "
      "ORDER BY trial, seed, run");
  runs.with(row.number);
  while (runs.step()) {
    TrialRow& trial = record.trials.at(static_cast<std::size_t>(runs.integer(0)));
    (runs.integer(2) != 0 ? trial.confirmations : trial.runs).push_back(runs.integer(1));
  }
  runs.reset();
}

std::size_t known_trial(const SearchRow& row, std::int64_t trial, const SearchRecord& record) {
  if (trial < 0 || static_cast<std::size_t>(trial) >= record.trials.size())
    refuse(row, "there is no trial " + std::to_string(trial));
  return static_cast<std::size_t>(trial);
}

void read_decisions(Store& store, const SearchRow& row, SearchRecord& record) {
  Statement& rows = store.database().cached(
      "SELECT kind, trial, epochs, observations, limits, time FROM search_decision WHERE search = ? ORDER BY "
      "number");
  rows.with(row.number);
  while (rows.step()) {
    Decision decision;
    decision.kind = named(row, decision_kinds, rows.text(0));
    decision.trial = known_trial(row, rows.integer(1), record);
    decision.epochs = rows.integer(2);
    decision.observations = static_cast<std::size_t>(std::max<std::int64_t>(rows.integer(3), 0));
    decision.limits = limits_from(row, stored(row, rows.text(4)));
    if (decision.kind == DecisionKind::propose) decision.point = record.history.trials[decision.trial].point;
    record.history.decisions.push_back(std::move(decision));
    record.decided.push_back(rows.number(5));
  }
  rows.reset();
}

void read_observations(Store& store, const SearchRow& row, SearchRecord& record) {
  Statement& rows = store.database().cached(
      "SELECT trial, epochs, outcome, scores, seconds, reason, time FROM search_observation WHERE search "
      "= ? "
      "ORDER BY number");
  rows.with(row.number);
  while (rows.step()) {
    Observation observation;
    observation.trial = known_trial(row, rows.integer(0), record);
    observation.epochs = rows.integer(1);
    observation.outcome = named(row, outcomes, rows.text(2));
    for (const json& value : stored(row, rows.text(3))) observation.values.push_back(number_from(row, value));
    const bool scored = observation.outcome != Outcome::failed && observation.outcome != Outcome::repeated;
    if (scored && observation.values.size() != row.settings.at("objectives").size())
      refuse(row, "an observation of trial " + std::to_string(observation.trial) + " lacks values");
    observation.seconds = rows.number(4);
    record.history.observations.push_back(std::move(observation));
    record.notes.push_back({rows.text(5), rows.number(6)});
  }
  rows.reset();
}

std::string free_search_name(Database& database, const std::string& wanted) {
  Statement& taken = database.cached("SELECT 1 FROM search WHERE name = ?");
  std::string name = wanted;
  for (int number = 2; taken.with(name).step(); ++number) name = wanted + "-" + std::to_string(number);
  taken.reset();
  return name;
}

std::optional<SearchRow> first_of(std::vector<SearchRow> rows) {
  return rows.empty() ? std::nullopt : std::optional(std::move(rows.front()));
}

}  // namespace

std::optional<SearchRow> find_search(Store& store, const std::string& identity, const std::string& backend) {
  return first_of(rows_where(store, "identity = ? AND backend = ?", identity, backend));
}

std::optional<SearchRow> find_search_called(Store& store, const std::string& name) {
  return first_of(rows_where(store, "name = ? AND name = ?", name, name));
}

std::vector<SearchRow> list_searches(Store& store) {
  return rows_where(store, "? = ?", "", "");
}

std::set<std::int64_t> runs_of_searches(Store& store) {
  Statement& rows = store.database().cached("SELECT DISTINCT run FROM search_run");
  std::set<std::int64_t> runs;
  rows.with();
  while (rows.step()) runs.insert(rows.integer(0));
  rows.reset();
  return runs;
}

std::map<std::int64_t, std::string> choosers_of_runs(Store& store) {
  Statement& rows = store.database().cached(
      "SELECT run, coalesce(min(CASE WHEN confirms = 0 THEN search.name END), '') FROM search_run "
      "JOIN search ON search.number = search_run.search GROUP BY run");
  std::map<std::int64_t, std::string> choosers;
  rows.with();
  while (rows.step()) choosers[rows.integer(0)] = rows.text(1);
  rows.reset();
  return choosers;
}

void add_search(Store& store, SearchRow& row) {
  Database& database = store.database();
  Transaction transaction(database);
  row.name = free_search_name(database, row.name);
  row.created = world::now_seconds();
  database
      .cached(
          "INSERT INTO search (name, sweep, identity, backend, settings, space, created) VALUES (?, ?, ?, ?, "
          "?, "
          "?, ?)")
      .run(row.name, row.sweep, row.identity, row.backend, row.settings.dump(), row.space.dump(),
           row.created);
  row.number = database.last_row();
  transaction.commit();
}

SearchRecord read_search(Store& store, const SearchRow& row) {
  SearchRecord record;
  if (!row.space.is_array() || !row.settings.is_object() || !row.settings.contains("objectives"))
    refuse(row, "settings and space");
  read_trials(store, row, record);
  read_decisions(store, row, record);
  read_observations(store, row, record);
  return record;
}

void add_decision(Store& store, std::int64_t search, const SearchRecord& record,
                  const plan::search::Decision& decision, const plan::search::Trial& trial,
                  const TrialRow& row) {
  Database& database = store.database();
  Transaction transaction(database);
  const std::int64_t number = static_cast<std::int64_t>(decision.trial);
  const auto add_runs = [&](const std::vector<std::int64_t>& runs, std::int64_t confirms) {
    // A later confirmation may have more fresh seeds; the runs of the earlier seeds have rows already.
    for (const std::int64_t run : runs)
      database
          .cached(
              "INSERT INTO search_run (search, trial, run, confirms) VALUES (?, ?, ?, ?) ON CONFLICT DO "
              "NOTHING")
          .run(search, number, run, confirms);
  };
  if (decision.kind == DecisionKind::propose) {
    database
        .cached(
            "INSERT INTO search_trial (search, number, point, active, problem, excluded) VALUES (?, ?, ?, ?, "
            "?, ?)")
        .run(search, number, json(trial.point).dump(), json(trial.active).dump(), row.problem,
             row.excluded ? 1 : 0);
    add_runs(row.runs, 0);
  }
  add_runs(row.confirmations, 1);
  // The number of the decision is the key, so of two processes with one search only one can add it.
  database
      .cached(
          "INSERT INTO search_decision (search, number, kind, trial, epochs, observations, limits, time) "
          "VALUES "
          "(?, ?, ?, ?, ?, ?, ?, ?)")
      .run(search, static_cast<std::int64_t>(record.history.decisions.size()) + 1,
           plan::search::name_of(decision.kind), number, decision.epochs,
           static_cast<std::int64_t>(decision.observations), limits_json(decision.limits).dump(),
           world::now_seconds());
  transaction.commit();
}

void add_observation(Store& store, std::int64_t search, const SearchRecord& record,
                     const plan::search::Observation& observation, const std::string& reason) {
  json values = json::array();
  for (const double value : observation.values) values.push_back(number_json(value));
  Transaction transaction(store.database());
  store.database()
      .cached(
          "INSERT INTO search_observation (search, number, trial, epochs, outcome, scores, seconds, "
          "reason, "
          "time) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .run(search, static_cast<std::int64_t>(record.history.observations.size()) + 1,
           static_cast<std::int64_t>(observation.trial), observation.epochs,
           plan::search::name_of(observation.outcome), values.dump(), observation.seconds, reason,
           world::now_seconds());
  transaction.commit();
}

std::optional<std::size_t> trial_of(const SearchRecord& record, std::int64_t run) {
  for (std::size_t trial = 0; trial < record.trials.size(); ++trial)
    if (std::ranges::find(record.trials[trial].runs, run) != record.trials[trial].runs.end()) return trial;
  return std::nullopt;
}

double value_at(Store& store, std::int64_t run, const std::string& select, const std::string& metric,
                std::int64_t step) {
  const bool maximize = select.starts_with("max ");
  const std::string selecting = select.substr(std::min<std::size_t>(4, select.size()));
  std::map<std::int64_t, record::DevScore> scores;  // keyed by step
  for (const CurvePoint& point : store.read_curve(run, "dev/" + loss_measure().name))
    if (point.step <= step) scores[point.step].loss = point.value;
  for (const CurvePoint& point : store.read_curve(run, selecting))
    if (point.step <= step && std::isfinite(point.value)) scores[point.step].value = point.value;
  record::Progress progress;
  for (auto& [at, score] : scores) {
    score.step = at;
    record::take_score(progress, score, maximize, record::Ties::loss);
  }
  for (const CurvePoint& point : store.read_curve(run, metric))
    if (point.step == progress.best_step) return point.value;
  return std::numeric_limits<double>::quiet_NaN();
}

double seconds_of(Store& store, const std::vector<std::int64_t>& runs) {
  double seconds = 0.0;
  for (const std::int64_t run : runs)
    for (const AttemptRow& attempt : store.read_attempts(run))
      if (attempt.finished) seconds += std::max(*attempt.finished - attempt.started, 0.0);
  return seconds;
}

}  // namespace encore::store
