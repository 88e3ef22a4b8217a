// SPDX-License-Identifier: BSD-3-Clause
// Runs: a database with runs, made by the fixture of the tests of reports (unit/analysis/replicates.hpp).
// changed_database.cpp and spool_target.cpp make with it the database that their mutations begin from.
#pragma once

#include "unit/analysis/replicates.hpp"

namespace encore::fuzz {

/// The fixture as an ordinary object. It needs a TestBody(), which is never called, because the program fuzz
/// runs no tests of GoogleTest.
class Runs : public testing::ReplicatesTest {
 public:
  using ReplicatesTest::path;   // of the database
  using ReplicatesTest::store;  // opens it
  using ReplicatesTest::tell;   // adds a completed run with its points

 private:
  void TestBody() override {}
};

/// Moves everything into one file, without a -wal beside it; call it when no connection is open.
inline void leave_one_file(store::Database& database) {
  database.text("PRAGMA journal_mode = DELETE");
}

}  // namespace encore::fuzz
