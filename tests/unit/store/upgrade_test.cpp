// SPDX-License-Identifier: BSD-3-Clause
// Tests upgrade_database() and backup_database() (store/upgrade.hpp), which `exp db upgrade` and `exp db
// backup` call. The migrations from the stored schemas of versions 1 to 9 (schema_1.sql to schema_9.sql) must
// give the tables that store/schema.sql makes. Migrations that a test passes are applied in order, or none of
// them, after a copy was made. These files never change, because databases of users have these schemas.
#include <filesystem>

#include "store/upgrade.hpp"
#include "support/places.hpp"
#include "unit/record/aside_files.hpp"
#include "unit/store/store_fixture.hpp"

namespace encore::store {
namespace {

using testing::message_of;
using testing::StoreTest;
using testing::TemporaryFolder;

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in: " << text;
}

/// Returns tables with their columns, indices, and views with their SQL, without differences in blanks.
std::string shape_of(Database& database) {
  std::string shape;
  Statement rows(
      database,
      "SELECT m.name || ' ' || c.name || ' ' || c.type || ' ' || c.\"notnull\" || ' ' || "
      "coalesce(c.dflt_value, '') || ' ' || c.pk FROM sqlite_schema AS m, pragma_table_info(m.name) AS c "
      "WHERE m.type = 'table' UNION ALL SELECT name || replace(replace(coalesce(sql, ''), ' ', ''), "
      "char(10), '') FROM sqlite_schema WHERE type <> 'table' ORDER BY 1");
  while (rows.step()) shape += rows.text(0) + "\n";
  return shape;
}

/// Makes a database as an earlier version did, with a run.
void make_version(int version, const std::filesystem::path& path) {
  Database database(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, {});
  database.execute(testing::read_bytes(std::string(ENCORE_SOURCE_DIR) + "/tests/unit/store/schema_" +
                                       std::to_string(version) + ".sql"));
  database.execute(
      "INSERT INTO run (id, name, question, group_id, backend, seed, created) "
      "VALUES ('0123456789', 'old', 'q', 'g', 'openmp', 1, 0)");
}

std::vector<Migration> with(const Migration& injected) {
  std::vector<Migration> list(known_migrations().begin(), known_migrations().end());
  list.push_back(injected);
  return list;
}

class UpgradeFrom : public ::testing::TestWithParam<int> {};

TEST_P(UpgradeFrom, GivesWhatSchemaSqlMakes) {
  const int version = GetParam();
  TemporaryFolder folder;
  make_version(version, folder / "old.db");
  expect_contains(message_of<Error>([&] { open_encore_database(folder / "old.db", OpenMode::write); }),
                  "is of version " + std::to_string(version) +
                      ", this Encore needs 10; run exp db upgrade, which keeps a copy");
  const Upgrade upgrade = upgrade_database(folder / "old.db");
  EXPECT_EQ(upgrade.from, version);
  EXPECT_EQ(upgrade.to, schema_version);
  EXPECT_EQ(upgrade.backup, folder / ("old.db.version-" + std::to_string(version) + ".backup"));
  EXPECT_EQ(shape_of(*open_encore_database(folder / "old.db", OpenMode::read)),
            shape_of(*open_encore_database(folder / "new.db", OpenMode::create)));
  Store store(folder / "old.db", OpenMode::read);
  EXPECT_EQ(store.find_run("old").id, "0123456789");
  EXPECT_NO_THROW(Store(folder / "old.db", OpenMode::write)
                      .database()
                      .execute("UPDATE run SET state = 'pruned' WHERE name = 'old'"));
  expect_contains(message_of<Error>([&] {
                    Store(folder / "old.db", OpenMode::write)
                        .database()
                        .execute("UPDATE run SET state = 'purple' WHERE name = 'old'");
                  }),
                  "CHECK constraint failed: state IN");
  Database backup(upgrade.backup, SQLITE_OPEN_READONLY, {});
  EXPECT_EQ(backup.integer("PRAGMA user_version"), version);
  EXPECT_EQ(backup.integer("PRAGMA application_id"), schema_application);
  EXPECT_EQ(backup.text("SELECT name FROM run"), "old");
  EXPECT_TRUE(upgrade_database(folder / "old.db").backup.empty()) << "the second time there is nothing to do";
}

INSTANTIATE_TEST_SUITE_P(EveryVersion, UpgradeFrom, ::testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9));

TEST(Upgrade, AllowsConfirmationsInSearchesOfEarlierVersions) {
  for (const int version : {5, 6}) {
    TemporaryFolder folder;
    make_version(version, folder / "old.db");
    upgrade_database(folder / "old.db");
    Store store(folder / "old.db", OpenMode::write);
    Database& database = store.database();
    database.execute(
        "INSERT INTO sweep (number, name, file, content, created) VALUES (1, 's', 'f', '', 0);"
        "INSERT INTO search (number, name, sweep, identity, backend, settings, space, created) VALUES (1, "
        "'s', 1, 'i', "
        "'openmp', '{}', '[]', 0);"
        "INSERT INTO search_trial (search, number, point, active) VALUES (1, 0, '[]', '[]');"
        "INSERT INTO search_decision (search, number, kind, trial, epochs, observations, limits, time) "
        "VALUES (1, 1, "
        "'confirm', 0, 4, 0, '{}', 0);"
        "INSERT INTO search_observation (search, number, trial, epochs, outcome, scores, seconds, time) "
        "VALUES (1, 1, "
        "0, 4, 'confirmed', '[]', 0, 0)");
    expect_contains(
        message_of<Error>([&] { database.execute("UPDATE search_decision SET kind = 'purple'"); }),
        "CHECK constraint failed: kind IN");
    expect_contains(
        message_of<Error>([&] { database.execute("UPDATE search_observation SET outcome = 'purple'"); }),
        "CHECK constraint failed: outcome IN");
  }
}

TEST(Upgrade, LeavesAViewOfTheUserSOwn) {
  TemporaryFolder folder;
  make_version(5, folder / "old.db");
  Database(folder / "old.db", SQLITE_OPEN_READWRITE, {}).execute("CREATE VIEW mine AS SELECT name FROM run");
  upgrade_database(folder / "old.db");
  EXPECT_EQ(Database(folder / "old.db", SQLITE_OPEN_READWRITE, {}).text("SELECT name FROM mine"), "old");
}

/// Returns names and meanings of all metrics of runs, read by SQL.
std::string meanings_of(Database& database) {
  std::string text;
  Statement rows(database, "SELECT name || '|' || coalesce(measure, 'NULL') FROM run_metric ORDER BY place");
  while (rows.step()) text += rows.text(0) + "\n";
  return text;
}

TEST(Upgrade, TheMeaningOfOldMetricsIsFilledIn) {
  TemporaryFolder folder;
  make_version(4, folder / "old.db");
  Database(folder / "old.db", SQLITE_OPEN_READWRITE, {})
      .execute(
          "INSERT INTO metric (name, unit) VALUES ('train/loss', ''), ('train/tokens_per_second', "
          "'tokens/s'), "
          "('dev/f1', ''), ('test/recall/creative-work', ''), ('dev/token_accuracy', ''), ('dev/loss', ''), "
          "('dev/perplexity_of_mine', 'bits'), ('f1', '');"
          "INSERT INTO attempt (run, ordinal, started, token, expires, host_name, pid, process_start, "
          "boot_id) "
          "VALUES (1, 1, 0, '', 0, '', 1, 1, '');"
          "INSERT INTO spool_metric SELECT 1, number, number FROM metric");
  upgrade_database(folder / "old.db");
  Store store(folder / "old.db", OpenMode::read);
  EXPECT_EQ(
      meanings_of(store.database()),
      "train/loss|{\"better\":\"lower\",\"name\":\"loss\",\"reducer\":\"opaque\"}\n"
      "train/tokens_per_second|{\"name\":\"tokens_per_second\",\"reducer\":\"opaque\",\"title\":\"tokens per "
      "second\",\"unit\":\"tokens/s\"}\n"
      "dev/f1|{\"better\":\"higher\",\"columns\":[\"correct\",\"predicted\",\"truth\"],\"fraction\":true,"
      "\"name\":\"f1\",\"reducer\":\"harmonic_mean\",\"title\":\"F1\"}\n"
      "test/recall/"
      "creative-work|{\"better\":\"higher\",\"columns\":[\"correct\",\"truth\"],\"fraction\":true,"
      "\"name\":\"recall/{label}\",\"reducer\":\"ratio\",\"title\":\"recall\"}\n"
      "dev/token_accuracy|{\"better\":\"higher\",\"columns\":[\"correct_words\",\"words\"],\"fraction\":true,"
      "\"name\":\"token_accuracy\",\"reducer\":\"ratio\",\"title\":\"token accuracy\"}\n"
      "dev/loss|{\"better\":\"lower\",\"name\":\"loss\",\"reducer\":\"opaque\"}\n"
      "dev/perplexity_of_mine|{\"unit\":\"bits\"}\n"
      "f1|NULL\n")
      << "no meaning is guessed for a name that Encore did not write";
}

TEST(Upgrade, FromVersion9KeepsWhatRowsMean) {
  TemporaryFolder folder;
  make_version(9, folder / "old.db");
  Database(folder / "old.db", SQLITE_OPEN_READWRITE, {})
      .execute(
          "INSERT INTO build (description) VALUES ('{}');"
          "INSERT INTO code (commit_hash, diff) VALUES ('c0ffee', 'a diff');"
          "INSERT INTO attempt (run, ordinal, state, started, token, expires, host_name, pid, process_start, "
          "boot_id, build, code, first_step) VALUES (1, 1, 'lost', 0, '', 0, '', 1, 1, '', 1, 1, 1), (1, 2, "
          "'lost', 0, '', 0, '', 1, 1, '', 1, 1, 2);"
          "INSERT INTO metric (name) VALUES ('train/loss');"
          "INSERT INTO point VALUES (1, 1, 1, 1, 8.0, NULL), (1, 1, 2, 1, 4.0, NULL), (1, 1, 3, 1, 1.0, "
          "NULL), "
          "(1, 1, 2, 2, 5.0, NULL);"
          "INSERT INTO verification (run, time, outcome) VALUES (1, 5, 'equal');"
          "INSERT INTO sweep (number, name, file, content, created) VALUES (1, 's', 'f', '', 0);"
          "INSERT INTO search (number, name, sweep, identity, backend, settings, space, created) VALUES (1, "
          "'s', 1, 'i', 'openmp', '{}', '[]', 0);"
          "INSERT INTO search_trial (search, number, point, active, problem) VALUES (1, 0, '[]', '[]', "
          "'excluded by \"exclude\" of [search]'), (1, 1, '[]', '[]', 'width must be even'), (1, 2, '[]', "
          "'[]', '')");
  upgrade_database(folder / "old.db");
  Store store(folder / "old.db", OpenMode::write);
  const RunRow run = store.find_run("old");
  EXPECT_EQ(run.kind, "training");
  EXPECT_FALSE(run.origin);
  EXPECT_FALSE(store.read_verifications(1).at(0).origin);
  EXPECT_EQ(store.read_attempts(1).at(0).commit_hash, "c0ffee");
  EXPECT_EQ(store.database().text("SELECT quote(source) FROM build"), "NULL") << "it was not recorded";
  EXPECT_EQ(store.database().text("SELECT group_concat(excluded, '') FROM search_trial"), "100");
  const MetricSummary loss = store.read_summary(1, "train/loss").value();
  EXPECT_EQ(loss.newest.step, 2) << "the second attempt overrules from there on";
  EXPECT_EQ(loss.newest.value, 5.0);
  EXPECT_EQ(loss.newest.attempt, 2);
  EXPECT_EQ(loss.points, 2);
  EXPECT_EQ(loss.greatest, 8.0);
  EXPECT_EQ(store.database().text("PRAGMA integrity_check"), "ok");
}

TEST_F(StoreTest, AnInjectedMigrationIsAppliedInOrder) {
  add();
  const Upgrade upgrade = upgrade_database(
      path(),
      with({schema_version + 1, "ALTER TABLE run ADD COLUMN colour TEXT; UPDATE run SET colour = 'red'"}));
  EXPECT_EQ(upgrade.to, schema_version + 1);
  EXPECT_EQ(store().database().text("SELECT colour FROM run"), "red");
  expect_contains(message_of<Error>([&] { open_encore_database(path(), OpenMode::read); }),
                  "newer Encore (version " + std::to_string(schema_version + 1));
  expect_contains(message_of<Error>([&] { upgrade_database(path()); }),
                  "was made by a newer Encore (version " + std::to_string(schema_version + 1) +
                      ", this one knows " + std::to_string(schema_version) + ")");
}

TEST_F(StoreTest, AMigrationThatFailsChangesNothingAndItsCopyStays) {
  const std::int64_t run = add();
  store().set_tag(run, "paper", true);
  const std::string before = testing::dump(store().database());
  for (const char* sql : {"ALTER TABLE run ADD COLUMN colour TEXT; SELECT * FROM no_such_table",
                          "ALTER TABLE run ADD COLUMN colour TEXT; DELETE FROM run"}) {
    const std::string message = message_of<Error>([&] {
      upgrade_database(path(), with({schema_version + 1, sql}));
    });
    EXPECT_TRUE(message.find("no_such_table") != std::string::npos ||
                message.find("would leave rows of table") != std::string::npos)
        << message;
    EXPECT_EQ(store().database().integer("PRAGMA user_version"), schema_version);
    EXPECT_EQ(testing::dump(store().database()), before);
  }
  const std::string copy = path().string() + ".version-" + std::to_string(schema_version);
  EXPECT_TRUE(std::filesystem::exists(copy + ".backup"));
  EXPECT_TRUE(std::filesystem::exists(copy + "-2.backup"));
}

TEST_F(StoreTest, AnUpgradeIsRefusedWhileARunIsTrainedAndForUnknownVersions) {
  const std::int64_t run = add();
  const auto lease = store().begin_attempt(run);
  const auto more = with({schema_version + 1, "ALTER TABLE run ADD COLUMN colour TEXT"});
  expect_contains(message_of<Error>([&] { upgrade_database(path(), more); }),
                  "cannot upgrade while run test is training: run \"exp stop test\"");
  store().finish_attempt(*lease, RunState::interrupted);
  EXPECT_EQ(upgrade_database(path(), more).to, schema_version + 1);
  store().database().execute("PRAGMA user_version = 0");
  expect_contains(message_of<Error>([&] { upgrade_database(path()); }), "which no release of Encore made");
  expect_contains(message_of<Error>([&] { upgrade_database(folder_ / "none.db"); }), "there is no database");
}

TEST_F(StoreTest, AnUpgradeRefusesTriggers) {
  make_version(2, folder_ / "old.db");
  Database(folder_ / "old.db", SQLITE_OPEN_READWRITE, {})
      .execute("CREATE TRIGGER sly AFTER UPDATE ON run BEGIN SELECT 1; END");
  expect_contains(message_of<Error>([&] { upgrade_database(folder_ / "old.db"); }),
                  "has a trigger \"sly\" on \"run\"");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "old.db.version-2.backup"));
}

TEST_F(StoreTest, ABackupIsWholeWhileAnotherWrites) {
  add();
  Store writer(path(), OpenMode::write);
  Transaction transaction(writer.database());
  writer.database().execute("INSERT INTO sweep (name, file, content, created) VALUES ('half', 'b', 'c', 0)");
  backup_database(store().database(), folder_ / "copy.db");
  transaction.commit();
  Store copy(folder_ / "copy.db", OpenMode::read);
  EXPECT_EQ(copy.database().text("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(copy.list_runs().size(), 1u);
  EXPECT_EQ(copy.database().integer("SELECT count(*) FROM sweep"), 0) << "an uncommitted change is not in it";
  EXPECT_FALSE(testing::holds_aside_file(folder_.path()));
}

TEST_F(StoreTest, ABackupReplacesNothingAndSaysWhyItCannotBeMade) {
  testing::write_bytes(folder_ / "mine.txt", "mine");
  expect_contains(message_of<Error>([&] { backup_database(store().database(), folder_ / "mine.txt"); }),
                  "mine.txt exists; a backup replaces no file, name another one");
  EXPECT_EQ(testing::read_bytes(folder_ / "mine.txt"), "mine");
  expect_contains(message_of<Error>([&] { backup_database(store().database(), folder_ / "no/such.db"); }),
                  "no/such.db");
}

}  // namespace
}  // namespace encore::store
