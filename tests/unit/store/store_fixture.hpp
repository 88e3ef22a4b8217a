// SPDX-License-Identifier: BSD-3-Clause
// StoreTest: a fixture with a database in a folder of its own, made at the first call of store(). The file
// also has specifications for its runs, and dump(), which returns the content of the database as text for
// comparisons. Tests of store/, runner/ and analysis/ use it; some compare the values of specification_of(),
// so those stay.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>
#include <vector>

#include "record/spool.hpp"
#include "store/store.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::testing {

/// Returns a hash for a question: 64 times the same letter.
inline std::string question(char letter) {
  return std::string(64, letter);
}

inline record::Specification specification_of(char letter = 'a', const std::string& name = "test") {
  record::Specification specification;
  specification.name = name;
  specification.seed = 7;
  specification.question = question(letter);
  specification.group = std::string(64, 'f');
  specification.backend = "openmp";
  specification.config = {
      {"model", {{"width", 384}, {"dropout", 0.1}, {"block", {"attention", "feed_forward"}}}},
      {"task", {{"type", "ner"}, {"strict", true}}}};
  specification.origin["model.width"] = {config::Source::file, {"test.toml", 14, 3}};
  specification.data["train"] = {"/data/train.conll", std::string(64, 'c')};
  return specification;
}

/// Returns a process of this host that has ended.
inline world::ProcessIdentity dead_process() {
  world::ProcessIdentity process = world::this_process();
  process.start_time -= 1;
  return process;
}

/// Returns every row of every table except columns with the time of day or random numbers.
inline std::string dump(store::Database& database) {
  std::vector<std::string> tables;
  store::Statement names(database, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  while (names.step()) tables.push_back(names.text(0));
  std::string text;
  for (const std::string& table : tables) {
    std::string columns;
    store::Statement info(database, "SELECT name FROM pragma_table_info('" + table + "')");
    while (info.step()) {
      const std::string column = info.text(0);
      if (column.starts_with("expires") || column == "started" || column == "token" || column == "created")
        continue;
      if (column == "id" || column == "process_start" || column == "pid" || column == "finished") continue;
      columns += (columns.empty() ? "quote(" : " || '|' || quote(") + column + ")";
    }
    store::Statement select(database, "SELECT " + columns + " FROM " + table + " ORDER BY 1");
    while (select.step()) text += table + ": " + select.text(0) + "\n";
  }
  return text;
}

class StoreTest : public ::testing::Test {
 protected:
  std::filesystem::path path() const { return folder_ / "encore.db"; }
  store::Store& store() {
    if (!store_) {
      store_ = std::make_unique<store::Store>(path(), store::OpenMode::create);
      store_->database().execute("PRAGMA synchronous = OFF");  // a test that is killed runs again
    }
    return *store_;
  }
  /// Adds a run with this question and name, and returns its number.
  std::int64_t add(char letter = 'a', const std::string& name = "test") {
    record::Specification specification = specification_of(letter, name);
    return store().add_run(specification).run.number;
  }
  /// Returns the path of the spool of an attempt.
  std::filesystem::path spool_of(const store::Lease& lease) {
    return store().run_folder(lease.run_id) / record::spool_name(lease.ordinal);
  }

  TemporaryFolder folder_;
  std::unique_ptr<store::Store> store_;
};

}  // namespace encore::testing
