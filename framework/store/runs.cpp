// Runs: adding, finding, listing. See store.hpp.
#include <algorithm>
#include <random>

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

nlohmann::json json_or_null(const std::string& text) {
  nlohmann::json json = text.empty() ? nlohmann::json() : nlohmann::json::parse(text, nullptr, false);
  return json.is_discarded() ? nlohmann::json() : json;
}

std::string random_id() {
  constexpr char digits[] = "0123456789abcdef";
  constexpr int length = 10;
  std::random_device source;
  std::uniform_int_distribution<int> digit(0, 15);
  std::string id;
  for (int index = 0; index < length; ++index) id += digits[digit(source)];
  return id;
}

/// Calls `visit(key, value)` for every leaf of the resolved tables.
template <class Visit>
void for_each_leaf(const nlohmann::json& table, const std::string& prefix, const Visit& visit) {
  for (const auto& [name, value] : table.items()) {
    const std::string key = prefix.empty() ? name : prefix + "." + name;
    if (value.is_object()) {
      for_each_leaf(value, key, visit);
    } else {
      visit(key, value);
    }
  }
}

void bind_value(Statement& statement, int value_at, int type_at, const nlohmann::json& value) {
  std::string_view type;
  if (value.is_boolean()) {
    statement.bind(value_at, value.get<bool>() ? 1 : 0);
    type = "boolean";
  } else if (value.is_number_integer()) {
    statement.bind(value_at, value.get<std::int64_t>());
    type = "integer";
  } else if (value.is_number()) {
    statement.bind(value_at, value.get<double>());
    type = "number";
  } else if (value.is_string()) {
    statement.bind(value_at, std::string_view(value.get_ref<const std::string&>()));
    type = "text";
  } else if (value.is_null()) {
    statement.bind(value_at, nullptr);
    type = "null";
  } else {
    statement.bind(value_at, std::string_view(value.dump()));
    type = "list";
  }
  statement.bind(type_at, type);
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

std::int64_t Store::add_sweep(const std::string& name, const std::string& file, const std::string& content) {
  Transaction transaction(*database_);
  Statement& find = database_->cached("SELECT number FROM sweep WHERE name = ? AND file = ? AND content = ?");
  const bool found = find.with(name, file, content).step();
  std::int64_t number = found ? find.integer(0) : 0;
  find.reset();
  if (!found) {
    database_->cached("INSERT INTO sweep (name, file, content, created) VALUES (?, ?, ?, ?)")
        .run(name, file, content, now_seconds());
    number = database_->last_row();
  }
  transaction.commit();
  return number;
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
    const std::string near = did_you_mean(name, names, "");
    throw UnknownRun(error.what() +
                     (near.empty() ? "; no sweep has that name either" : "; of sweeps" + near));
  }
  return runs;
}

AddedRun Store::add_run(Specification& specification, const RunExtras& extras) {
  const RunToAdd run{&specification, extras};
  return add_runs({&run, 1}).front();
}

std::vector<AddedRun> Store::add_runs(std::span<const RunToAdd> runs) {
  constexpr std::size_t most_at_once = 500;  // others want to write too
  std::vector<AddedRun> added;
  for (std::size_t begin = 0; begin < runs.size(); begin += most_at_once) {
    Transaction transaction(*database_);
    for (const RunToAdd& run : runs.subspan(begin, std::min(most_at_once, runs.size() - begin)))
      added.push_back(insert_run(*run.specification, run.extras));
    transaction.commit();
  }
  return added;
}

/// Inside a transaction.
AddedRun Store::insert_run(Specification& specification, const RunExtras& extras) {
  const std::optional<RunRow> before = find_question(specification.question, specification.backend);
  if (before && !extras.fresh) {
    specification.run = before->id;
    specification.name = before->name;
    return {*before, false};
  }
  // Removed runs are not there for the question, but their repeats stay taken.
  Statement& repeats =
      database_->cached("SELECT coalesce(max(repeat), 0) + 1 FROM run WHERE question = ? AND backend = ?");
  repeats.with(specification.question, specification.backend).step();
  const std::int64_t repeat = repeats.integer(0);
  repeats.reset();
  Statement& known = database_->cached("SELECT 1 FROM run WHERE id = ?");
  do specification.run = random_id();
  while (known.with(specification.run).step());
  known.reset();
  specification.name = free_name(specification.name);
  database_
      ->cached(
          "INSERT INTO run (id, name, sweep, question, group_id, backend, repeat, seed, note, created) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .run(specification.run, specification.name, extras.sweep, specification.question, specification.group,
           specification.backend, repeat, static_cast<std::int64_t>(specification.seed), extras.note,
           now_seconds());
  const std::int64_t run = database_->last_row();
  add_params(run, specification);
  for (const auto& [role, file] : specification.data) {
    database_->cached("INSERT OR IGNORE INTO dataset (sha256) VALUES (?)").run(file.sha256);
    database_
        ->cached(
            "INSERT INTO run_dataset (run, role, dataset, path) SELECT ?, ?, number, ? FROM dataset WHERE "
            "sha256 = ?")
        .run(run, role, file.path, file.sha256);
  }
  for (const std::string& tag : extras.tags) {
    database_->cached("INSERT OR IGNORE INTO tag (run, tag) VALUES (?, ?)").run(run, tag);
  }
  return {read_run(run), true};
}

void Store::add_params(std::int64_t run, const Specification& specification) {
  Statement& insert =
      database_->cached("INSERT INTO param (run, key, value, type, source, at) VALUES (?, ?, ?, ?, ?, ?)");
  for_each_leaf(specification.config, "", [&](const std::string& key, const nlohmann::json& value) {
    const auto origin = specification.origin.find(key);
    insert.reset();
    insert.bind(1, run);
    insert.bind(2, key);
    bind_value(insert, 3, 4, value);
    insert.bind(5, std::string_view(origin == specification.origin.end() ? "default"
                                                                         : name_of(origin->second.source)));
    insert.bind(6, origin == specification.origin.end() ? std::string() : origin->second.place.text());
    insert.finish();
  });
}

std::string Store::free_name(const std::string& wanted) {
  Statement& taken = database_->cached("SELECT 1 FROM run WHERE name = ?");
  std::string name = wanted;
  for (int number = 2; taken.with(name).step(); ++number) name = wanted + "-" + std::to_string(number);
  taken.reset();
  return name;
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
