// SPDX-License-Identifier: BSD-3-Clause
// The members of Store that turn planned runs into rows: the sweep, and each run with its id, name,
// parameters, data and tags. `exp run` calls them before the first run begins. A question (identity of
// settings and data) that has a run on the same backend must get no second one unless the user asks for a
// repeat. Read store.hpp first; runs.cpp lists the runs.
#include <algorithm>

#include "base/sha256.hpp"
#include "config/core_schema.hpp"
#include "store/connection_flag.hpp"
#include "store/store.hpp"

namespace encore::store {

namespace {

constexpr std::size_t id_digits = 10;
/// The most runs that one transaction adds: other processes wait for its write lock.
constexpr std::size_t most_at_once = 500;

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

}  // namespace

std::int64_t Store::add_sweep(const std::string& name, const std::string& file, const std::string& content,
                              const std::string& context) {
  Transaction transaction(*database_);
  Statement& find = database_->cached(
      "SELECT number FROM sweep WHERE name = ? AND file = ? AND content = ? AND context = ?");
  const bool found = find.with(name, file, content, context).step();
  std::int64_t number = found ? find.integer(0) : 0;
  find.reset();
  if (!found) {
    database_->cached("INSERT INTO sweep (name, file, content, context, created) VALUES (?, ?, ?, ?, ?)")
        .run(name, file, content, context, world::now_seconds());
    number = database_->last_row();
  }
  transaction.commit();
  return number;
}

void Store::add_to_sweep(std::int64_t sweep, const std::vector<std::int64_t>& runs) {
  Transaction transaction(*database_);
  for (const std::int64_t run : runs) insert_sweep_run(sweep, run);
  transaction.commit();
}

/// Adds the run to the sweep, unless the run was made for this sweep. Call it inside a transaction.
void Store::insert_sweep_run(std::int64_t sweep, std::int64_t run) {
  database_
      ->cached(
          "INSERT OR IGNORE INTO sweep_run (sweep, run) SELECT ?1, number FROM run "
          "WHERE number = ?2 AND sweep IS NOT ?1")
      .run(sweep, run);
}

AddedRun Store::add_run(record::Specification& specification, const RunExtras& extras) {
  const RunToAdd run{&specification, extras};
  return add_runs({&run, 1}).front();
}

std::vector<AddedRun> Store::add_runs(std::span<const RunToAdd> runs) {
  std::vector<AddedRun> added;
  // The schema checks type and source of each setting against lists of names, which SQLite builds again for
  // each row: three quarters of the time. The names bound here are all in these lists.
  const ConnectionFlag unchecked(*database_, "ignore_check_constraints", true);
  for (std::size_t begin = 0; begin < runs.size(); begin += most_at_once) {
    Transaction transaction(*database_);
    for (const RunToAdd& run : runs.subspan(begin, std::min(most_at_once, runs.size() - begin)))
      added.push_back(insert_run(*run.specification, run.extras));
    transaction.commit();
  }
  return added;
}

/// Call it inside a transaction.
AddedRun Store::insert_run(record::Specification& specification, const RunExtras& extras) {
  const std::optional<RunRow> before = find_question(specification.question, specification.backend);
  if (before && !extras.fresh) {
    specification.run = before->id;
    specification.name = before->name;
    if (extras.sweep) insert_sweep_run(*extras.sweep, before->number);
    return {*before, false};
  }
  // Removed runs do not answer a question again, but the numbers of their repeats stay taken.
  Statement& repeats =
      database_->cached("SELECT coalesce(max(repeat), 0) + 1 FROM run WHERE question = ? AND backend = ?");
  repeats.with(specification.question, specification.backend).step();
  const std::int64_t repeat = repeats.integer(0);
  repeats.reset();
  Statement& known = database_->cached("SELECT 1 FROM run WHERE id = ?");
  do specification.run = random_digits(id_digits);
  while (known.with(specification.run).step());
  known.reset();
  specification.name = free_name(specification.name);
  database_
      ->cached(
          "INSERT INTO run (id, name, sweep, question, group_id, backend, repeat, seed, note, created, kind) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .run(specification.run, specification.name, extras.sweep, specification.question, specification.group,
           specification.backend, repeat, static_cast<std::int64_t>(specification.seed), extras.note,
           world::now_seconds(), record::kind_of(specification));
  const std::int64_t run = database_->last_row();
  add_params(run, specification);
  for (const auto& [role, file] : specification.data) write_dataset(run, role, file);
  for (const std::string& tag : extras.tags) {
    database_->cached("INSERT OR IGNORE INTO tag (run, tag) VALUES (?, ?)").run(run, tag);
  }
  return {read_run(run), true};
}

bool Store::is_described(std::int64_t run, const std::string& key, const nlohmann::json& value) {
  Statement& find =
      database_->cached("SELECT 1 FROM param WHERE run = ? AND key = ? AND value IS ? AND type = ?");
  find.reset();
  find.bind(1, run);
  find.bind(2, key);
  bind_value(find, 3, 4, value);
  const bool recorded = find.step();
  find.reset();
  return recorded;
}

void Store::describe(std::span<const RunToDescribe> runs) {
  struct Change {
    std::int64_t run;
    std::string key;
    nlohmann::json value;
    const record::Specification* specification;
  };
  std::vector<Change> changes;
  for (const auto& [run, specification] : runs)
    for_each_leaf(
        specification->config, "",
        [&, run = run, specification = specification](const std::string& key, const nlohmann::json& value) {
          if (config::only_describes(key) && !is_described(run, key, value))
            changes.push_back({run, key, value, specification});
        });
  for (std::size_t begin = 0; begin < changes.size(); begin += most_at_once) {
    Transaction transaction(*database_);
    for (const Change& change :
         std::span(changes).subspan(begin, std::min(most_at_once, changes.size() - begin)))
      set_param(change.run, change.key, change.value, change.specification->origin);
    transaction.commit();
  }
}

void Store::write_dataset(std::int64_t run, const std::string& role, const record::DataFile& file) {
  database_->cached("INSERT OR IGNORE INTO dataset (sha256) VALUES (?)").run(file.sha256);
  database_
      ->cached(
          "INSERT INTO run_dataset (run, role, dataset, path) SELECT ?, ?, number, ? FROM dataset WHERE "
          "sha256 = ?")
      .run(run, role, file.path, file.sha256);
}

void Store::write_settings(std::int64_t run, const record::Specification& specification) {
  std::vector<ParamRow> kept = read_params(run);
  std::erase_if(kept, [](const ParamRow& row) { return !config::only_describes(row.key); });
  database_->cached("DELETE FROM param WHERE run = ?").run(run);
  add_params(run, specification);
  for (const ParamRow& row : kept) set_param(run, row.key, row.value, specification.origin);
}

void Store::add_params(std::int64_t run, const record::Specification& specification) {
  for_each_leaf(specification.config, "", [&](const std::string& key, const nlohmann::json& value) {
    set_param(run, key, value, specification.origin);
  });
}

void Store::set_param(std::int64_t run, const std::string& key, const nlohmann::json& value,
                      const config::Origins& origins) {
  Statement& insert = database_->cached(
      "INSERT OR REPLACE INTO param (run, key, value, type, source, at) VALUES (?, ?, ?, ?, ?, ?)");
  const auto origin = origins.find(key);
  insert.reset();
  insert.bind(1, run);
  insert.bind(2, key);
  bind_value(insert, 3, 4, value);
  insert.bind(5,
              std::string_view(origin == origins.end() ? "default" : config::name_of(origin->second.source)));
  insert.bind(6, origin == origins.end() ? std::string() : origin->second.place.text());
  insert.finish();
}

std::string Store::free_name(const std::string& wanted) {
  Statement& taken = database_->cached("SELECT 1 FROM run WHERE name = ?");
  std::string name = wanted;
  for (int number = 2; taken.with(name).step(); ++number) name = wanted + "-" + std::to_string(number);
  taken.reset();
  return name;
}

}  // namespace encore::store
