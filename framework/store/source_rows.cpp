// SPDX-License-Identifier: BSD-3-Clause
// Adds rows that many runs share (hosts, builds, and sources: the version of the code) unless an equal row
// exists, and removes shared rows that nothing refers to. merge.cpp and benches.cpp add rows;
// bundle/pack_bundle.cpp removes those that a bundle does not need. A new column that refers to a shared row
// must be named in remove_unused_rows(), or the row is deleted. Read source_rows.hpp first.
#include "store/source_rows.hpp"

#include <array>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "record/source_record.hpp"

namespace encore::store {

namespace {

std::int64_t add_source(Database& database, const record::SourceVersion& source) {
  database.cached("INSERT OR IGNORE INTO source (commit_hash, diff, archive, sha256) VALUES (?, ?, ?, ?)")
      .run(source.commit, source.diff, source.archive, source.sha256);
  Statement& find = database.cached(
      "SELECT number FROM source WHERE commit_hash = ? AND diff = ? AND archive = ? AND sha256 = ?");
  find.with(source.commit, source.diff, source.archive, source.sha256).step();
  const std::int64_t number = find.integer(0);
  find.reset();
  return number;
}

std::string compact_text(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string without_diff(const std::string& started_event) {
  nlohmann::json event = json_or_null(started_event);
  const nlohmann::json::json_pointer diff("/build/source/diff");
  if (!event.contains(diff) || event.at(diff) == "") return started_event;
  event.at(diff.parent_pointer()).erase("diff");
  return compact_text(event);
}

std::int64_t add_host(Database& database, const std::string& description) {
  database.cached("INSERT OR IGNORE INTO host (description) VALUES (?)").run(description);
  Statement& find = database.cached("SELECT number FROM host WHERE description = ?");
  find.with(description).step();
  const std::int64_t number = find.integer(0);
  find.reset();
  return number;
}

std::int64_t add_build(Database& database, const std::string& told) {
  std::string description = told;
  std::optional<std::int64_t> from;
  nlohmann::json json = json_or_null(told);
  if (json.is_object() && json.contains("source")) {
    if (const auto source = record::source_from(json["source"])) from = add_source(database, *source);
    json.erase("source");
    description = compact_text(json);
  }
  // UNIQUE does not help for rows without a source: SQL treats two NULL as different.
  Statement& find = database.cached("SELECT number FROM build WHERE description = ? AND source IS ?");
  const bool known = find.with(description, from).step();
  const std::int64_t number = known ? find.integer(0) : 0;
  find.reset();
  if (known) return number;
  database.cached("INSERT INTO build (description, source) VALUES (?, ?)").run(description, from);
  return database.last_row();
}

void remove_unused_rows(Database& database) {
  struct Use {
    const char* table;
    const char* used;  ///< SQL: all numbers in use, 0 for none
  };
  constexpr std::array<Use, 9> uses = {{
      {"dataset", "SELECT coalesce(dataset, 0) FROM run_dataset"},
      {"host", "SELECT coalesce(host, 0) FROM attempt UNION SELECT coalesce(host, 0) FROM bench_case"},
      {"build", "SELECT coalesce(build, 0) FROM attempt UNION SELECT coalesce(build, 0) FROM bench_case"},
      {"source", "SELECT coalesce(source, 0) FROM build"},
      {"code", "SELECT coalesce(code, 0) FROM attempt"},
      {"plugin", "SELECT coalesce(plugin, 0) FROM attempt_plugin"},
      {"metric", "SELECT coalesce(metric, 0) FROM spool_metric UNION SELECT coalesce(metric, 0) FROM point"},
      {"measure", "SELECT coalesce(measure, 0) FROM spool_metric"},
      {"origin", "SELECT coalesce(origin, 0) FROM run UNION SELECT coalesce(origin, 0) FROM verification"},
  }};
  Transaction transaction(database);
  for (const auto& [table, used] : uses)
    database.execute("DELETE FROM " + std::string(table) + " WHERE number NOT IN (" + used + ")");
  transaction.commit();
}

}  // namespace encore::store
