// SPDX-License-Identifier: BSD-3-Clause
// Bounds the work of opening a foreign database (store/encore_database.hpp) and of merging a spool into a
// database (store/merge.hpp), with expect_linear() of linear.hpp. The work counter of these tests
// (work_counter.hpp) is not compiled into SQLite, so of its work only copies, comparisons and memory are
// counted. The steps of its virtual machine have a limit of their own: StepBudget (store/step_budget.hpp). A
// limit of a test is raised only with a reason, because SECURITY.md refers to it.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <nlohmann/json.hpp>

#include "bounds/inputs.hpp"
#include "bounds/linear.hpp"
#include "store/step_budget.hpp"
#include "store/store.hpp"
#include "support/raw_event.hpp"
#include "unit/store/store_fixture.hpp"

namespace encore::bounds {
namespace {

/// A run whose spool has the events that `tell` writes for i = 0 to n - 1. merge() merges the spool and then
/// empties the tables, so that a merge can be measured several times.
class MergedSpool : public testing::StoreTest {
 public:
  using Tell = void (*)(record::SpoolWriter& spool, std::size_t i);

  MergedSpool(std::size_t n, Tell tell) {
    record::Specification specification = testing::specification_of();
    lease_ = *store().begin_attempt(store().add_run(specification).run.number);
    record::SpoolWriter spool(spool_of(lease_), lease_.ordinal, lease_.run_id);
    for (std::size_t i = 0; i < n; ++i) tell(spool, i);
    spool.flush();
    bytes_ = std::filesystem::file_size(spool_of(lease_));
  }

  void merge() const {
    auto& all = const_cast<MergedSpool&>(*this);
    all.store().merge(lease_);
    all.store().database().execute(
        "DELETE FROM point; DELETE FROM newest; DELETE FROM spool_metric;"
        "DELETE FROM digest; DELETE FROM checkpoint; DELETE FROM artifact;"
        "DELETE FROM event; UPDATE attempt SET spool_bytes = 0, spool_records = 0");
  }
  std::size_t bytes() const { return bytes_; }

 private:
  void TestBody() override {}

  store::Lease lease_;
  std::size_t bytes_ = 0;
};

std::size_t bytes_of(const std::unique_ptr<MergedSpool>& spool) {
  return spool->bytes();
}

void expect_linear_merge(std::size_t n, MergedSpool::Tell tell) {
  expect_linear(
      {.size = n, .steps_per_byte = 400.0, .memory_per_byte = 60.0},
      [&](std::size_t count) { return std::make_unique<MergedSpool>(count, tell); },
      [](const std::unique_ptr<MergedSpool>& spool) { spool->merge(); });
}

TEST(MergeBounds, ManyPoints) {
  expect_linear_merge(4000, [](record::SpoolWriter& spool, std::size_t i) {
    spool.point("train/loss", static_cast<std::int64_t>(i), 0.5);
  });
}

TEST(MergeBounds, ManyMetrics) {
  expect_linear_merge(
      2000, [](record::SpoolWriter& spool, std::size_t i) { spool.point(numbered("a", i), 1, 0.5); });
}

TEST(MergeBounds, ManyEvents) {
  expect_linear_merge(2000, [](record::SpoolWriter& spool, std::size_t i) {
    testing::write_event(spool, "log", {{"level", "info"}, {"text", numbered("said ", i)}});
  });
}

TEST(MergeBounds, ManyDigests) {
  expect_linear_merge(2000, [](record::SpoolWriter& spool, std::size_t i) {
    testing::write_event(spool, "digest",
                         {{"step", i}, {"scope", "parameters"}, {"value", "0123456789abcdef"}});
  });
}

// --- opening a database with objects that Encore did not make ---

/// Makes a database of Encore and runs `statements` in it.
class OpenedDatabase {
 public:
  explicit OpenedDatabase(const std::string& statements) : bytes_(statements.size()) {
    { store::Store made(path(), store::OpenMode::create); }
    store::Database database(path(), SQLITE_OPEN_READWRITE, {});
    database.execute("BEGIN; " + statements + "COMMIT");
  }
  void open() const {
    for (const store::OpenMode mode : {store::OpenMode::read, store::OpenMode::write})
      store::Store store(path(), mode);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::filesystem::path path() const { return folder_ / "encore.db"; }

  testing::TemporaryFolder folder_;
  std::size_t bytes_;
};

std::size_t bytes_of(const std::unique_ptr<OpenedDatabase>& database) {
  return database->bytes();
}

void expect_linear_opening(std::size_t n, const std::function<std::string(std::size_t)>& statements) {
  expect_linear(
      {.size = n, .steps_per_byte = 4000.0, .memory_per_byte = 400.0},
      [&](std::size_t count) { return std::make_unique<OpenedDatabase>(statements(count)); },
      [](const std::unique_ptr<OpenedDatabase>& database) { database->open(); });
}

TEST(OpenBounds, ManyTables) {
  expect_linear_opening(2000, [](std::size_t n) {
    return repeated(n, [](std::size_t i) { return numbered("CREATE TABLE a", i) + " (b); "; });
  });
}

TEST(OpenBounds, ManyViews) {
  expect_linear_opening(2000, [](std::size_t n) {
    return repeated(n, [](std::size_t i) { return numbered("CREATE VIEW a", i) + " AS SELECT 1; "; });
  });
}

TEST(OpenBounds, OneLongView) {
  expect_linear_opening(
      20000, [](std::size_t n) { return "CREATE VIEW a AS SELECT '" + repeated(n, "--b") + "'; "; });
}

/// Nine copies of a table of ten rows, joined without a condition, give 10^9 rows: far more than the budget.
TEST(StepBudget, EndsAStatementThatNeverEnds) {
  store::Database database(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, {});
  database.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9),(10)");
  const store::StepBudget budget(database, 1'000'000);
  try {
    database.integer(
        "SELECT count(*) FROM t, t AS b, t AS c, t AS d, t AS e, t AS f, t AS g, t AS h, t AS i");
    FAIL() << "a thousand million rows were counted";
  } catch (const store::DatabaseError& error) {
    EXPECT_TRUE(error.interrupted()) << error.what();
  }
  EXPECT_TRUE(budget.is_spent());
}

/// While the inner budget exists, the outer one does not count.
TEST(StepBudget, CountsAgainWhenOneWithinItHasEnded) {
  store::Database database(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, {});
  const std::string count =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) SELECT count(*) "
      "FROM n";
  const store::StepBudget outer(database, 1'000'000);
  {
    const store::StepBudget inner(database, 1'000'000'000);
    EXPECT_EQ(database.integer(count), 1000000);
    EXPECT_FALSE(inner.is_spent());
  }
  EXPECT_THROW(database.integer(count), store::DatabaseError);
  EXPECT_TRUE(outer.is_spent());
}

/// The budget of the first line would stop the statement if it still counted.
TEST(StepBudget, LimitsNothingAfterItIsDestroyed) {
  store::Database database(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, {});
  { const store::StepBudget budget(database, 0); }
  EXPECT_EQ(
      database.integer("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) "
                       "SELECT count(*) FROM n"),
      100000);
}

}  // namespace
}  // namespace encore::bounds
