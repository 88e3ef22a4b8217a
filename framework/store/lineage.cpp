// SPDX-License-Identifier: BSD-3-Clause
// Queries about lineage: they follow the setting train.retrains (of an application app.retrains) from a run
// to the run that it replaces and back, and record the result of `exp retrain` with the tag "promoted". `exp
// retrain`, `exp show`, reports, JSON output and `--promoted` (selection.cpp) use them. Event type and tag
// are stored and do not change. Read lineage.hpp first.
#include "store/lineage.hpp"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "store/merge.hpp"

namespace encore::store {

namespace {

constexpr const char* retraining_event = "retraining";

/// Returns the numbers of runs that the query finds. Its parameter is text.
std::vector<std::int64_t> numbers(Store& store, const char* sql, const std::string& text) {
  std::vector<std::int64_t> found;
  Statement& rows = store.database().cached(sql).with(text);
  while (rows.step()) found.push_back(rows.integer(0));
  rows.reset();
  return found;
}

/// Returns the numbers of all runs in the lineage of `run`; only its own if no run retrains another.
std::set<std::int64_t> lineage_numbers(Store& store, const RunRow& run) {
  std::set<std::int64_t> seen;
  std::vector<std::int64_t> open = {run.number};
  while (!open.empty()) {
    const std::int64_t number = open.back();
    open.pop_back();
    if (!seen.insert(number).second) continue;
    const RunRow row = store.read_run(number);
    if (const auto before = retrained_by(store, row)) open.push_back(before->number);
    for (const std::int64_t next :
         numbers(store, "SELECT run FROM param WHERE key IN ('train.retrains', 'app.retrains') AND value = ?",
                 row.id))
      open.push_back(next);
  }
  return seen;
}

bool has_tag(Store& store, const RunRow& run) {
  return std::ranges::count(store.read_tags(run.number), promoted_tag) > 0;
}

}  // namespace

std::string retrains_key(const RunRow& run) {
  return is_application(run) ? "app.retrains" : "train.retrains";
}

std::optional<RunRow> retrained_by(Store& store, const RunRow& run) {
  Statement& find = store.database().cached(
      "SELECT number FROM run WHERE id = (SELECT value FROM param WHERE run = ? AND key IN "
      "('train.retrains', 'app.retrains'))");
  const bool found = find.with(run.number).step();
  const std::int64_t number = found ? find.integer(0) : 0;
  find.reset();
  if (!found) return std::nullopt;
  return store.read_run(number);
}

std::vector<RunRow> lineage_of(Store& store, const RunRow& run) {
  std::vector<RunRow> runs;
  for (const std::int64_t number : lineage_numbers(store, run))
    if (RunRow row = store.read_run(number); !row.removed) runs.push_back(std::move(row));
  return runs;
}

RunRow promoted_of(Store& store, const RunRow& run) {
  const std::vector<RunRow> runs = lineage_of(store, run);
  const auto newest =
      std::find_if(runs.rbegin(), runs.rend(), [&](const RunRow& row) { return has_tag(store, row); });
  return newest == runs.rend() ? run : *newest;
}

std::vector<RunRow> promoted_of(Store& store, const std::vector<RunRow>& runs) {
  std::vector<RunRow> promoted;
  std::set<std::int64_t> seen;
  for (const RunRow& run : runs)
    if (RunRow row = promoted_of(store, run); seen.insert(row.number).second)
      promoted.push_back(std::move(row));
  return promoted;
}

nlohmann::json read_retraining(Store& store, const RunRow& run) {
  const std::vector<EventRow> events = store.read_events(run.number, retraining_event);
  return events.empty() ? nlohmann::json() : events.back().body;
}

void record_retraining(Store& store, const RunRow& run, const nlohmann::json& body, bool promoted) {
  const std::vector<AttemptRow> attempts = store.read_attempts(run.number);
  if (attempts.empty()) throw Error("run " + run.name + " was never trained");
  const auto remove_tag = [&](std::int64_t number) {
    store.database().cached("DELETE FROM tag WHERE run = ? AND tag = ?").run(number, promoted_tag);
  };
  const auto put_tag = [&](std::int64_t number) {
    store.database().cached("INSERT OR IGNORE INTO tag (run, tag) VALUES (?, ?)").run(number, promoted_tag);
  };
  Transaction transaction(store.database());
  store.database()
      .cached(
          "DELETE FROM event WHERE type = ? AND sequence <= 0 AND attempt IN (SELECT number FROM attempt "
          "WHERE run = ?)")
      .run(retraining_event, run.number);
  add_own_event(store.database(), attempts.back().number, retraining_event, body);
  if (promoted) {
    for (const std::int64_t number : lineage_numbers(store, run)) remove_tag(number);
    put_tag(run.number);
  } else if (has_tag(store, run)) {
    remove_tag(run.number);
    if (const auto before = retrained_by(store, run)) put_tag(before->number);
  }
  transaction.commit();
}

}  // namespace encore::store
