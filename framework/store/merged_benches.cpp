// SPDX-License-Identifier: BSD-3-Clause
// MergedRows::add_benches: copies measurements (`exp bench`) of another database, with their cases and
// samples, unless they are here. database_merge.cpp calls it after the runs. Measurements are the same if
// their content is equal, whatever their names. Read merged_rows.hpp first.
#include "store/merged_rows.hpp"

namespace encore::store {

std::size_t MergedRows::add_benches() {
  Statement rows(
      database_,
      "SELECT t.number, t.name FROM other.bench AS t WHERE NOT EXISTS (SELECT 1 FROM main.bench AS "
      "m WHERE m.created = t.created AND m.file = t.file AND m.settings = t.settings AND m.noise = "
      "t.noise) ORDER BY t.number");
  std::vector<std::pair<std::int64_t, std::string>> benches;
  while (rows.step()) benches.emplace_back(rows.integer(0), rows.text(1));
  for (const auto& [theirs, name] : benches) {
    copy_rows("bench", {{"number", "NULL"}, {"name", "'merged bench'"}},
              "t.number = " + std::to_string(theirs));
    const std::int64_t ours = database_.last_row();
    database_.cached("UPDATE main.bench SET name = ? WHERE number = ?").run(free_name("bench", name), ours);
    copy_rows("bench_case",
              {{"number", "NULL"},
               {"bench", std::to_string(ours)},
               {"host", mapped("host", "host")},
               {"build", mapped("build", "build")}},
              "t.bench = " + std::to_string(theirs) + " ORDER BY t.number");
    database_.execute("DELETE FROM temp.map_bench_case");
    database_
        .cached(
            "INSERT INTO temp.map_bench_case SELECT t.number, m.number FROM other.bench_case AS t JOIN "
            "main.bench_case AS m ON m.bench = ?2 AND m.name = t.name WHERE t.bench = ?1")
        .run(theirs, ours);
    copy_rows("bench_sample", {{"bench_case", mapped("bench_case", "bench_case")}},
              "t.bench_case IN (SELECT theirs FROM temp.map_bench_case)");
  }
  return benches.size();
}

std::size_t MergedRows::count_benches() {
  return static_cast<std::size_t>(
      database_
          .integer("SELECT count(*) FROM other.bench AS t WHERE NOT EXISTS (SELECT 1 FROM main.bench AS m "
                   "WHERE m.created = t.created AND m.file = t.file AND m.settings = t.settings AND m.noise "
                   "= t.noise)")
          .value_or(0));
}

}  // namespace encore::store
