// SPDX-License-Identifier: BSD-3-Clause
// Measurements of `exp bench` as rows: adds one in one transaction, lists them, and reads one back as a
// BenchResult. cli/bench_verb.cpp calls it. The tables are those of schema.sql; a new column needs a step in
// upgrade.cpp. Read benches.hpp first.
#include "store/benches.hpp"

#include <algorithm>

#include "base/json_text.hpp"
#include "base/nearest.hpp"
#include "store/source_rows.hpp"

namespace encore::store {

using nlohmann::json;

namespace {

std::string free_bench_name(Database& database, const std::string& wanted) {
  Statement& taken = database.cached("SELECT 1 FROM bench WHERE name = ?");
  std::string name = wanted;
  for (int number = 2; taken.with(name).step(); ++number) name = wanted + "-" + std::to_string(number);
  taken.reset();
  return name;
}

void add_case(Database& database, std::int64_t bench, const BenchCase& one) {
  database
      .cached(
          "INSERT INTO bench_case (bench, name, machine, settings, host, build, environment, facts) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
      .run(bench, one.name, one.machine ? 1 : 0, one.settings.dump(), add_host(database, one.host.dump()),
           add_build(database, one.build.dump()), one.environment.dump(), one.facts.dump());
  const std::int64_t number = database.last_row();
  Statement& sample =
      database.cached("INSERT INTO bench_sample (bench_case, quantity, round, seconds) VALUES (?, ?, ?, ?)");
  for (const auto& [quantity, seconds] : one.samples)
    for (std::size_t round = 0; round < seconds.size(); ++round)
      sample.run(number, quantity, static_cast<std::int64_t>(round + 1), seconds[round]);
}

json stored_json(const std::string& text) {
  try {
    return parse_json(text);
  } catch (const JsonError& error) {
    throw Error(std::string("a measurement in the database is damaged, in its JSON at ") + error.what());
  }
}

std::vector<BenchCase> read_cases(Database& database, std::int64_t bench) {
  std::vector<BenchCase> cases;
  std::vector<std::int64_t> numbers;
  Statement& rows = database.cached(
      "SELECT bench_case.number, name, machine, settings, host.description, build.description, environment, "
      "facts FROM bench_case JOIN host ON host.number = host JOIN build ON build.number = build "
      "WHERE bench = ? ORDER BY bench_case.number");
  rows.with(bench);
  while (rows.step()) {
    numbers.push_back(rows.integer(0));
    cases.push_back({rows.text(1),
                     rows.integer(2) != 0,
                     stored_json(rows.text(3)),
                     stored_json(rows.text(4)),
                     stored_json(rows.text(5)),
                     stored_json(rows.text(6)),
                     stored_json(rows.text(7)),
                     {}});
  }
  rows.reset();
  Statement& samples = database.cached(
      "SELECT quantity, seconds FROM bench_sample WHERE bench_case = ? ORDER BY quantity, round");
  for (std::size_t k = 0; k < cases.size(); ++k) {
    samples.with(numbers[k]);
    while (samples.step()) cases[k].samples[samples.text(0)].push_back(samples.number(1));
    samples.reset();
  }
  return cases;
}

}  // namespace

std::string add_bench(Store& store, const BenchResult& result) {
  Database& database = store.database();
  Transaction transaction(database);
  const std::string name = free_bench_name(database, result.name);
  database.cached("INSERT INTO bench (name, file, created, settings, noise) VALUES (?, ?, ?, ?, ?)")
      .run(name, result.file, result.created, result.settings.dump(), result.noise.dump());
  const std::int64_t bench = database.last_row();
  for (const BenchCase& one : result.cases) add_case(database, bench, one);
  transaction.commit();
  return name;
}

std::vector<BenchRow> list_benches(Store& store) {
  std::vector<BenchRow> benches;
  Statement& rows = store.database().cached(
      "SELECT bench.number, bench.name, file, created, "
      "(SELECT count(*) FROM bench_case WHERE bench = bench.number AND machine = 0), "
      "coalesce(bench.settings ->> 'rounds', 0), "
      "coalesce((SELECT host.description ->> 'name' FROM bench_case JOIN host ON host.number = host "
      "WHERE bench = bench.number LIMIT 1), '') FROM bench ORDER BY created DESC, bench.number DESC");
  rows.reset();
  while (rows.step())
    benches.push_back({rows.integer(0), rows.text(1), rows.text(2), rows.number(3), rows.integer(4),
                       rows.integer(5), rows.text(6)});
  rows.reset();
  return benches;
}

BenchResult read_bench(Store& store, const std::string& name) {
  Database& database = store.database();
  Statement& row = database.cached("SELECT number, file, created, settings, noise FROM bench WHERE name = ?");
  if (!row.with(name).step()) {
    row.reset();
    std::vector<std::string> names;
    for (const BenchRow& bench : list_benches(store)) names.push_back(bench.name);
    throw Error("there is no measurement \"" + name + "\"" +
                did_you_mean(name, names,
                             names.empty() ? "; exp bench makes the first" : "; exp bench ls lists all"));
  }
  BenchResult result{name, row.text(1), row.number(2), stored_json(row.text(3)), stored_json(row.text(4)),
                     {}};
  const std::int64_t number = row.integer(0);
  row.reset();
  result.cases = read_cases(database, number);
  result.require_readable("the measurement \"" + name + "\" of " + store.path().string());
  return result;
}

}  // namespace encore::store
