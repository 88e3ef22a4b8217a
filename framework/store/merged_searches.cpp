// SPDX-License-Identifier: BSD-3-Clause
// MergedRows::merge_searches: merges searches of another database, with trials, decisions, observations, and
// the runs of each trial. The list of decisions only grows, so of two states of a search the longer one
// counts. database_merge.cpp calls it after the runs. If each side has entries that the other lacks, that is
// a conflict: the side with more of them wins, of equal ones the later. Read merged_rows.hpp first.
#include "store/merged_rows.hpp"

namespace encore::store {

namespace {

constexpr const char* story_tables[] = {"search_trial", "search_decision", "search_observation"};

/// Returns SQL for the number of decisions and observations that search ?1 of `one` has and search ?2 of
/// `other` lacks. Their times are not compared.
std::string surplus_of(const std::string& one, const std::string& other) {
  const auto missing = [&](const std::string& table, const std::string& same) {
    return "(SELECT count(*) FROM " + one + "." + table +
           " AS t WHERE t.search = ?1 AND NOT EXISTS (SELECT 1 FROM " + other + "." + table +
           " AS m WHERE m.search = ?2 AND m.number = t.number AND m.trial = t.trial AND m.epochs = t.epochs "
           "AND " +
           same + "))";
  };
  return "SELECT " + missing("search_decision", "m.kind = t.kind AND m.observations = t.observations") +
         " + " + missing("search_observation", "m.outcome = t.outcome AND m.scores = t.scores");
}

std::int64_t count(Database& database, const std::string& sql, std::int64_t one, std::int64_t other) {
  Statement& statement = database.cached(sql);
  statement.with(one, other).step();
  const std::int64_t rows = statement.integer(0);
  statement.reset();
  return rows;
}

}  // namespace

std::vector<MergedSearch> MergedRows::merge_searches(bool dry_run, const std::set<std::string>* only) {
  if (!dry_run) map_runs();
  std::vector<std::pair<std::int64_t, std::string>> searches;
  Statement rows(database_, "SELECT number, name FROM other.search ORDER BY number");
  while (rows.step())
    if (only == nullptr || only->contains(rows.text(1))) searches.emplace_back(rows.integer(0), rows.text(1));
  std::vector<MergedSearch> merged;
  for (const auto& [theirs, name] : searches) {
    Statement& known = database_.cached(
        "SELECT m.number, m.name FROM other.search AS t JOIN main.search AS m ON m.identity = t.identity AND "
        "m.backend = t.backend WHERE t.number = ?");
    const bool is_here = known.with(theirs).step();
    const std::int64_t here = is_here ? known.integer(0) : 0;
    merged.push_back({.name = is_here ? known.text(1) : name, .outcome = MergeOutcome::added});
    known.reset();
    if (is_here) compare_searches(theirs, here, merged.back());
    if (!dry_run) write_search(theirs, here, merged.back());
  }
  return merged;
}

void MergedRows::compare_searches(std::int64_t theirs, std::int64_t ours, MergedSearch& merged) {
  const std::int64_t there = count(database_, surplus_of("other", "main"), theirs, ours);
  const std::int64_t here = count(database_, surplus_of("main", "other"), ours, theirs);
  merged.conflict = there > 0 && here > 0;
  const bool later = count(database_,
                           "SELECT (SELECT max(time) FROM other.search_decision WHERE search = ?1) > "
                           "(SELECT max(time) FROM main.search_decision WHERE search = ?2)",
                           theirs, ours) != 0;
  const bool take_theirs = there > here || (merged.conflict && there == here && later);
  merged.outcome = take_theirs ? MergeOutcome::updated : MergeOutcome::same;
}

void MergedRows::write_search(std::int64_t theirs, std::int64_t ours, MergedSearch& merged) {
  if (merged.outcome == MergeOutcome::added) {
    copy_sweep("(SELECT sweep FROM other.search WHERE number = " + std::to_string(theirs) + ")");
    copy_rows("search", {{"number", "NULL"}, {"name", "'merged ' || t.identity"}, {"sweep", sweep_here()}},
              "t.number = " + std::to_string(theirs));
    ours = database_.last_row();
    merged.name = free_name("search", merged.name);
    database_.cached("UPDATE main.search SET name = ? WHERE number = ?").run(merged.name, ours);
  }
  const std::string of_search = "t.search = " + std::to_string(theirs);
  const std::string search = std::to_string(ours);
  if (merged.outcome != MergeOutcome::same) {
    for (const char* table : story_tables)
      database_.execute("DELETE FROM main." + std::string(table) + " WHERE search = " + search);
    for (const char* table : story_tables) copy_rows(table, {{"search", search}}, of_search);
  }
  // A run that was left out is not here yet; the merge that adds the run also adds its row.
  const std::string run = mapped("run", "run");
  copy_rows("search_run", {{"search", search}, {"run", run}},
            of_search +
                " AND t.run IN (SELECT theirs FROM temp.map_run) AND t.trial IN (SELECT number FROM "
                "main.search_trial WHERE search = " +
                search + ") AND NOT EXISTS (SELECT 1 FROM main.search_run AS m WHERE m.search = " + search +
                " AND m.trial = t.trial AND m.run = " + run + ")");
}

}  // namespace encore::store
