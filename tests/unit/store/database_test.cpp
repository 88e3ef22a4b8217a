// SPDX-License-Identifier: BSD-3-Clause
// Tests opening a database (store/encore_database.hpp, store/foreign_schema.hpp, store/database.hpp): what is
// made, which files are rejected with which message, and transactions and locks. A file may come from anyone,
// so nothing in its schema may run.
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "store/foreign_schema.hpp"
#include "unit/store/store_fixture.hpp"

namespace encore::store {
namespace {

using testing::message_of;
using testing::StoreTest;
using testing::TemporaryFolder;
using testing::write_bytes;

std::string refusal(const std::filesystem::path& path, OpenMode mode) {
  return message_of<Error>([&] { open_encore_database(path, mode, std::chrono::milliseconds(50)); });
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in: " << text;
}

TEST(Database, IsMadeWithItsFolders) {
  TemporaryFolder folder;
  const auto path = folder / "a/b/encore.db";
  auto database = open_encore_database(path, OpenMode::create);
  EXPECT_EQ(database->integer("PRAGMA application_id"), schema_application);
  EXPECT_EQ(database->integer("PRAGMA user_version"), schema_version);
  EXPECT_EQ(database->integer("PRAGMA foreign_keys"), 1);
  EXPECT_EQ(database->text("PRAGMA journal_mode"), carries_wal(folder.path()) ? "wal" : "delete");
  open_encore_database(path, OpenMode::create);
  open_encore_database(path, OpenMode::write);
  open_encore_database(path, OpenMode::read);
}

TEST(Database, EveryTableIsStrict) {
  TemporaryFolder folder;
  auto database = open_encore_database(folder / "e.db", OpenMode::create);
  EXPECT_EQ(database->integer(
                "SELECT count(*) FROM pragma_table_list WHERE type = 'table' AND schema = 'main' AND NOT "
                "strict AND name NOT LIKE 'sqlite_%'"),
            0);
}

TEST(Database, RejectsAMissingFileAndAFolder) {
  TemporaryFolder folder;
  expect_contains(refusal(folder / "none.db", OpenMode::read), "there is no database");
  expect_contains(refusal(folder / "none.db", OpenMode::write), "exp run makes one");
  EXPECT_FALSE(std::filesystem::exists(folder / "none.db"));
  expect_contains(refusal(folder.path(), OpenMode::create), "is a folder");
}

TEST(Database, RejectsAFileThatIsNotADatabase) {
  TemporaryFolder folder;
  const std::string text =
      "This is a letter to somebody, not a database, and it is longer than a head of one hundred bytes.";
  write_bytes(folder / "letter", text + text);
  for (OpenMode mode : {OpenMode::create, OpenMode::write, OpenMode::read}) {
    expect_contains(refusal(folder / "letter", mode), "is not a database; choose another path with --db");
  }
  EXPECT_EQ(testing::read_bytes(folder / "letter"), text + text);
}

TEST(Database, RefusesTheDatabaseOfAnotherProgram) {
  TemporaryFolder folder;
  Database(folder / "other.db", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, {})
      .execute("CREATE TABLE run (id)");
  Database(folder / "fossil.db", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, {})
      .execute("PRAGMA application_id = 252006673");
  for (OpenMode mode : {OpenMode::create, OpenMode::write, OpenMode::read}) {
    expect_contains(refusal(folder / "other.db", mode), "is the database of another program");
    expect_contains(refusal(folder / "fossil.db", mode), "is the database of another program");
  }
}

TEST(Database, AnEmptyFileIsOnlyOpenedToCreate) {
  TemporaryFolder folder;
  write_bytes(folder / "e.db", "");
  for (OpenMode mode : {OpenMode::read, OpenMode::write})
    expect_contains(refusal(folder / "e.db", mode), "e.db is empty; exp run fills it");
  open_encore_database(folder / "e.db", OpenMode::create);
  open_encore_database(folder / "e.db", OpenMode::read);
}

TEST(Database, RejectsADatabaseOfAnotherVersion) {
  TemporaryFolder folder;
  open_encore_database(folder / "e.db", OpenMode::create)->execute("PRAGMA user_version = 99");
  expect_contains(
      refusal(folder / "e.db", OpenMode::create),
      "was made by a newer Encore (version 99, this one knows " + std::to_string(schema_version) + ")");
  {
    Database database(folder / "e.db", SQLITE_OPEN_READWRITE, {});
    database.execute("PRAGMA user_version = 0");
  }
  expect_contains(refusal(folder / "e.db", OpenMode::read), "exp db upgrade");
}

TEST(Database, RefusesATriggerAndSaysHowToDropIt) {
  TemporaryFolder folder;
  const auto path = folder / "e.db";
  {
    Store store(path, OpenMode::create);
    record::Specification specification = testing::specification_of();
    store.add_run(specification);
    Database(path, SQLITE_OPEN_READWRITE, {})
        .execute("CREATE TRIGGER \"it's\" AFTER UPDATE ON run BEGIN UPDATE run SET name = 'taken'; END");
    store.set_note(1, "a note");  // switched off even in a connection that was open when the trigger came
    EXPECT_EQ(store.find_run("test").note, "a note");
  }
  for (OpenMode mode : {OpenMode::create, OpenMode::write, OpenMode::read})
    EXPECT_EQ(refusal(path, mode), "database " + path.string() +
                                       " has a trigger \"it's\" on \"run\": Encore has no triggers, and a "
                                       "trigger would run with each change. To drop it: sqlite3 '" +
                                       path.string() + "' 'DROP TRIGGER \"it'\\''s\"'");
  Database(path, SQLITE_OPEN_READWRITE, {}).execute("DROP TRIGGER \"it's\"");
  EXPECT_EQ(Store(path, OpenMode::write).find_run("test").note, "a note");
}

TEST(Database, TakesViewsIndicesAndTablesOfTheUsersOwn) {
  TemporaryFolder folder;
  const auto path = folder / "e.db";
  open_encore_database(path, OpenMode::create);
  Database(path, SQLITE_OPEN_READWRITE, {})
      .execute(
          "CREATE VIEW mine AS SELECT name FROM run; CREATE INDEX mine_too ON run (note);"
          "CREATE TABLE notes (run INTEGER REFERENCES run (number) ON DELETE CASCADE, text TEXT)");
  Store store(path, OpenMode::write);
  record::Specification specification = testing::specification_of();
  const std::int64_t run = store.add_run(specification).run.number;
  store.database().execute("INSERT INTO notes VALUES (1, 'x')");
  EXPECT_EQ(Database(path, SQLITE_OPEN_READONLY, {}).text("SELECT name FROM mine"), "test");
  store.purge_run(run);
  EXPECT_EQ(store.database().integer("SELECT count(*) FROM notes"), 0);
}

TEST(Database, ASchemaCallsNothingButHarmlessFunctionsAndCannotBeWrittenPast) {
  TemporaryFolder folder;
  open_encore_database(folder / "e.db", OpenMode::create);
  Database database(folder / "e.db", SQLITE_OPEN_READWRITE, {});
  database.execute("CREATE VIEW sly AS SELECT load_extension('/tmp/evil.so') AS one");
  expect_contains(message_of<DatabaseError>([&] { database.integer("SELECT one FROM sly"); }),
                  "unsafe use of load_extension()");
  database.execute("PRAGMA writable_schema = ON");
  expect_contains(message_of<DatabaseError>([&] { database.execute("DELETE FROM sqlite_schema"); }),
                  "may not be modified");
}

TEST(Database, AGuardedConnectionReadsAndChangesRowsAndNothingElse) {
  TemporaryFolder folder;
  const auto path = folder / "e.db";
  open_encore_database(path, OpenMode::create);
  Database(path, SQLITE_OPEN_READWRITE, {}).execute("CREATE VIEW mine AS SELECT name FROM run");
  auto database = open_encore_database(path, OpenMode::write);
  const std::string copy = (folder / "copy.db").string();
  for (const std::string& sql :
       {"ATTACH '" + copy + "' AS copy", "VACUUM INTO '" + copy + "'", std::string("VACUUM"),
        std::string("SELECT name FROM mine"), std::string("CREATE TABLE more (x)"),
        std::string("CREATE VIEW more AS SELECT 1"), std::string("DROP TABLE run"),
        std::string("ALTER TABLE run ADD COLUMN x"), std::string("PRAGMA writable_schema = ON"),
        std::string("CREATE TRIGGER t AFTER UPDATE ON run BEGIN SELECT 1; END"),
        std::string("SELECT load_extension('/tmp/evil.so')"), std::string("REINDEX")})
    EXPECT_NE(message_of<DatabaseError>([&] { database->execute(sql); }), "") << sql;
  EXPECT_FALSE(std::filesystem::exists(copy));
  database->execute(
      "CREATE TEMP TABLE t (x); INSERT INTO t SELECT count(*) FROM run; DELETE FROM tag;"
      "WITH n (i) AS (SELECT 1) SELECT count(*) FROM n; SELECT value FROM json_each('[1]')");
  {
    const Unguarded unguarded(*database);
    database->execute("VACUUM INTO '" + copy + "'");
  }
  EXPECT_TRUE(std::filesystem::exists(copy));
  EXPECT_NE(message_of<DatabaseError>([&] { database->execute("VACUUM"); }), "");
}

/// Returns the message for one of our files after `sql` has changed its schema.
std::string refusal_after(const std::string& sql) {
  TemporaryFolder folder;
  open_encore_database(folder / "e.db", OpenMode::create);
  Database(folder / "e.db", SQLITE_OPEN_READWRITE, {}).execute(sql);
  return refusal(folder / "e.db", OpenMode::read);
}

TEST(Database, AHostileSchemaIsRefusedBeforeItRuns) {
  const std::string endless =
      " AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS number FROM n";
  expect_contains(refusal_after("DROP TABLE run; CREATE VIEW run" + endless),
                  "has a view run where a table belongs: Encore did not make it, so");
  expect_contains(refusal_after("DROP VIEW curve; CREATE VIEW curve" + endless),
                  "has another view \"curve\" than Encore makes");
  expect_contains(refusal_after("DROP TABLE tag"), "has no table tag");
  expect_contains(refusal_after("ALTER TABLE tag ADD COLUMN \"x\"\") SELECT 1; VACUUM INTO 'f' --\" TEXT"),
                  "in its table tag, which is not a column of Encore");
  expect_contains(refusal_after("ALTER TABLE run ADD COLUMN more TEXT AS (name || name)"),
                  "a column \"more (generated)\" in its table run");
  expect_contains(refusal_after("ALTER TABLE tag RENAME COLUMN tag TO tags"), "a column \"tags\"");
}

TEST(Database, ACommentMarkWithinALiteralChangesAView) {
  EXPECT_EQ(plain_sql("SELECT  a -- a comment\n , 'x -- y'  /* more */FROM\tb"), "SELECT a,'x -- y'FROM b");
  EXPECT_EQ(plain_sql("SELECT 'it''s -- 1' AS [a -- b], \"c\"\"--\" FROM `d /*` -- end"),
            "SELECT'it''s -- 1'AS[a -- b],\"c\"\"--\"FROM`d /*`");
  EXPECT_NE(plain_sql("SELECT '--' || status\nFROM run"), plain_sql("SELECT '--\nFROM run"));
  EXPECT_NE(plain_sql("SELECT a b"), plain_sql("SELECT ab"));
  const std::string schema = schema_sql;
  const std::size_t begin = schema.find("CREATE VIEW run_status");
  std::string view = schema.substr(begin, schema.find(';', begin) - begin);
  view.replace(view.find("'lost'"), 6, "'lost--'");
  expect_contains(refusal_after("DROP VIEW run_status; " + view),
                  "another view \"run_status\" than Encore makes");
}

TEST(Database, ATextThatIsNotUtf8IsReadAsUtf8) {
  TemporaryFolder folder;
  auto database = open_encore_database(folder / "e.db", OpenMode::create);
  EXPECT_EQ(database->text("SELECT CAST(x'61ffc3a5c362' AS TEXT)"),
            "a\uFFFD\u00E5\uFFFD"
            "b");
  EXPECT_EQ(database->text("SELECT x'ff'"), "\uFFFD");
}

/// Drops the rights of root while it exists, because root may write everywhere.
class WithoutPrivileges {
 public:
  WithoutPrivileges() : done_(::geteuid() != 0 || ::seteuid(65534) == 0), was_root_(::getuid() == 0) {}
  ~WithoutPrivileges() {
    if (was_root_ && ::seteuid(0) != 0) std::abort();
  }
  bool done() const { return done_; }

 private:
  bool done_;
  bool was_root_;
};

TEST(Database, RefusesToWriteInAReadOnlyFolderButReadsThere) {
  TemporaryFolder folder;
  {
    Store store(folder / "old.db", OpenMode::create);
    record::Specification specification = testing::specification_of();
    store.add_run(specification);
  }
  std::filesystem::permissions(folder / "old.db", std::filesystem::perms(0444));
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
  const WithoutPrivileges guard;
  if (!guard.done()) GTEST_SKIP() << "cannot give up the rights of root";
  expect_contains(refusal(folder / "new.db", OpenMode::create), "choose another path with --db");
  expect_contains(refusal(folder / "sub/new.db", OpenMode::create), "cannot make the folder");
  expect_contains(refusal(folder / "old.db", OpenMode::create), "is not writable");
  Store store(folder / "old.db", OpenMode::read);
  EXPECT_EQ(store.list_runs().size(), 1u);
  EXPECT_EQ(store.find_run("test").name, "test");
}

TEST_F(StoreTest, ATransactionRollsBackUnlessCommitted) {
  const auto runs = [&] { return store().database().integer("SELECT count(*) FROM sweep"); };
  const std::string insert = "INSERT INTO sweep (name, file, content, created) VALUES ('a', 'b', 'c', 0)";
  {
    Transaction transaction(store().database());
    store().database().execute(insert);
  }
  EXPECT_EQ(runs(), 0);
  {
    Transaction transaction(store().database());
    store().database().execute(insert);
    transaction.commit();
  }
  EXPECT_EQ(runs(), 1);
  EXPECT_THROW(store().database().execute("INSERT INTO tag (run, tag) VALUES (4711, 'x')"), DatabaseError);
}

TEST_F(StoreTest, ALockedDatabaseNamesTheProcessThatLocksIt) {
  store();
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto database = open_encore_database(path(), OpenMode::write);
    Transaction transaction(*database);
    database->execute("INSERT INTO sweep (name, file, content, created) VALUES ('a', 'b', 'c', 0)");
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  Store impatient(path(), OpenMode::write, std::chrono::milliseconds(20));
  std::string message;
  bool busy = false;
  try {
    impatient.add_sweep("n", "f", "c");
  } catch (const DatabaseError& error) {
    message = error.what();
    busy = error.busy();
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(busy);
  expect_contains(message, "is locked");
  expect_contains(message, "try again");
  // Not every kernel shows the locks of other processes.
  if (message.find(" by ") != std::string::npos)
    expect_contains(message, "(process " + std::to_string(child) + ")");
  EXPECT_GT(impatient.add_sweep("n", "f", "c"), 0) << "a killed process holds no lock";
}

TEST_F(StoreTest, AFullDatabaseIsReportedAndLosesNothing) {
  add('a');
  store().database().integer("PRAGMA max_page_count = 1");
  const std::string message = message_of<DatabaseError>([&] {
    for (int number = 0; number < 200; ++number) {
      store().add_sweep("name", "file", std::string(4096, 'x') + std::to_string(number));
    }
  });
  expect_contains(message, "the disk is full");
  store().database().integer("PRAGMA max_page_count = 1000000");
  EXPECT_EQ(store().list_runs().size(), 1u);
  EXPECT_GT(store().add_sweep("n", "f", "c"), 0);
}

}  // namespace
}  // namespace encore::store
