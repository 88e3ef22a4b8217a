// Runs in the database: finding, listing, labels, removal. See store.hpp; add_runs.cpp puts them there.
#include <algorithm>

#include "config/json_text.hpp"
#include "config/nearest.hpp"
#include "record/file_descriptor.hpp"
#include "store/store.hpp"

namespace encore {

namespace {

/// The columns of a RunRow, in the order in which read_rows takes them.
constexpr std::string_view select_rows =
    "SELECT run.number, run.id, run.name, run.state, run.reason, run.question, run.group_id, run.backend, "
    "run.repeat, "
    "run.seed, coalesce(sweep.name, ''), run.note, run.created, run.finished, run.result, "
    "coalesce(attempt.ordinal, 0), "
    "attempt.started, attempt.progress, attempt.host_name, attempt.pid, attempt.process_start, "
    "attempt.boot_id, "
    "attempt.expires, run.removed, attempt.expires_uptime "
    "FROM run LEFT JOIN sweep ON sweep.number = run.sweep "
    "LEFT JOIN attempt ON attempt.number = (SELECT max(number) FROM attempt WHERE attempt.run = run.number) ";

std::string select(std::string_view rest) {
  return std::string(select_rows) + std::string(rest);
}

std::string condition(Sight sight) {
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

std::string candidates(const std::vector<RunRow>& runs) {
  constexpr std::size_t most = 5;
  std::string text;
  for (std::size_t index = 0; index < std::min(runs.size(), most); ++index) {
    text += (index > 0 ? ", " : "") + runs[index].id + " (" + runs[index].name + ")";
  }
  return runs.size() > most ? text + " and " + std::to_string(runs.size() - most) + " more" : text;
}

/// What was last written about a run that is in one of these states now: a run that is lost may still be
/// marked as running. Empty for any.
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

/// Whether what was last written says as much as a look at the process.
bool is_settled(RunState state) {
  return state != RunState::running && state != RunState::lost;
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
    row.progress = json_or_null(statement.text(17));
    row.holder = {statement.text(18), statement.integer(19), statement.integer(20), statement.text(21)};
    row.removed = statement.optional_number(23);
    if (row.state != RunState::running) continue;
    if (liveness_of(row.holder) == Liveness::gone) {
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

std::vector<RunRow> Store::find_runs_or_sweep(const std::string& name) {
  std::vector<RunRow> runs = list_runs({.sweep = name});
  const auto known = [&](const RunRow& run) {
    return std::any_of(runs.begin(), runs.end(), [&](const RunRow& other) { return other.id == run.id; });
  };
  try {
    if (const RunRow run = find_run(name); !known(run)) runs.push_back(run);
  } catch (const UnknownRun& error) {
    if (!find_sweeps(name).empty()) return runs;
    std::vector<std::string> names;
    Statement& all = database_->cached("SELECT DISTINCT name FROM sweep");
    while (all.step()) names.push_back(all.text(0));
    all.reset();
    const auto near = nearest(name, names);
    throw UnknownRun(error.what() + (near ? std::string("; or did you mean the sweep \"") + *near + "\"?"
                                          : "; no sweep has that name either"));
  }
  return runs;
}

std::optional<RunRow> Store::find_question(const std::string& question, const std::string& backend) {
  Statement& statement = database_->cached(
      select("WHERE run.question = ? AND run.backend = ? AND run.removed IS NULL ORDER BY run.repeat DESC "
             "LIMIT 1"));
  const std::vector<RunRow> rows = read_rows(statement.with(question, backend));
  return rows.empty() ? std::nullopt : std::optional(rows.front());
}

RunRow Store::find_run(const std::string& name_or_id, Sight sight) {
  const std::string seen = condition(sight);
  std::vector<RunRow> rows = read_rows(database_
                                           ->cached(select("WHERE (run.name = ?1 OR run.id = ?1) AND " +
                                                           seen + " ORDER BY run.name = ?1 DESC"))
                                           .with(name_or_id));
  if (!rows.empty()) return rows.front();
  if (!name_or_id.empty() && name_or_id.find_first_not_of("0123456789abcdef") == std::string::npos) {
    // The range of ids that begin so: g is the letter behind the last hexadecimal digit.
    rows = read_rows(database_
                         ->cached(select("WHERE run.id >= ?1 AND run.id < ?1 || 'g' AND " + seen +
                                         " ORDER BY run.number DESC"))
                         .with(name_or_id));
  }
  if (rows.size() == 1) return rows.front();
  if (rows.size() > 1) {
    throw UnknownRun("\"" + name_or_id + "\" begins the ids of " + std::to_string(rows.size()) +
                     " runs: " + candidates(rows) + "; give more digits, or the name");
  }
  Statement& hidden = database_->cached("SELECT name, removed IS NULL FROM run WHERE name = ?1 OR id = ?1");
  const bool known = hidden.with(name_or_id).step();
  const std::string name = hidden.text(0);
  const bool is_present = known && hidden.integer(1) != 0;
  hidden.reset();
  if (is_present) throw UnknownRun("run " + name + " is not removed");
  if (known) throw UnknownRun("run " + name + " was removed; exp undelete " + name + " brings it back");
  std::vector<std::string> names;
  Statement& all =
      database_->cached("SELECT name FROM run WHERE " + seen + " ORDER BY number DESC LIMIT 10000");
  while (all.step()) names.push_back(all.text(0));
  all.reset();
  const bool removed = sight == Sight::removed;
  throw UnknownRun(
      "there is no " + std::string(removed ? "removed " : "") + "run \"" + name_or_id + "\" in " +
      path_.string() +
      did_you_mean(name_or_id, names,
                   removed ? "; exp ls --removed shows what there is" : "; exp ls shows what there is"));
}

std::vector<RunRow> Store::list_runs(const RunFilter& filter) {
  const std::string states = written_states(filter.states);
  Statement& statement = database_->cached(
      select("WHERE (?1 = '' OR instr(run.name, ?1) > 0) "
             "AND (?2 = '' OR EXISTS (SELECT 1 FROM tag WHERE tag.run = run.number AND tag.tag = ?2)) "
             "AND (?3 = '' OR sweep.name = ?3) AND " +
             condition(filter.sight) + (states.empty() ? "" : " AND run.state IN (" + states + ")") +
             " ORDER BY run.number DESC LIMIT ?4"));
  // Whether a run is lost is seen after reading, so a limit counts behind it.
  const bool settled = std::all_of(filter.states.begin(), filter.states.end(), is_settled);
  const std::int64_t limit = settled ? filter.limit : -1;
  std::vector<RunRow> rows = read_rows(statement.with(filter.name_part, filter.tag, filter.sweep, limit));
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
  if (rows.empty()) throw UnknownRun("run " + std::to_string(number) + " is gone from " + path_.string());
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
    throw Error("run " + row.name + " is running in process " + std::to_string(row.holder.pid) + " on " +
                row.holder.host + "; exp stop " + row.name + " ends it first");
}

void Store::set_removed(const std::vector<std::int64_t>& runs, bool removed) {
  settle();
  Transaction transaction(*database_);  // nobody can take a run before its end
  const std::optional<double> when = removed ? std::optional(now_seconds()) : std::nullopt;
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
  std::filesystem::remove_all(folder, failure);
  if (failure) throw Error(system_message("remove", folder, failure.value()) + "; exp gc tries again");
}

}  // namespace encore
