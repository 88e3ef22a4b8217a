// SPDX-License-Identifier: BSD-3-Clause
// Runs in a database of their own, made as in the tests of reports.
#pragma once

#include "unit/analysis/replicates.hpp"

namespace encore::fuzz {

/// The fixture as an object: without GoogleTest no one runs its test.
class Runs : public testing::ReplicatesTest {
 public:
  using ReplicatesTest::path;
  using ReplicatesTest::store;
  using ReplicatesTest::tell;

 private:
  void TestBody() override {}
};

/// Moves everything into one file, without a -wal beside it; call it when no connection is open.
inline void leave_one_file(store::Database& database) {
  database.text("PRAGMA journal_mode = DELETE");
}

}  // namespace encore::fuzz
