// SPDX-License-Identifier: BSD-3-Clause
// The members of Store that list, label, remove and purge runs. add_runs.cpp adds runs; selection.cpp finds
// them by what users write. Only purge_run() deletes a run, and it must refuse one on which a process works.
// Read store.hpp first.
#include <algorithm>

#include "base/json_text.hpp"
#include "base/shell_word.hpp"
#include "store/rows.hpp"
#include "store/store.hpp"
#include "world/file_descriptor.hpp"

namespace encore::store {

namespace {

/// The columns of a RunRow, in the order in which read_rows takes them.
constexpr std::string_view select_rows =
    "SELECT run.number, run.id, run.name, run.state, run.reason, run.question, run.group_id, run.backend, "
    "run.repeat, "
    "run.seed, coalesce(sweep.name, ''), run.note, run.created, run.finished, run.result, "
    "coalesce(attempt.ordinal, 0), "
    "attempt.started, attempt.progress, attempt.host_name, attempt.pid, attempt.process_start, "
    "attempt.boot_id, "
    "attempt.expires, run.removed, attempt.expires_uptime, run.kind, origin.kind, origin.name, "
    "origin.sha256, origin.time "
    "FROM run LEFT JOIN sweep ON sweep.number = run.sweep LEFT JOIN origin ON origin.number = run.origin "
    "LEFT JOIN attempt ON attempt.number = (SELECT max(number) FROM attempt WHERE attempt.run = run.number) ";

std::string select(std::string_view rest) {
  return std::string(select_rows) + std::string(rest);
}

/// Returns, as an SQL list, the stored states of runs that are now in one of `states`: a lost run may still
/// be stored as running. Empty: any state.
std::string written_states(const std::vector<RunState>& states) {
  std::string list;
  const auto add = [&](RunState state) {
    list += (list.empty() ? "'" : ", '") + std::string(name_of(state)) + "'";
  };
  for (const RunState state : states) {
    add(state);
    if (state == RunState::lost) add(RunState::running);
  }
  return list;
}

/// Returns whether the stored state is always the true one, so that no process must be looked up.
bool is_settled(RunState state) {
  return state != RunState::running && state != RunState::lost;
}

}  // namespace

std::string condition_of(Sight sight) {
  switch (sight) {
    case Sight::present:
      return "run.removed IS NULL";
    case Sight::removed:
      return "run.removed IS NOT NULL";
    case Sight::any:
      break;
  }
  return "TRUE";
}

namespace {

void read_progress(const std::string& text, RunRow& row) {
  if (text.empty()) return;
  const record::ReadEvent read = record::read_event(text);
  if (!read.event) return;
  record::handle(*read.event, [&](const record::Progressed& progress) { row.progress = progress; });
  row.progress_time = read.time;
}

}  // namespace

std::vector<RunRow> Store::read_rows(Statement& statement) {
  std::vector<RunRow> rows;
  while (statement.step()) {
    RunRow& row = rows.emplace_back();
    row.number = statement.integer(0);
    row.id = statement.text(1);
    row.name = statement.text(2);
    row.state = run_state_from(statement.text(3)).value_or(RunState::lost);
    row.reason = statement.text(4);
    row.question = statement.text(5);
    row.group = statement.text(6);
    row.backend = statement.text(7);
    row.repeat = statement.integer(8);
    row.seed = static_cast<std::uint64_t>(statement.integer(9));
    row.sweep = statement.text(10);
    row.note = statement.text(11);
    row.created = statement.number(12);
    row.finished = statement.optional_number(13);
    row.result = json_or_null(statement.text(14));
    row.attempts = statement.integer(15);
    row.started = statement.optional_number(16);
    read_progress(statement.text(17), row);
    row.holder = {statement.text(18), statement.integer(19), statement.integer(20), statement.text(21)};
    row.removed = statement.optional_number(23);
    row.kind = statement.text(25);
    row.origin = origin_row(statement, 26);
    if (row.state != RunState::running) continue;
    if (world::liveness_of(row.holder) == world::Liveness::gone) {
      row.state = RunState::lost;
      row.reason = "its process " + std::to_string(row.holder.pid) + " is gone";
    } else if (lease_expired(row.holder, statement.number(22), statement.number(24))) {
      row.state = RunState::lost;
      row.reason = "no sign of life from " + row.holder.host + " for too long";
    }
  }
  statement.reset();
  return rows;
}

std::vector<std::int64_t> Store::find_sweeps(const std::string& name) {
  std::vector<std::int64_t> numbers;
  Statement& rows = database_->cached("SELECT number FROM sweep WHERE name = ? ORDER BY number DESC");
  rows.with(name);
  while (rows.step()) numbers.push_back(rows.integer(0));
  rows.reset();
  return numbers;
}

std::optional<RunRow> Store::find_question(const std::string& question, const std::string& backend) {
  Statement& statement = database_->cached(
      select("WHERE run.question = ? AND run.backend = ? AND run.removed IS NULL ORDER BY run.repeat DESC "
             "LIMIT 1"));
  const std::vector<RunRow> rows = read_rows(statement.with(question, backend));
  return rows.empty() ? std::nullopt : std::optional(rows.front());
}

std::vector<RunRow> Store::list_runs(const RunFilter& filter) {
  const std::string states = written_states(filter.states);
  Statement& statement = database_->cached(
      select("WHERE (?1 = '[]' OR NOT EXISTS (SELECT 1 FROM json_each(?1) WHERE value NOT IN "
             "(SELECT tag FROM tag WHERE tag.run = run.number))) "
             "AND (?2 = '[]' OR " +
             in_sweeps("SELECT value FROM json_each(?2)") + ") AND " + condition_of(filter.sight) +
             (states.empty() ? "" : " AND run.state IN (" + states + ")") +
             (filter.numbers ? " AND run.number IN (SELECT value FROM json_each(?4))" : "") +
             " ORDER BY run.number DESC LIMIT ?3"));
  // Lost runs are recognized after the query, so a limit can only be part of the query if all states are
  // settled.
  const bool settled = std::all_of(filter.states.begin(), filter.states.end(), is_settled);
  const std::int64_t limit = settled ? filter.limit : -1;
  const auto list = [](const auto& values) { return nlohmann::json(values).dump(); };
  statement.with(list(filter.tags), list(filter.sweeps), limit);
  if (filter.numbers) statement.bind(4, list(*filter.numbers));
  std::vector<RunRow> rows = read_rows(statement);
  if (filter.states.empty()) return rows;
  std::erase_if(rows, [&](const RunRow& row) {
    return std::find(filter.states.begin(), filter.states.end(), row.state) == filter.states.end();
  });
  if (filter.limit >= 0 && rows.size() > static_cast<std::size_t>(filter.limit)) {
    rows.resize(static_cast<std::size_t>(filter.limit));
  }
  return rows;
}

RunRow Store::read_run(std::int64_t number) {
  const std::vector<RunRow> rows = read_rows(database_->cached(select("WHERE run.number = ?")).with(number));
  if (rows.empty())
    throw UnknownRun("run " + std::to_string(number) + " no longer exists in " + path_.string());
  return rows.front();
}

void Store::set_tag(std::int64_t run, const std::string& tag, bool present) {
  Transaction transaction(*database_);
  if (present) {
    database_->cached("INSERT OR IGNORE INTO tag (run, tag) VALUES (?, ?)").run(run, tag);
  } else {
    database_->cached("DELETE FROM tag WHERE run = ? AND tag = ?").run(run, tag);
  }
  transaction.commit();
}

void Store::set_note(std::int64_t run, const std::string& note) {
  Transaction transaction(*database_);
  database_->cached("UPDATE run SET note = ? WHERE number = ?").run(note, run);
  transaction.commit();
}

void Store::require_idle(std::int64_t run) {
  const RunRow row = read_run(run);
  if (row.state == RunState::running)
    throw Error("run " + row.name + " is running in " + world::place_text(row.holder) + "; " +
                shell_command({"exp", "stop", row.name}) + " stops it first");
}

void Store::set_pruned(std::int64_t run, const std::string& reason) {
  Transaction transaction(*database_);
  require_idle(run);
  database_
      ->cached(
          "UPDATE run SET state = 'pruned', reason = ? WHERE number = ? AND state IN ('interrupted', 'lost', "
          "'stopped')")
      .run(reason, run);
  transaction.commit();
}

void Store::set_removed(const std::vector<std::int64_t>& runs, bool removed) {
  settle();
  Transaction transaction(*database_);  // no process can take the run until this ends
  const std::optional<double> when = removed ? std::optional(world::now_seconds()) : std::nullopt;
  for (const std::int64_t run : runs) {
    if (removed) require_idle(run);
    database_->cached("UPDATE run SET removed = ? WHERE number = ?").run(when, run);
  }
  transaction.commit();
}

void Store::purge_run(std::int64_t run) {
  settle();
  const std::filesystem::path folder = run_folder(read_run(run).id);
  {
    Transaction transaction(*database_);
    require_idle(run);
    database_->cached("DELETE FROM run WHERE number = ?").run(run);
    transaction.commit();
  }
  std::error_code failure;
  std::filesystem::remove_all(folder, failure);  // of a symbolic link this removes only the link itself
  if (failure) throw Error(world::system_message("remove", folder, failure.value()) + "; exp gc tries again");
}

}  // namespace encore::store
