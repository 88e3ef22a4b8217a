// Runs in a database of their own, made as the tests of reports make theirs.
#pragma once

#include "unit/analysis/replicates.hpp"

namespace encore::fuzz {

/// The fixture as an object: outside of GoogleTest nobody calls its test.
class Runs : public testing::ReplicatesTest {
 public:
  using ReplicatesTest::path;
  using ReplicatesTest::store;
  using ReplicatesTest::tell;

 private:
  void TestBody() override {}
};

/// Everything in one file, without a -wal beside it; to be read when no connection is open any more.
inline void leave_one_file(Database& database) {
  database.text("PRAGMA journal_mode = DELETE");
}

}  // namespace encore::fuzz
