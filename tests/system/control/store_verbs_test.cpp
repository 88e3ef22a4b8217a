// SPDX-License-Identifier: BSD-3-Clause
// Tests the verbs that maintain the store, called as a user does: db, gc, rm, undelete, tag, note, query,
// dump, completion (cli/db_verb.cpp, cli/gc_verb.cpp, app/removal.hpp, app/dump.hpp and others). The scripted
// worker (fake_worker.cpp) writes the runs without computing a model. Members of JSON and columns of CSV must
// stay; the printed words may change. "version 10" is the newest version of the schema (store/schema.sql): a
// new version changes it here.
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "support/places.hpp"
#include "system/control/hold.hpp"

namespace encore::system_test {
namespace {

class StoreVerbs : public ::testing::Test {
 protected:
  void SetUp() override {
    sandbox_.set("FAKE_STEP_MS", "0");
    output_of({"run", "tiny.toml", "--quiet"});
  }
  std::string output_of(const std::vector<std::string>& arguments) {
    const runner::ProgramOutput output = sandbox_.exp(arguments);
    EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors;
    return output.output;
  }
  void expect_refused(const std::vector<std::string>& arguments, const std::string& message) {
    const runner::ProgramOutput output = sandbox_.exp(arguments);
    EXPECT_EQ(output.end.exit_code, 2) << output.output << output.errors;
    EXPECT_TRUE(contains(output.errors, message)) << output.errors;
  }
  std::string folder_of(const std::string& run) {
    return "encore.db.runs/" + sandbox_.one("SELECT id FROM run WHERE name = '" + run + "'");
  }
  bool exists(const std::string& path) { return std::filesystem::exists(sandbox_.folder() / path); }

  Sandbox sandbox_;
};

TEST_F(StoreVerbs, ARemovedRunStartsAgainAndComesBack) {
  EXPECT_TRUE(
      contains(output_of({"rm", "tiny"}), "tiny is hidden from exp ls; exp undelete tiny restores it"));
  EXPECT_TRUE(contains(output_of({"ls"}), "no runs yet"));
  EXPECT_TRUE(contains(output_of({"ls", "--removed"}), "tiny"));
  expect_refused({"show", "tiny"}, "run tiny was removed; exp undelete tiny restores it");
  EXPECT_EQ(nlohmann::json::parse(output_of({"plan", "tiny.toml", "--json"})).at("runs").at(0).at("action"),
            "start");
  output_of({"run", "tiny.toml"});
  EXPECT_EQ(sandbox_.query("SELECT name || ' ' || repeat || ' ' || state FROM run ORDER BY number"),
            (std::vector<std::string>{"tiny 1 completed", "tiny-2 2 completed"}));
  EXPECT_TRUE(contains(output_of({"undelete", "tiny"}), "tiny (completed) is restored"));
  EXPECT_TRUE(contains(output_of({"run", "tiny.toml"}), "nothing to do"));
  expect_refused({"undelete", "tiny"}, "run tiny is not removed");
  expect_refused({"rm"}, "exp rm needs a run");
  expect_refused({"rm", "tiny", "tinny"}, "there is no run \"tinny\"");
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM run WHERE removed IS NULL"), "2") << "all or none";
}

TEST_F(StoreVerbs, PurgeAsksAndTakesTheFolder) {
  const std::string folder = folder_of("tiny");
  expect_refused({"rm", "--purge", "tiny"},
                 "cannot ask whether to remove tiny for good, with checkpoints and predictions: stdin is not "
                 "a terminal; pass -y to confirm");
  EXPECT_TRUE(exists(folder));
  EXPECT_TRUE(contains(output_of({"rm", "--purge", "-y", "tiny"}), "is removed for good"));
  EXPECT_FALSE(exists(folder));
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM point"), "0");
  EXPECT_TRUE(contains(output_of({"db", "check"}), "is sound: 0 runs"));
}

TEST_F(StoreVerbs, ARunningRunIsNeitherRemovedNorCollected) {
  const Hold hold(sandbox_, 8);
  const pid_t process = sandbox_.start({"run", "tiny.toml", "-S", "name=slow", "--seed", "2"});
  ASSERT_EQ(hold.wait_for(1).size(), 1u) << sandbox_.read("output.txt");
  ASSERT_TRUE(
      sandbox_.wait_until("SELECT count(*) > 0 FROM checkpoint JOIN run ON run.number = run "
                          "WHERE run.name LIKE 'slow%'",
                          "1"));
  const std::string name = sandbox_.one("SELECT name FROM run WHERE name LIKE 'slow%'");
  const std::string part = folder_of(name) + "/checkpoints/step-00000001.safetensors.part";
  sandbox_.write(part, "being written");
  expect_refused({"rm", name}, "run " + name + " is running in process");
  expect_refused({"rm", "--purge", "-y", name}, "exp stop " + name + " stops it first");
  EXPECT_TRUE(contains(output_of({"gc", "-y"}), "nothing to remove"));
  ::kill(process, SIGINT);
  ASSERT_TRUE(Sandbox::wait(process));
  sandbox_.write(part, "left behind");
  EXPECT_TRUE(contains(output_of({"gc"}), "leftover"));
  EXPECT_FALSE(exists(part));
}

TEST_F(StoreVerbs, GarbageIsShownThenRemoved) {
  const std::string old = folder_of("tiny") + "/checkpoints/step-00000005.safetensors";
  sandbox_.write(old, std::string(1000, 'x'));
  const nlohmann::json found = nlohmann::json::parse(output_of({"gc", "--dry-run", "--json"}));
  EXPECT_EQ(found.at("bytes"), 1000);
  EXPECT_EQ(found.at("removed"), false);
  EXPECT_EQ(found.at("items").at(0).at("kind"), "checkpoint");
  EXPECT_EQ(found.at("items").at(0).at("run"), "tiny");
  EXPECT_TRUE(exists(old));
  const std::string text = output_of({"gc", "--dry-run"});
  EXPECT_TRUE(contains(text, "1.0 kB would be removed (dry run)")) << text;
  EXPECT_TRUE(contains(output_of({"gc"}), "1.0 kB removed"));
  EXPECT_FALSE(exists(old));
  EXPECT_TRUE(exists(folder_of("tiny") + "/checkpoints/step-00000020.safetensors"));
}

TEST_F(StoreVerbs, FoldersOfUnknownRunsGoOnlyWithConsent) {
  sandbox_.write("encore.db.runs/00000000aa/attempt-0001.spool", "x");
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(2);
  for (const char* path : {"encore.db.runs/00000000aa/attempt-0001.spool", "encore.db.runs/00000000aa"})
    std::filesystem::last_write_time(sandbox_.folder() / path, old);
  expect_refused({"gc"}, "cannot ask whether to remove 1 folder of a run that encore.db does not know");
  EXPECT_TRUE(exists("encore.db.runs/00000000aa"));
  EXPECT_TRUE(contains(output_of({"gc", "-y"}), "folder"));
  EXPECT_FALSE(exists("encore.db.runs/00000000aa"));
}

TEST_F(StoreVerbs, TagsAndNotes) {
  EXPECT_EQ(output_of({"tag", "tiny"}), "tiny: no tags\n");
  EXPECT_EQ(output_of({"tag", "tiny", "+paper", "+draft"}), "tiny: draft, paper\n");
  EXPECT_EQ(output_of({"tag", "-draft", "tiny", "+h", "--db", "encore.db"}), "tiny: h, paper\n");
  EXPECT_EQ(output_of({"tag", "tiny", "--", "-h"}), "tiny: paper\n");
  EXPECT_TRUE(contains(output_of({"ls", "--tag", "paper"}), "tiny"));
  EXPECT_EQ(output_of({"ls", "--tag", "draft"}), "no run fits --tag draft; there is no tag \"draft\"\n");
  EXPECT_EQ(output_of({"ls", "--sweep", "tinny"}),
            "no run fits --sweep tinny; there is no sweep \"tinny\"; did you mean \"tiny\"?\n");
  expect_refused({"tag", "tiny", "+two words"}, "invalid tag \"two words\": expected one word");
  expect_refused({"tag", "+paper"}, "exp tag needs a run");
  expect_refused({"tag", "tiny", "--paper"}, "unknown option --paper");
  expect_refused({"tag", "tiny", "paper"}, "; write +paper to add it as a tag");
  EXPECT_EQ(output_of({"note", "tiny"}), "tiny has no note\n");
  EXPECT_EQ(output_of({"note", "tiny", "a \"good\" one"}), "tiny: noted\n");
  EXPECT_EQ(output_of({"note", "tiny"}), "a \"good\" one\n");
  EXPECT_TRUE(contains(output_of({"show", "tiny"}), "a \"good\" one"));
  EXPECT_EQ(output_of({"note", "tiny", ""}), "tiny: the note is removed\n");
  EXPECT_EQ(output_of({"note", "tiny"}), "tiny has no note\n");
}

TEST_F(StoreVerbs, QueriesAreAnsweredInThreeForms) {
  EXPECT_EQ(output_of({"query", "SELECT 1 AS one, 'a\"b' AS text, NULL AS gone"}),
            "one  text  gone\n  1  a\"b   NULL\n");
  EXPECT_EQ(output_of({"query", "SELECT 1 AS a, 'x,y' AS b", "--csv"}), "a,b\r\n1,\"x,y\"\r\n");
  const nlohmann::json rows = nlohmann::json::parse(
      output_of({"query", "SELECT name, name, repeat, 0.1, NULL, x'00ff' AS b FROM run", "--json"}));
  EXPECT_EQ(rows, nlohmann::json::parse(
                      R"([{"name":"tiny","name_2":"tiny","repeat":1,"0.1":0.1,"NULL":null,"b":"00ff"}])"));
  EXPECT_EQ(output_of({"query", "SELECT 1 WHERE 0", "--json"}), "[\n]\n");
  const std::string infinite = "SELECT 9e999 AS x, -9e999 AS y";
  EXPECT_EQ(output_of({"query", infinite, "--csv"}), "x,y\r\ninf,-inf\r\n");
  EXPECT_TRUE(contains(output_of({"query", infinite}), "inf")) << "and not the text for NULL";
  EXPECT_EQ(nlohmann::json::parse(output_of({"query", infinite, "--json"})),
            nlohmann::json::parse("[{\"x\": \"inf\", \"y\": \"-inf\"}]"));
}

TEST_F(StoreVerbs, AQueryCannotWrite) {
  const std::string before = sandbox_.one("SELECT group_concat(name || note) FROM run");
  for (const char* sql :
       {"DELETE FROM run", "UPDATE run SET note = 'x' RETURNING note", "DROP TABLE run",
        "VACUUM INTO 'copy.db'", "ATTACH 'other.db' AS other", "PRAGMA user_version = 7", "BEGIN IMMEDIATE",
        "CREATE TEMP TABLE t (x)", "WITH a AS (SELECT 1) INSERT INTO tag SELECT 1, 'x'"})
    expect_refused({"query", sql}, "exp query only reads: SELECT");
  expect_refused({"query", "SELECT 1; DELETE FROM run"}, "exp query takes one statement at a time");
  expect_refused({"query", "SELEKT 1"}, "invalid SQL at character 1");
  expect_refused({"query", "SELECT colour FROM run"}, "no such column: colour");
  expect_refused({"query", " -- only a comment"}, "exp query needs a statement");
  expect_refused({"query", "SELECT 1", "--csv", "--json"}, "exclude each other");
  EXPECT_EQ(sandbox_.one("SELECT group_concat(name || note) FROM run"), before);
  EXPECT_FALSE(exists("copy.db"));
  EXPECT_FALSE(exists("other.db"));
}

/// Whether a process has set a handler for a signal.
bool catches(pid_t process, int signal) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string word; status >> word;)
    if (word == "SigCgt:" && status >> word) return (std::stoull(word, nullptr, 16) >> (signal - 1) & 1) != 0;
  return false;
}

TEST_F(StoreVerbs, ALongQueryIsEndedByCtrlC) {
  const pid_t process = sandbox_.start(
      {"query", "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n"});
  ASSERT_TRUE(eventually([&] { return catches(process, SIGINT); }));
  ::kill(process, SIGINT);
  const auto end = Sandbox::wait(process);
  ASSERT_TRUE(end) << "it did not end";
  EXPECT_EQ(end->exit_code, 1);
  EXPECT_EQ(sandbox_.read("output.txt"), "exp: the query was interrupted\n");
}

TEST_F(StoreVerbs, ABackupIsADatabaseAndVacuumShrinks) {
  EXPECT_TRUE(
      contains(output_of({"db", "backup", "safe.db"}), "1 run; it does not contain the files of the runs"));
  EXPECT_TRUE(contains(output_of({"ls", "--db", "safe.db"}), "tiny"));
  expect_refused({"db", "backup", "safe.db"}, "safe.db exists; a backup replaces no file, name another one");
  expect_refused({"db", "backup"}, "exp db backup needs a file to write");
  expect_refused({"db", "bakup"}, "exp db has no \"bakup\"; did you mean \"backup\"?");
  EXPECT_TRUE(contains(output_of({"db", "vacuum"}), " before, "));
  EXPECT_TRUE(contains(output_of({"db", "upgrade"}), "already has version 10, nothing to do"));
  EXPECT_TRUE(contains(output_of({"db", "check"}), "is sound: 1 run\n"));
}

TEST_F(StoreVerbs, RunsOfAnotherDatabaseComeWithTheirFolders) {
  output_of({"run", "tiny.toml", "--quiet", "--db", "cluster.db", "-S", "seed=2"});
  EXPECT_TRUE(contains(output_of({"db", "merge", "cluster.db", "--dry-run"}),
                       "cluster.db: 1 run, 1 added, 0 updated, 0 the same, 0 left out (dry run: nothing"));
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM run"), "1");
  EXPECT_TRUE(contains(output_of({"db", "merge", "cluster.db"}), "tiny-2"));
  EXPECT_TRUE(contains(output_of({"db", "check"}), "is sound: 2 runs"));
  EXPECT_TRUE(exists(folder_of("tiny-2") + "/attempt-0001.spool"));
  EXPECT_TRUE(contains(output_of({"run", "tiny.toml", "-S", "seed=2"}), "nothing to do"));
  const auto again = nlohmann::json::parse(output_of({"db", "merge", "cluster.db", "--json"}));
  EXPECT_EQ(again.at("databases").at(0).at("runs").at(0).at("outcome"), "same");

  std::filesystem::remove_all(sandbox_.folder() / "cluster.db.runs");
  const runner::ProgramOutput bare = sandbox_.exp({"db", "merge", "cluster.db", "--db", "new.db"});
  EXPECT_EQ(bare.end.exit_code, 1);
  EXPECT_TRUE(contains(bare.output, "is missing; copy the folder ")) << bare.output;
  expect_refused({"db", "merge"}, "exp db merge needs the file of another database");
  expect_refused({"db", "merge", "encore.db"}, "encore.db is the database itself; name another file");
  expect_refused({"db", "merge", "absent.db", "--db", "other.db"}, "there is no database absent.db");
  EXPECT_FALSE(exists("other.db"));
}

TEST_F(StoreVerbs, CheckReportsAMissingBestCheckpointAndAMissingFolderOfRuns) {
  const std::string best = "checkpoints/step-00000020.safetensors";
  std::filesystem::remove(sandbox_.folder() / folder_of("tiny") / best);
  const runner::ProgramOutput gone = sandbox_.exp({"db", "check"});
  EXPECT_EQ(gone.end.exit_code, 1);
  EXPECT_EQ(gone.errors, "exp: run tiny: the best checkpoint, " + best + ", is missing\n");

  output_of({"db", "backup", "safe.db"});
  const runner::ProgramOutput copy = sandbox_.exp({"db", "check", "--db", "safe.db"});
  EXPECT_EQ(copy.end.exit_code, 1);
  EXPECT_TRUE(contains(copy.errors,
                       "safe.db.runs, the folder with the files of 1 run, is missing; a copy of a database "
                       "needs a copy of this folder beside it, with this name\n"))
      << copy.errors;
}

TEST_F(StoreVerbs, AnOlderDatabaseIsUpgradedOnlyWhenAsked) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((sandbox_.folder() / "old.db").c_str(), &database), SQLITE_OK);
  std::ifstream schema(ENCORE_SOURCE_DIR "/tests/unit/store/schema_1.sql");
  const std::string sql(std::istreambuf_iterator<char>(schema), {});
  ASSERT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  const std::string before = sandbox_.read("old.db");
  for (const char* verb : {"ls", "status", "gc"})
    expect_refused({verb, "--db", "old.db"}, "run exp db upgrade");
  EXPECT_EQ(sandbox_.read("old.db"), before);
  EXPECT_EQ(output_of({"db", "upgrade", "--db", "old.db"}),
            "old.db now has version 10; the copy of version 1 is old.db.version-1.backup\n");
  EXPECT_TRUE(contains(output_of({"ls", "--db", "old.db"}), "no runs yet"));
}

TEST_F(StoreVerbs, DumpAsCsvAndJson) {
  EXPECT_EQ(output_of({"dump", "--csv", "-o", "tables"}), "1 run written to tables\n");
  const std::string id = sandbox_.one("SELECT id FROM run");
  EXPECT_TRUE(contains(sandbox_.read("tables/runs.csv"), id + ",tiny,completed,"));
  EXPECT_TRUE(
      contains(sandbox_.read("tables/params.csv"), id + ",model.width,integer,16,file,tiny.toml:15:9\r\n"));
  const std::string points = sandbox_.read("tables/points.csv");
  EXPECT_EQ(std::count(points.begin(), points.end(), '\n'),
            1 + std::stol(sandbox_.one("SELECT count(*) FROM point")));
  EXPECT_TRUE(contains(points, id + ",train/loss,4,1,0.25\r\n"));
  const nlohmann::json runs = nlohmann::json::parse(output_of({"dump", "tiny", "--json"}));
  EXPECT_EQ(runs.at(0), nlohmann::json::parse(output_of({"show", "tiny", "--json"})));
  output_of({"dump", "all", "--json", "-o", "all.json"});
  EXPECT_EQ(nlohmann::json::parse(sandbox_.read("all.json")), runs);
  expect_refused({"dump", "--csv"}, "exp dump needs -o with a folder to write into");
  expect_refused({"dump", "-o", "x"}, "exp dump needs one of --csv, --json and --tensorboard");
  expect_refused({"dump", "--csv", "--json", "-o", "x"},
                 "exp dump needs one of --csv, --json and --tensorboard");
  expect_refused({"dump", "tinny", "--json"}, "did you mean \"tiny\"?");
}

/// CSV of dump, ls, compare and query. Names, notes, settings, their sources and places, and the head of a
/// column hold strings that a spreadsheet would compute as formulas.
TEST_F(StoreVerbs, NoCsvHoldsAFormula) {
  const std::string formula = R"(=HYPERLINK("http://evil.example";"x"))";
  sandbox_.change("UPDATE run SET name = '" + formula + "', note = '@SUM(1)'");
  sandbox_.change("UPDATE sweep SET name = '" + formula + "'");
  sandbox_.change(R"(UPDATE param SET value = '+1+1', source = '-2+3', at = '=1' WHERE key = 'data.type')");
  output_of({"dump", "--csv", "-o", "tables"});
  std::string all = output_of({"ls", "--csv"}) + output_of({"compare", "all", "--csv"}) +
                    output_of({"query", "SELECT name, note, '+1' AS \"=head\" FROM run", "--csv"});
  for (const char* table : {"runs", "params", "points"})
    all += sandbox_.read("tables/" + std::string(table) + ".csv");
  EXPECT_TRUE(contains(all, "'=HYPERLINK")) << all;
  EXPECT_TRUE(contains(all, "'+1+1")) << all;
  EXPECT_TRUE(contains(all, ",'-2+3,'=1\r\n")) << all;
  EXPECT_TRUE(contains(all, "'=head\r\n")) << all;
  for (const std::string start : {"\n", ",", "\n\"", ",\""})
    for (const char sign : {'=', '+', '@'})
      EXPECT_FALSE(contains(all, start + sign)) << all.substr(all.find(start + sign), 80);
}

/// "all" means every run, even if another database brings a run or a search of that name.
TEST_F(StoreVerbs, AllMeansEveryRunWhateverItsName) {
  output_of({"run", "tiny.toml", "--quiet", "-S", "name=other", "-S", "seed=2"});
  sandbox_.change(
      "INSERT INTO search (name, sweep, identity, backend, settings, space, created) "
      "SELECT 'all', number, 'x', 'openmp', '{}', '[]', 0 FROM sweep LIMIT 1");
  EXPECT_EQ(nlohmann::json::parse(output_of({"show", "all", "--json"})).size(), 2U) << "not the search";
  EXPECT_TRUE(contains(output_of({"verify", "all"}), "tiny equal"));
  sandbox_.change("DELETE FROM search");  // has no trials, which a report of it would need
  sandbox_.change("UPDATE run SET name = 'all' WHERE name = 'other'");
  sandbox_.change("UPDATE sweep SET name = 'all' WHERE name = 'other'");
  EXPECT_TRUE(contains(output_of({"ls", "all"}), "tiny")) << "not the run alone";
  EXPECT_EQ(nlohmann::json::parse(output_of({"show", "all", "--json"})).size(), 2U);
  EXPECT_TRUE(contains(output_of({"bundle", "all", "-o", "all.tar.zst"}), "2 runs"));
  EXPECT_TRUE(contains(output_of({"tag", "all", "+seen"}), "tiny: seen"));
  const std::string id = sandbox_.one("SELECT id FROM run WHERE name = 'all'");
  EXPECT_TRUE(nlohmann::json::parse(output_of({"show", id, "--json"})).is_object()) << "by its id";
  expect_refused({"run", "tiny.toml", "-S", "name=all"}, "no run can be called \"all\"");
  expect_refused({"retrain", "tiny", "--with", "train.conll", "--name", "all"},
                 "no run can be called \"all\"");
}

TEST_F(StoreVerbs, DumpOfASweepHasAllItsRunsAndNoOthers) {
  sandbox_.write("sweep.toml", tiny_experiment("sweep") + "[sweep.grid]\n\"model.dropout\" = [0.1, 0.2]\n");
  output_of({"run", "sweep.toml", "--quiet"});
  EXPECT_EQ(sandbox_.one(
                "SELECT count(*) FROM run JOIN sweep ON sweep.number = run.sweep WHERE sweep.name = 'sweep'"),
            "1")
      << "one run of the sweep has the settings of tiny, so it is the run tiny";
  EXPECT_EQ(nlohmann::json::parse(output_of({"dump", "sweep", "--json"})).size(), 2u) << "it belongs to both";
  EXPECT_EQ(nlohmann::json::parse(output_of({"dump", "tiny", "--json"})).size(), 1u);
  EXPECT_TRUE(contains(output_of({"run", "sweep.toml", "--name", "again", "--quiet"}), "nothing to do"));
  EXPECT_EQ(nlohmann::json::parse(output_of({"dump", "again", "--json"})).size(), 2u)
      << "also if it had nothing to do";
}

TEST_F(StoreVerbs, TensorBoardReadsWhatDumpWrites) {
  output_of({"dump", "--tensorboard", "-o", "boards"});
  ASSERT_TRUE(exists("boards/tiny"));
  const char* python = std::getenv("ENCORE_TENSORBOARD_PYTHON");
  const std::string program = python == nullptr ? "python3" : python;
  if (!runner::run_program(program, {"-c", "import tensorboard"}).end.success())
    GTEST_SKIP() << "the Python package tensorboard is not there; the format is checked by cli_test alone";
  const runner::ProgramOutput output = runner::run_program(
      program,
      {"-c",
       "import sys\n"
       "from tensorboard.backend.event_processing.event_accumulator import EventAccumulator\n"
       "events = EventAccumulator(sys.argv[1], size_guidance={'scalars': 0, 'tensors': 0}); events.Reload()\n"
       "for tag in sorted(events.Tags()['scalars']):\n"
       "  for e in events.Scalars(tag): print(tag, e.step, '%.6g' % e.value)\n",
       (sandbox_.folder() / "boards/tiny").string()});
  ASSERT_TRUE(output.end.success()) << output.errors;
  std::string expected;
  for (const std::string& row :
       sandbox_.query("SELECT metric || ' ' || step || ' ' || printf('%.6g', value) FROM "
                      "curve WHERE run = 'tiny' ORDER BY metric, step"))
    expected += row + "\n";
  EXPECT_EQ(output.output, expected);
}

/// Returns what bash would insert at the end of `line`.
std::string completed(const Sandbox& sandbox, const std::string& line) {
  const std::string script =
      "cd " + sandbox.folder().string() + "; unset ENCORE_DB; PATH=" ENCORE_BUILD_DIR "/bin:$PATH\n" +
      "source <(exp completion bash) || exit 1\n"
      "complete -p exp >/dev/null || exit 2\n"
      "COMP_LINE='" +
      line + "'; COMP_POINT=${#COMP_LINE}; _encore_exp; printf '%s ' \"${COMPREPLY[@]}\"";
  const runner::ProgramOutput output = runner::run_program("bash", {"--norc", "-c", script});
  EXPECT_TRUE(output.end.success()) << output.errors;
  return output.output;
}

TEST_F(StoreVerbs, BashCompletesVerbsOptionsAndRuns) {
  output_of({"run", "tiny.toml", "--quiet", "--seed", "7", "--grid", "model.layers=1"});
  EXPECT_EQ(completed(sandbox_, "exp und"), "undelete ");
  EXPECT_EQ(completed(sandbox_, "exp db "), "backup check merge path upgrade vacuum ");
  EXPECT_EQ(completed(sandbox_, "exp gc --d"), "--db --dry-run ");
  EXPECT_EQ(completed(sandbox_, "exp show ti"), "tiny tiny-layers=1-s7 ");
  EXPECT_EQ(completed(sandbox_, "exp show tiny-layers="), "1-s7 ")
      << "bash replaces only what follows the equals sign";
  EXPECT_EQ(completed(sandbox_, "exp show --db other.db "), " ");
  EXPECT_EQ(completed(sandbox_, "exp run "), " ");
  expect_refused({"completion", "tcsh"}, "invalid shell \"tcsh\": expected bash, zsh or fish");
  expect_refused({"completion"}, "exp completion needs bash, zsh or fish");
}

TEST_F(StoreVerbs, ZshReadsItsScript) {
  if (!runner::run_program("sh", {"-c", "command -v zsh"}).end.success())
    GTEST_SKIP() << "there is no zsh here";
  sandbox_.write("completion.zsh", output_of({"completion", "zsh"}));
  const runner::ProgramOutput output = runner::run_program(
      "zsh", {"-f", "-c",
              "cd " + sandbox_.folder().string() +
                  "; PATH=" ENCORE_BUILD_DIR "/bin:$PATH\n"
                  "compdef() { :; }; compadd() { print -r -- $found }; _files() { print files }\n"
                  "source completion.zsh; words=(exp und); CURRENT=2; _encore_exp; words=(exp "
                  "run ''); CURRENT=3; _encore_exp"});
  EXPECT_EQ(output.output, "undelete\nfiles\n") << output.errors;
}

TEST_F(StoreVerbs, FishReadsItsScript) {
  if (!runner::run_program("sh", {"-c", "command -v fish"}).end.success())
    GTEST_SKIP() << "there is no fish here";
  sandbox_.write("completion.fish", output_of({"completion", "fish"}));
  const runner::ProgramOutput output =
      runner::run_program("env", {"HOME=" + sandbox_.folder().string(), "fish", "--no-config", "-c",
                                  "cd " + sandbox_.folder().string() +
                                      "; set PATH " ENCORE_BUILD_DIR
                                      "/bin $PATH; source completion.fish; complete -C 'exp und'"});
  EXPECT_EQ(output.output, "undelete\n") << output.errors;
}

}  // namespace
}  // namespace encore::system_test
