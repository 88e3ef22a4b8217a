// SPDX-License-Identifier: BSD-3-Clause
// ChangedDatabase: a small database whose values are changed by SQL without the checks of Encore: any column
// of any row holds any type, as in a file whose schema was written without STRICT and CHECK.
// database_target.cpp and verbs_target.cpp mutate their inputs with it and then read the database. It follows
// store/schema.sql by itself: new columns are changed too.
#pragma once

#include <string>
#include <vector>

#include "fuzz/mutator.hpp"
#include "fuzz/scratch.hpp"

namespace encore::fuzz {

class ChangedDatabase {
 public:
  /// Makes two candidates of two seeds, and a run that failed.
  ChangedDatabase();

  /// Returns statements that change one to six columns, in some rows or in all.
  std::string changes(Random& random) const;
  /// Writes the original database and executes the statements; those that SQLite refuses are skipped.
  void write(const std::string& sql) const;
  std::filesystem::path path() const { return folder_ / "encore.db"; }

 private:
  struct Column {
    std::string table, name;
    std::vector<std::string> values;  ///< those that the rows have, as text
  };
  void read_columns();
  static std::string new_value(const Column& column, Random& random);

  Scratch folder_;
  std::string bytes_;
  std::vector<Column> columns_;
};

}  // namespace encore::fuzz
