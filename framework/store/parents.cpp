// SPDX-License-Identifier: BSD-3-Clause
// Store::read_parent and list_children: find the run that another one starts from ([model] from), learns from
// ([distil] teacher) or asks (a step of [app]), by its settings and by the weights that its attempts have
// read. `exp show`, `exp export` and reports call them. Also note_waiting(), for a run that needs one without
// weights. The keys of these settings are stored and do not change. Read store.hpp first.
#include "config/core_schema.hpp"
#include "store/store.hpp"

namespace encore::store {

namespace {

/// Returns a setting of a run as text; empty if it has none.
std::string setting(Database& database, std::int64_t run, const std::string& key) {
  Statement& find = database.cached("SELECT value FROM param WHERE run = ? AND key = ?");
  const std::string text = find.with(run, key).step() ? find.text(0) : "";
  find.reset();
  return text;
}

}  // namespace

const char* event_of(const std::string& table) {
  if (table == record::pretrained_role) return parent_event;
  return table == record::teacher_role ? teacher_event : asked_event;
}

std::optional<ParentRow> Store::read_parent(const RunRow& run, const std::string& table) {
  std::string id = setting(*database_, run.number, table + ".run");
  const std::string question = setting(*database_, run.number, table + ".question");
  if (id.empty() && question.empty()) return std::nullopt;
  ParentRow parent;
  parent.experiment = setting(*database_, run.number, table + ".experiment");
  for (const EventRow& read : read_events(run.number, event_of(table))) {
    if (!read.body.is_object() || read.body.value("table", table) != table) continue;
    id = read.body.value("run", id);
    parent.sha256 = read.body.value("sha256", "");
    parent.attempt = read.attempt;
  }
  if (!id.empty()) {
    Statement& find = database_->cached("SELECT number FROM run WHERE id = ?");
    if (find.with(id).step()) parent.run = read_run(find.integer(0));
    find.reset();
  } else {
    parent.run = find_question(question, run.backend);
  }
  return parent;
}

std::map<std::string, ParentRow> Store::read_parents(const RunRow& run) {
  Statement& find = database_->cached(
      "SELECT key FROM param WHERE run = ? AND (key LIKE '%.run' OR key LIKE '%.question') ORDER BY key");
  std::vector<std::string> tables;
  find.with(run.number);
  while (find.step()) {
    const std::string key = find.text(0), table = key.substr(0, key.rfind('.'));
    if (config::names_run(table) && (tables.empty() || tables.back() != table)) tables.push_back(table);
  }
  find.reset();
  std::map<std::string, ParentRow> parents;
  for (const std::string& table : tables)
    if (std::optional<ParentRow> parent = read_parent(run, table)) parents[table] = std::move(*parent);
  return parents;
}

std::vector<RunRow> Store::list_children(const RunRow& run) {
  Statement& find = database_->cached(
      "SELECT run.number FROM run JOIN param ON param.run = run.number WHERE removed IS NULL AND "
      "(((key IN ('model.from.run', 'distil.teacher.run') OR key GLOB 'app.step.*.model.run') AND value = ?) "
      "OR ((key IN ('model.from.question', 'distil.teacher.question') OR key GLOB "
      "'app.step.*.model.question') "
      "AND value = ? AND backend = ?)) "
      "GROUP BY run.number ORDER BY run.number");
  std::vector<std::int64_t> numbers;
  find.with(run.id, run.question, run.backend);
  while (find.step()) numbers.push_back(find.integer(0));
  find.reset();
  std::vector<RunRow> children;
  for (const std::int64_t number : numbers) children.push_back(read_run(number));
  return children;
}

void Store::note_waiting(std::int64_t run, const std::string& reason) {
  database_->cached("UPDATE run SET reason = ? WHERE number = ? AND state = 'pending'").run(reason, run);
}

}  // namespace encore::store
