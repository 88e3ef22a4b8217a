// SPDX-License-Identifier: BSD-3-Clause
// RunBatch: the queries of queries.cpp for many runs at once. It passes the row numbers of all runs as one
// JSON array and groups the rows by run. report/ and analysis/factors.hpp call it. A query that changes here
// changes in queries.cpp too. Read run_batch.hpp first.
#include "store/run_batch.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "base/json_text.hpp"
#include "store/metrics.hpp"
#include "store/rows.hpp"

namespace encore::store {

namespace {

/// SQL condition on the number of a run; ?1 is bound to the JSON array of numbers.
constexpr const char* chosen = "IN (SELECT value FROM json_each(?1))";

/// Returns the rows of the statement as values that `make` returns, grouped by the number in the first
/// column.
template <class Make>
auto by_run(Statement& rows, const Make& make) {
  RunBatch::ByRun<decltype(make(rows))> found;
  while (rows.step()) found[rows.integer(0)].push_back(make(rows));
  rows.reset();
  return found;
}

std::string text_of(const nlohmann::json& json) {
  return json.is_string() ? json.get<std::string>() : std::string();
}

void add_files(const nlohmann::json& list, std::vector<std::pair<std::string, std::string>>& files) {
  for (const nlohmann::json& file : list)
    if (file.is_object())
      files.emplace_back(text_of(file.value("file", nlohmann::json())),
                         text_of(file.value("content", nlohmann::json())));
}

/// Reads the context of a sweep. Skips members that do not have the form that schema.sql describes.
void add_context(const nlohmann::json& context, SweepRow& sweep) {
  if (!context.is_object()) return;
  add_files(context.value("bases", nlohmann::json()), sweep.bases);
  add_files(context.value("parents", nlohmann::json()), sweep.parents);
  for (const nlohmann::json& set : context.value("overrides", nlohmann::json::array()))
    if (set.is_string()) sweep.overrides.push_back(set.get<std::string>());
  for (const nlohmann::json& axis : context.value("grid", nlohmann::json::array()))
    if (axis.is_string()) sweep.grid.push_back(axis.get<std::string>());
  sweep.seeds = text_of(context.value("seeds", nlohmann::json()));
}

}  // namespace

RunBatch::RunBatch(Store& store, const std::vector<RunRow>& runs) : store_(store), runs_(runs) {
  all_ = numbers_json(runs_);
}

Statement& RunBatch::ask(const std::string& before, const std::string& after) {
  return store_.database().cached(before + chosen + after).with(all_);
}

RunBatch::ByRun<ParamRow> RunBatch::params() {
  return by_run(ask("SELECT run, key, type, value, source, at FROM param WHERE run ", " ORDER BY run, key"),
                [](Statement& row) { return param_row(row, 1); });
}

RunBatch::ByRun<DatasetRow> RunBatch::datasets() {
  return by_run(ask("SELECT run, role, path, sha256 FROM run_dataset "
                    "JOIN dataset ON dataset.number = dataset WHERE run ",
                    " ORDER BY run, role"),
                [](Statement& row) {
                  return DatasetRow{row.text(1), row.text(2), row.text(3)};
                });
}

RunBatch::ByRun<AttemptRow> RunBatch::attempts() {
  const std::map<std::int64_t, std::vector<PluginRow>> plugins =
      by_run(ask("SELECT attempt, plugin.name, version, sha256, fingerprint FROM attempt_plugin "
                 "JOIN plugin ON plugin.number = plugin JOIN attempt ON attempt.number = attempt "
                 "WHERE attempt.run ",
                 " ORDER BY attempt, plugin.name, sha256"),
             [](Statement& row) {
               return PluginRow{row.text(1), row.text(2), row.text(3), row.text(4)};
             });
  ByRun<AttemptRow> found;
  Statement& rows = ask(std::string("SELECT ") + attempt_columns + ", run " + attempt_tables + "WHERE run ",
                        " ORDER BY run, ordinal");
  while (rows.step()) {
    AttemptRow attempt = attempt_row(rows);
    if (const auto own = plugins.find(attempt.number); own != plugins.end()) attempt.plugins = own->second;
    found[rows.integer(attempt_column_count)].push_back(std::move(attempt));
  }
  rows.reset();
  for (const RunRow& run : runs_) {
    const auto own = found.find(run.number);
    if (own == found.end()) continue;
    for (AttemptRow& attempt : own->second)
      if (attempt.state == RunState::running &&
          (run.state != RunState::running || &attempt != &own->second.back()))
        attempt.state = RunState::lost;
  }
  return found;
}

RunBatch::ByRun<ArtifactRow> RunBatch::artifacts() {
  return by_run(ask("SELECT run, name, path, sha256 FROM artifact AS a WHERE run ",
                    " AND attempt = (SELECT max(attempt) FROM artifact WHERE run = a.run AND name = a.name) "
                    "ORDER BY run, name"),
                [](Statement& row) {
                  return ArtifactRow{row.text(1), row.text(2), row.text(3)};
                });
}

RunBatch::ByRun<VerificationRow> RunBatch::verifications() {
  return by_run(ask(std::string("SELECT run, ") + verification_columns + verification_tables + "WHERE run ",
                    " ORDER BY run, verification.number"),
                [](Statement& row) { return verification_row(row, 1); });
}

RunBatch::ByRun<DigestRow> RunBatch::last_digests() {
  return by_run(
      ask("SELECT d.run, d.step, d.scope, d.value, attempt.ordinal FROM current_digest AS d "
          "JOIN attempt ON attempt.number = d.attempt WHERE d.run ",
          " AND d.step = (SELECT max(step) FROM digest WHERE digest.run = d.run) ORDER BY d.run, d.scope"),
      [](Statement& row) {
        return DigestRow{row.integer(1), row.text(2), row.text(3), static_cast<int>(row.integer(4))};
      });
}

std::map<std::int64_t, std::int64_t> RunBatch::digest_counts() {
  Statement& rows = ask("SELECT run, count(*) FROM current_digest WHERE run ", " GROUP BY run");
  std::map<std::int64_t, std::int64_t> counts;
  while (rows.step()) counts[rows.integer(0)] = rows.integer(1);
  rows.reset();
  return counts;
}

std::vector<SweepRow> RunBatch::sweeps() {
  Statement& rows = ask(
      "SELECT name, file, content, created, context FROM sweep WHERE number IN (SELECT sweep FROM run WHERE "
      "number ",
      ") ORDER BY name, created, file, content, context");
  std::vector<SweepRow> found;
  while (rows.step()) {
    found.push_back({rows.text(0), rows.text(1), rows.text(2), rows.number(3)});
    add_context(json_or_null(rows.text(4)), found.back());
  }
  rows.reset();
  return found;
}

std::size_t RunBatch::runs_beside(const std::vector<SweepRow>& sweeps) {
  nlohmann::json names = nlohmann::json::array();
  for (const SweepRow& sweep : sweeps) names.push_back(sweep.name);
  Statement& count = store_.database().cached(
      "SELECT count(*) FROM run WHERE NOT run.number " + std::string(chosen) + " AND " +
      in_sweeps("SELECT value FROM json_each(?2)") + " AND " + condition_of(Sight::present));
  count.with(all_, names.dump());
  const std::int64_t beside = count.step() ? count.integer(0) : 0;
  count.reset();
  return static_cast<std::size_t>(beside);
}

std::vector<Metric> RunBatch::metrics() {
  const Metrics known = read_metrics(store_.database(), runs_);
  Statement& rows = store_.database().cached(
      "SELECT name FROM metric WHERE number IN (SELECT metric FROM newest WHERE run IN (SELECT value FROM "
      "json_each(?1))) ORDER BY name");
  rows.with(all_);
  std::vector<Metric> found;
  while (rows.step()) found.push_back(known.of(rows.text(0)));
  rows.reset();
  return found;
}

/// Returns the numbers of the runs with several attempts, or with one. If a run has one attempt, every point
/// counts, so the points need not be checked one by one.
std::string RunBatch::numbers(bool several_attempts) const {
  nlohmann::json list = nlohmann::json::array();
  for (const RunRow& run : runs_)
    if ((run.attempts > 1) == several_attempts) list.push_back(run.number);
  return list.dump();
}

BinnedCurves RunBatch::curves(const std::string& metric, std::int64_t most) {
  ENCORE_REQUIRE(most > 0, "at least one bin");
  BinnedCurves curves;
  const std::string condition =
      std::string(" WHERE run ") + chosen + " AND metric = (SELECT number FROM metric WHERE name = ?2)";
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0, longest = 0;
  // The range includes points that a later attempt overruled. That is harmless: it only places the bins.
  Statement& range = store_.database().cached("SELECT min(step), max(step), count(*) FROM point" + condition +
                                              " GROUP BY run");
  range.with(all_, metric);
  while (range.step()) {
    first = std::min(first, range.integer(0));
    last = std::max(last, range.integer(1));
    longest = std::max(longest, range.integer(2));
  }
  range.reset();
  if (longest == 0) return curves;
  curves.first = first;
  // The difference is computed unsigned, because a modified database may hold any steps.
  const std::uint64_t span = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
  if (longest > most) curves.width = static_cast<std::int64_t>(span / static_cast<std::uint64_t>(most)) + 1;
  for (const bool several : {false, true}) {
    Statement& rows = store_.database().cached(
        "SELECT run, (step - ?3) / ?4 AS bin, avg(value), sum(special IS NOT NULL), count(*) FROM " +
        std::string(several ? "current_point" : "point") + condition +
        " GROUP BY run, bin ORDER BY run, bin");
    rows.with(numbers(several), metric, curves.first, curves.width);
    while (rows.step())
      curves.runs[rows.integer(0)].push_back(
          {rows.integer(1), rows.integer(3) > 0 ? std::numeric_limits<double>::quiet_NaN() : rows.number(2),
           rows.integer(4)});
    rows.reset();
  }
  return curves;
}

}  // namespace encore::store
