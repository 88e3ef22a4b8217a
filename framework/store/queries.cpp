// SPDX-License-Identifier: BSD-3-Clause
// The members of Store that read one run: its settings, attempts, curves, events, verifications and digests,
// for `exp show`, `exp logs` and reports. run_batch.cpp asks the same for many runs. Except
// add_verification(), these functions only read, so they may be called without a lease. Read store.hpp first.
#include <sqlite3.h>

#include <algorithm>
#include <limits>

#include "base/json_text.hpp"
#include "record/run_paths.hpp"
#include "store/metrics.hpp"
#include "store/rows.hpp"

namespace encore::store {

namespace {

double value_of(const Statement& row, int value_column, int special_column) {
  if (!row.is_null(value_column)) return row.number(value_column);
  const std::string special = row.text(special_column);
  if (special == "inf") return std::numeric_limits<double>::infinity();
  if (special == "-inf") return -std::numeric_limits<double>::infinity();
  return std::numeric_limits<double>::quiet_NaN();
}

CurvePoint curve_point(const Statement& row) {
  return {row.integer(0), value_of(row, 1, 2), static_cast<int>(row.integer(3))};
}

/// Calls `take(statement)` for each row and returns the results.
template <class Take>
auto collect(Statement& statement, const Take& take) {
  std::vector<decltype(take(statement))> rows;
  while (statement.step()) rows.push_back(take(statement));
  statement.reset();
  return rows;
}

}  // namespace

std::vector<ParamRow> Store::read_params(std::int64_t run) {
  Statement& rows =
      database_->cached("SELECT key, type, value, source, at FROM param WHERE run = ? ORDER BY key");
  return collect(rows.with(run), [](const Statement& row) { return param_row(row, 0); });
}

std::vector<std::string> Store::read_tags(std::int64_t run) {
  Statement& rows = database_->cached("SELECT tag FROM tag WHERE run = ? ORDER BY tag");
  return collect(rows.with(run), [](const Statement& row) { return row.text(0); });
}

std::vector<DatasetRow> Store::read_datasets(std::int64_t run) {
  Statement& rows = database_->cached(
      "SELECT role, path, sha256 FROM run_dataset JOIN dataset ON dataset.number = dataset WHERE run = ? "
      "ORDER BY role");
  return collect(rows.with(run), [](const Statement& row) {
    return DatasetRow{row.text(0), row.text(1), row.text(2)};
  });
}

std::vector<PluginRow> Store::read_plugins(std::int64_t attempt) {
  Statement& rows = database_->cached(
      "SELECT name, version, sha256, fingerprint FROM attempt_plugin JOIN plugin ON plugin.number = plugin "
      "WHERE attempt = ? ORDER BY name");
  return collect(rows.with(attempt), [](const Statement& row) {
    return PluginRow{row.text(0), row.text(1), row.text(2), row.text(3)};
  });
}

std::optional<TrainedWith> Store::read_trained_with(std::int64_t run) {
  Statement& rows = database_->cached(
      "SELECT attempt.number, build.description FROM attempt LEFT JOIN build ON build.number = build "
      "WHERE run = ? AND started_event IS NOT NULL ORDER BY ordinal DESC LIMIT 1");
  if (!rows.with(run).step()) {
    rows.reset();
    return std::nullopt;
  }
  const std::int64_t attempt = rows.integer(0);
  TrainedWith with{.plugins = {}, .build = json_or_null(rows.text(1))};
  rows.reset();
  with.plugins = read_plugins(attempt);
  return with;
}

std::vector<AttemptRow> Store::read_attempts(std::int64_t run) {
  Statement& rows = database_->cached(std::string("SELECT ") + attempt_columns + attempt_tables +
                                      "WHERE run = ? ORDER BY ordinal");
  std::vector<AttemptRow> attempts = collect(rows.with(run), attempt_row);
  for (AttemptRow& attempt : attempts) {
    attempt.plugins = read_plugins(attempt.number);
    if (is_stale(attempt.number)) attempt.state = RunState::lost;
  }
  return attempts;
}

std::vector<MetricRow> Store::read_metrics(std::int64_t run) {
  Statement& rows = database_->cached(
      "SELECT newest.points, metric.name, (SELECT run_metric.measure FROM run_metric WHERE run_metric.run = "
      "?1 AND run_metric.metric = newest.metric) FROM newest JOIN metric ON metric.number = newest.metric "
      "WHERE newest.run = ?1 ORDER BY metric.name");
  return collect(rows.with(run), [](const Statement& row) {
    return MetricRow{metric_row(row.text(1), row.text(2)), row.integer(0)};
  });
}

std::vector<CurvePoint> Store::read_curve(std::int64_t run, const std::string& metric) {
  Statement& rows = database_->cached(
      "SELECT step, value, special, attempt.ordinal FROM current_point AS p JOIN attempt ON attempt.number = "
      "p.attempt "
      "WHERE p.run = ? AND p.metric = (SELECT number FROM metric WHERE name = ?) ORDER BY step");
  return collect(rows.with(run, metric), curve_point);
}

std::optional<MetricSummary> Store::read_summary(std::int64_t run, const std::string& metric) {
  Statement& rows = database_->cached(
      "SELECT step, value, special, attempt.ordinal, points, least, greatest FROM newest JOIN attempt ON "
      "attempt.number = newest.attempt WHERE newest.run = ? AND newest.metric = (SELECT number FROM metric "
      "WHERE name = ?)");
  const auto found = collect(rows.with(run, metric), [](const Statement& row) {
    return MetricSummary{.newest = curve_point(row),
                         .points = row.integer(4),
                         .least = row.optional_number(5),
                         .greatest = row.optional_number(6)};
  });
  return found.empty() ? std::nullopt : std::optional(found.front());
}

std::optional<CurvePoint> Store::read_latest(std::int64_t run, const std::string& metric) {
  const std::optional<MetricSummary> summary = read_summary(run, metric);
  return summary ? std::optional(summary->newest) : std::nullopt;
}

std::vector<CheckpointRow> Store::read_checkpoints(std::int64_t run) {
  const std::filesystem::path folder = run_folder(read_run(run).id);
  Statement& rows = database_->cached(
      "SELECT step, kind, path, sha256, bytes, attempt.ordinal, created FROM checkpoint "
      "JOIN attempt ON attempt.number = attempt WHERE checkpoint.run = ? ORDER BY step, created");
  return collect(rows.with(run), [&](const Statement& row) {
    CheckpointRow checkpoint{row.integer(0), row.text(1), row.text(2),   row.text(3),
                             row.integer(4), 0,           row.number(6), false};
    checkpoint.attempt = static_cast<int>(row.integer(5));
    checkpoint.on_disk = std::filesystem::exists(record::path_below(folder, checkpoint.path));
    return checkpoint;
  });
}

std::vector<DigestRow> Store::read_digests(std::int64_t run) {
  Statement& rows = database_->cached(
      "SELECT step, scope, value, attempt.ordinal FROM current_digest AS d "
      "JOIN attempt ON attempt.number = d.attempt WHERE d.run = ? ORDER BY step, scope");
  return collect(rows.with(run), [](const Statement& row) {
    return DigestRow{row.integer(0), row.text(1), row.text(2), static_cast<int>(row.integer(3))};
  });
}

std::vector<ArtifactRow> Store::read_artifacts(std::int64_t run) {
  Statement& rows = database_->cached(
      "SELECT name, path, sha256 FROM artifact AS a WHERE run = ?1 AND attempt = (SELECT max(attempt) FROM "
      "artifact "
      "WHERE run = ?1 AND name = a.name) ORDER BY name");
  return collect(rows.with(run), [](const Statement& row) {
    return ArtifactRow{row.text(0), row.text(1), row.text(2)};
  });
}

std::vector<EventRow> Store::read_events(std::int64_t run, const std::string& type) {
  Statement& rows = database_->cached(
      "SELECT attempt.ordinal, sequence, time, type, body FROM event JOIN attempt ON attempt.number = "
      "event.attempt "
      "WHERE attempt.run = ?1 AND (?2 = '' OR type = ?2) ORDER BY attempt.ordinal, sequence");
  return collect(rows.with(run, type), [](const Statement& row) {
    return EventRow{static_cast<int>(row.integer(0)), row.integer(1), row.number(2), row.text(3),
                    json_or_null(row.text(4))};
  });
}

std::vector<VerificationRow> Store::read_verifications(std::int64_t run) {
  Statement& rows = database_->cached(std::string("SELECT ") + verification_columns + verification_tables +
                                      "WHERE run = ? ORDER BY verification.number");
  return collect(rows.with(run), [](const Statement& row) { return verification_row(row, 0); });
}

void Store::add_verification(std::int64_t run, const VerificationRow& verification) {
  Transaction transaction(*database_);
  database_
      ->cached(
          "INSERT INTO verification (run, time, outcome, first_step, scope, details) VALUES (?, ?, ?, ?, ?, "
          "?)")
      .run(run, verification.time, verification.outcome, verification.first_step, verification.scope,
           verification.details.dump());
  transaction.commit();
}

bool hides_its_data(Store& store, const RunRow& run) {
  const std::vector<ParamRow> params = store.read_params(run.number);
  const auto own = std::ranges::find(params, "data.private", &ParamRow::key);
  return own != params.end() && own->value == true;
}

}  // namespace encore::store
