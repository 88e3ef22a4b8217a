// SPDX-License-Identifier: BSD-3-Clause
// Tests merge_database() (store/database_merge.hpp), which `exp db merge` and bundles call: merging in any
// order and any number of times gives the same content, without duplicates or losses; conflicts are named,
// and rows that cannot be merged are left out with the reason. The other database may come from anyone.
#include "store/database_merge.hpp"

#include <algorithm>
#include <random>
#include <set>

#include "store/benches.hpp"
#include "store/run_batch.hpp"
#include "store/searches.hpp"
#include "store/selection.hpp"
#include "store/upgrade.hpp"
#include "unit/store/store_fixture.hpp"

namespace encore::store {
namespace {

namespace fs = std::filesystem;
using testing::dead_process;
using testing::message_of;
using testing::specification_of;
using testing::StoreTest;
using testing::write_bytes;

/// A database as on one machine, with functions that train, verify and search in it.
class Site {
 public:
  explicit Site(fs::path path) : path_(std::move(path)) {
    store_ = std::make_unique<Store>(path_, OpenMode::create);
    store_->database().execute("PRAGMA synchronous = OFF");
  }
  /// Copies the state of another site with its folders, as a user does.
  Site(fs::path path, Site& of) : path_(std::move(path)) {
    backup_database(of.store().database(), path_);
    if (fs::exists(of.store().runs_folder()))
      fs::copy(of.store().runs_folder(), path_.string() + ".runs", fs::copy_options::recursive);
    store_ = std::make_unique<Store>(path_, OpenMode::write);
    store_->database().execute("PRAGMA synchronous = OFF");
  }

  Store& store() { return *store_; }
  const fs::path& path() const { return path_; }

  std::string add(char letter, const std::string& name, const std::vector<std::string>& tags = {}) {
    record::Specification specification = specification_of(letter, name);
    const std::int64_t sweep = store().add_sweep("sweep", "sweep.toml", "name = \"sweep\"\n");
    return store().add_run(specification, {.sweep = sweep, .tags = tags}).run.id;
  }
  std::int64_t number(const std::string& id) { return store().find_run(id, Sight::any).number; }

  /// Records an attempt of `steps` steps that ends in the state `end`. `value` is written into points and
  /// digests, so that two trainings of one question can differ.
  void train(const std::string& id, RunState end, int steps, double value = 0.5) {
    const bool lost = end == RunState::lost;
    const Lease lease = store()
                            .begin_attempt(number(id), lost ? dead_process() : world::this_process(), {},
                                           {"c0ffee", "a diff"})
                            .value();
    {
      record::SpoolWriter spool(store().run_folder(id) / record::spool_name(lease.ordinal), lease.ordinal,
                                id);
      spool.event(record::Started{
          .numeric_environment = record::JsonText(nlohmann::json{{"backend", "openmp"}}),
          .host = record::JsonText(nlohmann::json{{"name", path_.stem().string()}}),
          .build = record::JsonText(nlohmann::json{{"version", "1"}}),
          .plugins = {{.name = "layers", .version = "1", .sha256 = "ab", .fingerprint = "x=1;"}}});
      for (int step = 1; step <= steps; ++step) {
        spool.point("train/loss", step, value / step);
        spool.event(
            record::Digested{.step = step, .scope = "parameters", .sha256 = std::to_string(value * step)});
      }
      write_bytes(store().run_folder(id) / ("model-" + std::to_string(lease.ordinal)), path_.string());
      spool.event(record::Saved{
          .step = steps, .path = "model-" + std::to_string(lease.ordinal), .bytes = 9, .sha256 = "cd"});
      if (end == RunState::completed) {
        spool.point("test/f1", steps, value);
        spool.event(record::Wrote{.name = "predictions", .path = "p", .sha256 = "ef"});
        spool.event(record::Concluded{.best_step = steps, .measures = {{"test/f1", value}}});
        spool.event(record::Ended{.ending = record::Ending::completed, .step = steps});
      }
      spool.flush();
    }
    if (!lost) store().finish_attempt(lease, end, end == RunState::failed ? "out of memory" : "");
  }
  void verify(const std::string& id, double time) {
    store().add_verification(number(id), {.time = time, .outcome = "equal", .first_step = {}, .scope = ""});
  }

  /// Adds the decision with the number `decisions` to the search: it proposes the trial with the number
  /// `trial`, whose run has this id.
  void search(const std::string& id, int decisions, int trial) {
    Database& database = store().database();
    database.execute(
        "INSERT OR IGNORE INTO search (name, sweep, identity, backend, settings, space, created) SELECT "
        "'search', "
        "min(number), 'identity', 'openmp', '{}', '[]', 3 FROM sweep");
    Statement(database,
              "INSERT INTO search_trial (search, number, point, active) SELECT number, ?, '[0.5]', '[true]' "
              "FROM search")
        .run(trial);
    Statement(database,
              "INSERT INTO search_run (search, trial, run) SELECT search.number, ?, run.number FROM search, "
              "run WHERE "
              "run.id = ?")
        .run(trial, id);
    Statement(database,
              "INSERT INTO search_decision (search, number, kind, trial, epochs, observations, limits, time) "
              "SELECT "
              "number, ?, 'propose', ?, 4, 0, '{}', ? FROM search")
        .run(decisions, trial, 10.0 * decisions + trial);
  }

  /// Confirms the trial of the search: one more run of it, the decision to train that run, and its result.
  void confirm(const std::string& id, int decision, int trial, double score) {
    Database& database = store().database();
    Statement(database,
              "INSERT INTO search_run (search, trial, confirms, run) SELECT search.number, ?, 1, run.number "
              "FROM search, run WHERE run.id = ?")
        .run(trial, id);
    Statement(database,
              "INSERT INTO search_decision (search, number, kind, trial, epochs, observations, limits, time) "
              "SELECT number, ?, 'confirm', ?, 4, 1, '{\"confirm\": 1, \"confirm_seeds\": 1}', ? FROM search")
        .run(decision, trial, 10.0 * decision + trial);
    Statement(
        database,
        "INSERT INTO search_observation (search, number, trial, epochs, outcome, scores, seconds, time) "
        "SELECT number, 1, ?, 4, 'confirmed', ?, 7.0, 99.0 FROM search")
        .run(trial, "[" + std::to_string(score) + "]");
  }

  DatabaseMerge take(const Site& other, bool dry_run = false) {
    return merge_database(store(), other.path(), {.dry_run = dry_run});
  }

 private:
  fs::path path_;
  std::unique_ptr<Store> store_;
};

/// Returns the origin of a row as text: "merge b.db".
std::string origin_text(const std::optional<OriginRow>& origin) {
  return origin ? origin->kind + " " + origin->name + (origin->sha256.empty() ? "" : " " + origin->sha256)
                : "here";
}

/// Returns the content of a database, run by run, without the numbers of rows and the labels that depend on
/// earlier content (a name with -2, a repeat).
std::string content_of(Store& store) {
  constexpr const char* rows[] = {
      "SELECT '', id, question, backend, seed, state, reason, result, note, removed, created, finished FROM "
      "run",
      "SELECT r.id, 'sweep', s.name, s.file, s.content FROM run r JOIN sweep s ON s.number = r.sweep",
      "SELECT r.id, 'belongs to', s.name, s.content FROM sweep_run x JOIN run r ON r.number = x.run JOIN "
      "sweep s "
      "ON s.number = x.sweep",
      "SELECT r.id, 'tag', tag FROM tag JOIN run r ON r.number = run",
      "SELECT r.id, key, value, type, source, at FROM param JOIN run r ON r.number = run",
      "SELECT r.id, role, sha256, path FROM run_dataset d JOIN run r ON r.number = d.run JOIN dataset s ON "
      "s.number "
      "= d.dataset",
      "SELECT r.id, ordinal, a.state, token, a.reason, started, first_step, progress, environment, "
      "started_event, "
      "h.description, b.description, c.commit_hash, c.diff, spool_bytes, spool_records, spool_problem FROM "
      "attempt "
      "a JOIN run r ON r.number = a.run LEFT JOIN host h ON h.number = host LEFT JOIN build b ON b.number = "
      "build "
      "LEFT JOIN code c ON c.number = code",
      "SELECT r.id, ordinal, 'plugin', p.name, p.sha256 FROM attempt_plugin x JOIN attempt a ON a.number = "
      "x.attempt "
      "JOIN run r ON r.number = a.run JOIN plugin p ON p.number = x.plugin",
      "SELECT r.id, ordinal, 'metric', x.number, m.name, d.description FROM spool_metric x JOIN attempt a ON "
      "a.number = x.attempt "
      "JOIN run r ON r.number = a.run JOIN metric m ON m.number = x.metric LEFT JOIN measure d ON d.number = "
      "x.measure",
      "SELECT r.id, ordinal, m.name, step, value, special FROM point x JOIN attempt a ON a.number = "
      "x.attempt JOIN "
      "run r ON r.number = x.run JOIN metric m ON m.number = x.metric",
      "SELECT r.id, ordinal, step, x.kind, path, sha256 FROM checkpoint x JOIN attempt a ON a.number = "
      "x.attempt JOIN "
      "run r ON r.number = x.run",
      "SELECT r.id, ordinal, step, scope, value FROM digest x JOIN attempt a ON a.number = x.attempt JOIN "
      "run r ON "
      "r.number = x.run",
      "SELECT r.id, ordinal, x.name, path, sha256 FROM artifact x JOIN attempt a ON a.number = x.attempt "
      "JOIN run r "
      "ON r.number = x.run",
      "SELECT r.id, ordinal, sequence, time, type, body FROM event x JOIN attempt a ON a.number = x.attempt "
      "JOIN run "
      "r ON r.number = a.run",
      "SELECT r.id, 'verification', time, outcome, first_step, scope, details FROM verification x JOIN run r "
      "ON "
      "r.number = x.run",
      "SELECT s.name, s.identity, s.settings, w.name, w.content FROM search s JOIN sweep w ON w.number = "
      "s.sweep",
      "SELECT s.identity, r.id, x.trial FROM search_run x JOIN search s ON s.number = x.search JOIN run r ON "
      "r.number = "
      "x.run",
      "SELECT s.identity, 'trial', x.number, point, active FROM search_trial x JOIN search s ON s.number = "
      "x.search",
      "SELECT s.identity, 'decision', x.number, kind, trial, epochs, observations, time FROM search_decision "
      "x JOIN "
      "search s ON s.number = x.search",
      "SELECT '', 'sum', bench.created, c.name, quantity, round, seconds FROM bench JOIN bench_case c ON "
      "c.bench = "
      "bench.number JOIN bench_sample s ON s.bench_case = c.number"};
  std::set<std::string> lines;
  for (const char* sql : rows) {
    Statement statement(store.database(), sql);
    while (statement.step()) {
      std::string line;
      for (int column = 0; column < statement.columns(); ++column) line += statement.text(column) + "|";
      EXPECT_TRUE(lines.insert(line).second) << "twice: " << line;
    }
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// Returns the files of all runs, with their content.
std::string files_of(Store& store) {
  std::set<std::string> lines;
  for (const auto& entry : fs::recursive_directory_iterator(store.runs_folder()))
    if (entry.is_regular_file())
      lines.insert(fs::relative(entry.path(), store.runs_folder()).string() + " " +
                   testing::read_bytes(entry.path()));
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

class DatabaseMergeTest : public StoreTest {
 protected:
  fs::path file(const std::string& name) const { return folder_ / (name + ".db"); }
};

TEST_F(DatabaseMergeTest, CopiesARunWithItsWholeRecord) {
  Site cluster(file("cluster")), laptop(file("laptop"));
  const std::string id = cluster.add('a', "wnut17", {"good"});
  cluster.train(id, RunState::interrupted, 3);
  cluster.train(id, RunState::completed, 5);
  cluster.verify(id, 7.0);
  cluster.store().set_note(cluster.number(id), "a note");

  const DatabaseMerge merge = laptop.take(cluster);
  ASSERT_EQ(merge.runs.size(), 1u);
  EXPECT_EQ(merge.runs[0].outcome, MergeOutcome::added);
  EXPECT_EQ(merge.runs[0].name, "wnut17");
  EXPECT_EQ(content_of(laptop.store()), content_of(cluster.store()));
  EXPECT_EQ(files_of(laptop.store()), files_of(cluster.store()));
  EXPECT_EQ(laptop.store().read_run(laptop.number(id)).result["measures"]["test/f1"], 0.5);

  const std::string before = content_of(laptop.store());
  EXPECT_EQ(laptop.take(cluster).count(MergeOutcome::same), 1u) << "the second time there is nothing to do";
  EXPECT_EQ(content_of(laptop.store()), before);
}

TEST_F(DatabaseMergeTest, TakesTheSideThatHasMoreOfARun) {
  Site cluster(file("cluster"));
  const std::string id = cluster.add('a', "wnut17");
  cluster.train(id, RunState::interrupted, 3);
  Site laptop(file("laptop"), cluster);
  cluster.train(id, RunState::completed, 5);

  EXPECT_EQ(laptop.take(cluster, true).count(MergeOutcome::updated), 1u);
  EXPECT_EQ(laptop.store().read_run(laptop.number(id)).state, RunState::interrupted) << "that was a dry run";
  EXPECT_EQ(laptop.take(cluster).count(MergeOutcome::updated), 1u);
  EXPECT_EQ(content_of(laptop.store()), content_of(cluster.store()));
  EXPECT_EQ(files_of(laptop.store()), files_of(cluster.store()));
  EXPECT_EQ(cluster.take(laptop).count(MergeOutcome::same), 1u);
}

TEST_F(DatabaseMergeTest, NamesARunThatWasResumedOnBothSides) {
  Site cluster(file("cluster"));
  const std::string id = cluster.add('a', "wnut17");
  cluster.train(id, RunState::interrupted, 3);
  Site laptop(file("laptop"), cluster);
  cluster.train(id, RunState::completed, 5, 0.7);
  laptop.train(id, RunState::interrupted, 4, 0.6);
  laptop.store().set_tag(laptop.number(id), "mine", true);

  const DatabaseMerge merge = laptop.take(cluster);
  EXPECT_EQ(merge.conflicts(), 1u);
  EXPECT_EQ(merge.runs[0].remark,
            "it was resumed on both sides; the state of the other database is further and is kept");
  EXPECT_EQ(laptop.store().read_run(laptop.number(id)).state, RunState::completed);
  EXPECT_EQ(laptop.store().read_tags(laptop.number(id)), std::vector<std::string>{"mine"});
  const DatabaseMerge back = cluster.take(laptop);
  EXPECT_EQ(back.runs[0].outcome, MergeOutcome::same);
  EXPECT_EQ(content_of(cluster.store()), content_of(laptop.store()));
}

TEST_F(DatabaseMergeTest, KeepsTwoAnswersToOneQuestionAndLetsTheCompleteOneCount) {
  Site cluster(file("cluster")), laptop(file("laptop"));
  const std::string complete = cluster.add('a', "wnut17"), lost = laptop.add('a', "wnut17");
  cluster.train(complete, RunState::completed, 5);
  laptop.train(lost, RunState::interrupted, 2);

  Site one(file("one")), other(file("other"));
  one.take(cluster);
  EXPECT_EQ(one.take(laptop).runs[0].remark,
            "same settings, data and seed as wnut17; both are kept, as repeats");
  other.take(laptop);
  other.take(cluster);
  for (Site* site : {&one, &other}) {
    EXPECT_EQ(site->store().list_runs().size(), 2u);
    EXPECT_EQ(site->store().find_question(testing::question('a'), "openmp")->id, complete);
    EXPECT_EQ(site->store().find_run("wnut17-2").question, testing::question('a'));
  }
}

TEST_F(DatabaseMergeTest, NamesTwoAnswersWithOtherBits) {
  Site cluster(file("cluster")), laptop(file("laptop"));
  const std::string id = cluster.add('a', "wnut17");
  cluster.train(id, RunState::completed, 5, 0.7);
  laptop.train(laptop.add('a', "wnut17"), RunState::completed, 5, 0.6);
  const DatabaseMerge merge = laptop.take(cluster);
  EXPECT_EQ(merge.conflicts(), 1u);
  EXPECT_EQ(merge.runs[0].remark,
            "other bits than wnut17 from step 1 on (parameters), for the same question in the same numeric "
            "environment");
}

TEST_F(DatabaseMergeTest, TakesTheSearchThatHasDecidedMore) {
  Site cluster(file("cluster"));
  const std::string id = cluster.add('a', "trial");
  cluster.train(id, RunState::completed, 2);
  cluster.search(id, 1, 0);
  Site laptop(file("laptop"), cluster), fresh(file("fresh"));
  cluster.search(cluster.add('b', "trial"), 2, 1);

  EXPECT_EQ(fresh.take(cluster).searches.at(0).outcome, MergeOutcome::added);
  EXPECT_EQ(content_of(fresh.store()), content_of(cluster.store()));
  EXPECT_EQ(laptop.take(cluster).searches.at(0).outcome, MergeOutcome::updated);
  EXPECT_EQ(content_of(laptop.store()), content_of(cluster.store()));
  EXPECT_EQ(cluster.take(laptop).searches.at(0).outcome, MergeOutcome::same);

  cluster.search(id, 3, 2);
  laptop.search(id, 3, 3);
  const DatabaseMerge one = laptop.take(cluster);
  EXPECT_TRUE(one.searches.at(0).conflict);
  EXPECT_EQ(one.conflicts(), 1u);
  cluster.take(laptop);
  EXPECT_EQ(content_of(laptop.store()), content_of(cluster.store())) << "in either direction";
}

TEST_F(DatabaseMergeTest, KeepsConfirmationsOfSearchesWithTheirRunsAndValues) {
  const auto confirmations = [](Site& site) {
    std::string text;
    Statement runs(
        site.store().database(),
        "SELECT run.id || ' confirms trial ' || trial FROM search_run JOIN run ON run.number = run "
        "WHERE confirms = 1 ORDER BY run.id");
    while (runs.step()) text += runs.text(0) + "\n";
    for (const SearchRow& row : list_searches(site.store())) {
      Statement rows(
          site.store().database(),
          "SELECT kind || ' ' || limits FROM search_decision WHERE kind = 'confirm' UNION ALL SELECT "
          "outcome || ' ' || scores FROM search_observation WHERE outcome = 'confirmed'");
      while (rows.step()) text += row.identity + ": " + rows.text(0) + "\n";
    }
    return text;
  };
  Site cluster(file("cluster"));
  const std::string trial = cluster.add('a', "trial");
  cluster.train(trial, RunState::completed, 2);
  cluster.search(trial, 1, 0);
  Site laptop(file("laptop"), cluster), fresh(file("fresh"));
  const std::string again = cluster.add('b', "trial-seed=2");
  cluster.train(again, RunState::completed, 2);
  cluster.confirm(again, 2, 0, 0.75);
  const std::string told = confirmations(cluster);
  EXPECT_EQ(told, again +
                      " confirms trial 0\nidentity: confirm {\"confirm\": 1, \"confirm_seeds\": 1}\n"
                      "identity: confirmed [0.750000]\n");

  EXPECT_EQ(fresh.take(cluster).searches.at(0).outcome, MergeOutcome::added);
  EXPECT_EQ(confirmations(fresh), told);
  EXPECT_EQ(laptop.take(cluster).searches.at(0).outcome, MergeOutcome::updated);
  EXPECT_EQ(confirmations(laptop), told);
  EXPECT_EQ(laptop.take(cluster).searches.at(0).outcome, MergeOutcome::same) << "and again";
  EXPECT_EQ(confirmations(laptop), told);
  EXPECT_EQ(cluster.take(laptop).searches.at(0).outcome, MergeOutcome::same);
  EXPECT_EQ(confirmations(cluster), told) << "a merge with the older state takes nothing away";
  EXPECT_EQ(runs_of_searches(fresh.store()).size(), 2u) << "the trial and its confirmation";
}

TEST_F(DatabaseMergeTest, RunsKeepEverySweepThatTheyBelongToAndAPartBringsNoForeignFile) {
  Site one(file("one")), two(file("two")), part(file("part"));
  const std::string shared = one.add('a', "shared");
  const std::int64_t wide = one.store().add_sweep("wide", "wide.toml", "name = \"wide\"\n");
  record::Specification again = specification_of('a', "again"), own = specification_of('b', "wide-b");
  EXPECT_FALSE(one.store().add_run(again, {.sweep = wide}).created);
  one.store().add_run(own, {.sweep = wide});
  two.take(one);
  two.take(one);
  EXPECT_EQ(select_runs(two.store(), {.words = {"wide"}}).runs.size(), 2u);
  EXPECT_EQ(content_of(two.store()), content_of(one.store()));
  const DatabaseChoice choice{.runs = {shared}, .searches = {}};
  merge_database(part.store(), one.path(), {.only = choice});
  EXPECT_TRUE(part.store().find_sweeps("wide").empty()) << "a sweep of runs that do not exist here";
  const DatabaseChoice whole{.runs = {shared, own.run}, .searches = {}};
  merge_database(part.store(), one.path(), {.only = whole});
  EXPECT_EQ(select_runs(part.store(), {.words = {"wide"}}).runs.size(), 2u);
}

TEST_F(DatabaseMergeTest, LeavesOutRunsInTrainingAndRunsWithoutAFolder) {
  Site cluster(file("cluster")), laptop(file("laptop"));
  const std::string live = cluster.add('a', "live"), bare = cluster.add('b', "bare");
  const auto lease = cluster.store().begin_attempt(cluster.number(live));
  cluster.train(bare, RunState::completed, 2);
  fs::remove_all(cluster.store().run_folder(bare));
  const DatabaseMerge merge = laptop.take(cluster);
  EXPECT_EQ(merge.runs[0].remark, "it is training there; merge again later");
  EXPECT_EQ(merge.runs[1].remark.find("its folder"), 0u) << merge.runs[1].remark;
  EXPECT_EQ(merge.count(MergeOutcome::left_out), 2u);
  EXPECT_TRUE(laptop.store().list_runs().empty());

  cluster.store().finish_attempt(*lease, RunState::interrupted);
  EXPECT_EQ(laptop.take(cluster).runs[0].outcome, MergeOutcome::added);
  const auto here = laptop.store().begin_attempt(laptop.number(live));
  cluster.train(live, RunState::completed, 2);
  EXPECT_EQ(laptop.take(cluster).runs[0].remark, "it is training here; merge again later");
}

TEST_F(DatabaseMergeTest, RejectsItselfAnotherProgramAndAnInvalidId) {
  Site laptop(file("laptop"));
  EXPECT_NE(message_of<Error>([&] { laptop.take(laptop); }).find("is the database itself"),
            std::string::npos);
  {
    Database foreign(file("foreign"), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, {});
    foreign.execute("CREATE TABLE run (id)");
  }
  EXPECT_NE(message_of<Error>([&] {
              merge_database(laptop.store(), file("foreign"));
            }).find("is the database of another program"),
            std::string::npos);
  EXPECT_NE(
      message_of<Error>([&] { merge_database(laptop.store(), file("absent")); }).find("there is no database"),
      std::string::npos);
  Site hostile(file("hostile"));
  const std::string id = hostile.add('a', "wnut17");
  hostile.train(id, RunState::completed, 2);
  hostile.store().database().execute("UPDATE run SET id = '../../x'");
  const DatabaseMerge merge = laptop.take(hostile);
  EXPECT_EQ(merge.runs[0].outcome, MergeOutcome::left_out);
  EXPECT_TRUE(laptop.store().list_runs({.sight = Sight::any}).empty());
}

TEST_F(DatabaseMergeTest, LeavesOutARunWithControlCharactersInItsName) {
  int number = 0;
  for (const char* name : {"a\033[2J",
                           "\xe2\x80\xae"
                           "gpj",
                           "\xc2\x9b"
                           "2J",
                           "a\tb", "-y", ""}) {
    const std::string mark = std::to_string(++number);
    Site hostile(file("hostile-" + mark)), laptop(file("laptop-" + mark));
    hostile.train(hostile.add('a', "wnut17"), RunState::completed, 2);
    Statement(hostile.store().database(), "UPDATE run SET name = ?").run(std::string(name));
    const DatabaseMerge merge = laptop.take(hostile);
    EXPECT_EQ(merge.runs[0].outcome, MergeOutcome::left_out) << name;
    EXPECT_NE(merge.runs[0].remark.find("its name holds control characters"), std::string::npos);
    EXPECT_TRUE(laptop.store().list_runs({.sight = Sight::any}).empty());
  }
}

TEST_F(DatabaseMergeTest, CopiesNoLinkAndNoLeftover) {
  Site cluster(file("cluster")), laptop(file("laptop"));
  const std::string id = cluster.add('a', "wnut17");
  cluster.train(id, RunState::completed, 2);
  write_bytes(folder_ / "secret", "secret");
  fs::create_symlink(folder_ / "secret", cluster.store().run_folder(id) / "link");
  write_bytes(cluster.store().run_folder(id) / "half.part", "half");
  fs::create_directory(cluster.store().run_folder(id) / "monitor");
  write_bytes(cluster.store().run_folder(id) / "monitor" / "texts-a-1.spool", "texts");
  laptop.take(cluster);
  EXPECT_TRUE(fs::exists(laptop.store().run_folder(id) / "model-1"));
  EXPECT_FALSE(fs::exists(fs::symlink_status(laptop.store().run_folder(id) / "link")));
  EXPECT_FALSE(fs::exists(laptop.store().run_folder(id) / "half.part"));
  EXPECT_FALSE(fs::exists(laptop.store().run_folder(id) / "monitor"));
}

TEST_F(DatabaseMergeTest, RunsNoForeignColumnNameAsSql) {
  Site cluster(file("cluster"));
  cluster.train(cluster.add('a', "wnut17"), RunState::completed, 2);
  const fs::path stolen = folder_ / "stolen.db";
  const std::string column = "x\"\") SELECT 1; VACUUM INTO '" + stolen.string() + "'; --";
  { Site victim(file("victim")); }
  Database(file("victim"), SQLITE_OPEN_READWRITE, {})
      .execute("ALTER TABLE dataset ADD COLUMN \"" + column + "\" TEXT");
  EXPECT_NE(message_of<Error>([&] { Site victim(file("victim")); }).find("which is not a column of Encore"),
            std::string::npos);
  EXPECT_NE(message_of<Error>([&] {
              MergedRows(file("victim"), cluster.store().database());
            }).find("which is not a column of Encore"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(stolen));
}

/// Every table is either copied or filled from copied data, except those of servers, which stay where they
/// were recorded. A new table must be added here.
TEST_F(DatabaseMergeTest, KnowsEveryTable) {
  std::set<std::string> tables;
  Statement names(store().database(), "SELECT name FROM sqlite_schema WHERE type = 'table'");
  while (names.step()) tables.insert(names.text(0));
  EXPECT_EQ(tables, (std::set<std::string>{"artifact",
                                           "attempt",
                                           "attempt_plugin",
                                           "bench",
                                           "bench_case",
                                           "bench_sample",
                                           "build",
                                           "checkpoint",
                                           "code",
                                           "dataset",
                                           "digest",
                                           "event",
                                           "host",
                                           "measure",
                                           "metric",
                                           "newest",
                                           "origin",
                                           "param",
                                           "plugin",
                                           "point",
                                           "run",
                                           "run_dataset",
                                           "search",
                                           "search_decision",
                                           "search_observation",
                                           "search_run",
                                           "search_trial",
                                           "served",
                                           "served_content",
                                           "served_feedback",
                                           "served_spool",
                                           "source",
                                           "spool_metric",
                                           "sweep",
                                           "sweep_run",
                                           "tag",
                                           "verification"}));
}

/// Makes ten databases: the first is copied in several states, and each copy continues independently; the
/// others ask some of the same questions again.
std::vector<std::unique_ptr<Site>> ten_sites(const std::function<fs::path(int)>& file, std::mt19937& random) {
  const auto any = [&](int below) { return std::uniform_int_distribution<int>(0, below - 1)(random); };
  std::vector<std::unique_ptr<Site>> sites;
  sites.push_back(std::make_unique<Site>(file(0)));
  std::vector<std::string> ids;
  for (const char letter : std::string("abcdef")) ids.push_back(sites[0]->add(letter, "sweep"));
  sites[0]->train(ids[0], RunState::completed, 4);
  sites[0]->train(ids[1], RunState::failed, 2);
  sites[0]->train(ids[2], RunState::lost, 3);
  sites[0]->train(ids[3], RunState::interrupted, 3);
  for (int index = 1; index < 6; ++index) {
    Site& from = *sites[static_cast<std::size_t>(any(index))];
    sites.push_back(std::make_unique<Site>(file(index), from));
    Site& site = *sites.back();
    site.verify(ids[0], 100.0 + index);
    for (const std::string& id : ids) {
      const RunRow run = site.store().read_run(site.number(id));
      if (any(3) == 0) site.store().set_tag(run.number, "tag" + std::to_string(any(3)), true);
      if (any(4) == 0) site.store().set_note(run.number, "note " + std::to_string(any(3)));
      if (any(4) == 0) {
        site.store().set_removed({run.number}, true);
      } else if (!run.removed && run.state != RunState::completed && any(2) == 0) {
        constexpr RunState ends[] = {RunState::completed, RunState::failed, RunState::lost,
                                     RunState::interrupted};
        site.train(id, ends[any(4)], 2 + any(5), 0.1 * (1 + any(9)));
      }
    }
  }
  for (int index = 6; index < 10; ++index) {
    sites.push_back(std::make_unique<Site>(file(index)));
    for (const char letter : std::string("acegh"))
      if (any(3) > 0)
        sites.back()->train(sites.back()->add(letter, "sweep"), any(2) ? RunState::completed : RunState::lost,
                            2 + any(3), 0.1 * (1 + any(9)));
  }
  return sites;
}

TEST_F(DatabaseMergeTest, GivesTheSameContentInAnyOrder) {
  std::mt19937 random(1);
  const auto sites = ten_sites([&](int index) { return file("site" + std::to_string(index)); }, random);
  std::vector<std::size_t> order(sites.size());
  for (std::size_t index = 0; index < order.size(); ++index) order[index] = index;
  std::string content, files;
  for (int turn = 0; turn < 20; ++turn) {
    std::ranges::shuffle(order, random);
    Site all(file("all" + std::to_string(turn)));
    for (const std::size_t index : order)
      EXPECT_EQ(all.take(*sites[index]).count(MergeOutcome::left_out), 0u);
    EXPECT_EQ(all.store().database().text("PRAGMA integrity_check"), "ok");
    EXPECT_FALSE(all.store().database().text("SELECT \"table\" FROM pragma_foreign_key_check"));
    if (turn == 0) {
      content = content_of(all.store());
      files = files_of(all.store());
      EXPECT_GT(content.size(), 10000u);
    }
    EXPECT_EQ(content_of(all.store()), content) << "turn " << turn;
    EXPECT_EQ(files_of(all.store()), files) << "turn " << turn;
  }
}

TEST_F(DatabaseMergeTest, RecordsWhereRowsComeFrom) {
  Site a(folder_ / "a.db"), b(folder_ / "b.db");
  const std::string own = a.add('a', "own"), theirs = b.add('b', "theirs");
  a.train(own, RunState::completed, 2);
  b.train(theirs, RunState::interrupted, 2);
  b.verify(theirs, 5.0);
  const OriginRow from_b{.kind = "merge", .name = "b.db", .sha256 = "", .time = 7.0};
  const auto origins = [](Store& store) { return store.database().integer("SELECT count(*) FROM origin"); };
  merge_database(a.store(), b.path(), {.dry_run = true, .origin = from_b});
  EXPECT_EQ(origins(a.store()), 0);
  merge_database(a.store(), b.path(), {.origin = from_b});
  const RunRow taken = a.store().find_run(theirs);
  EXPECT_EQ(origin_text(taken.origin), "merge b.db");
  EXPECT_EQ(taken.origin->time, 7.0);
  EXPECT_EQ(origin_text(a.store().find_run(own).origin), "here");
  EXPECT_EQ(origin_text(a.store().read_verifications(taken.number).at(0).origin), "merge b.db");
  EXPECT_EQ(RunBatch(a.store(), {taken}).verifications()[taken.number].at(0).origin->name, "b.db");
  // A second merge copies nothing, and adds no row about itself.
  merge_database(a.store(), b.path(),
                 {.origin = OriginRow{.kind = "merge", .name = "b.db", .sha256 = "", .time = 8.0}});
  EXPECT_EQ(origins(a.store()), 1);
  // A change made here has the origin "here"; a later change on the other side has the origin of its merge.
  a.verify(theirs, 6.0);
  b.train(theirs, RunState::completed, 4);
  merge_database(a.store(), b.path(),
                 {.origin = OriginRow{.kind = "merge", .name = "b.db", .sha256 = "", .time = 9.0}});
  EXPECT_EQ(a.store().find_run(theirs).origin->time, 9.0);
  EXPECT_EQ(origin_text(a.store().read_verifications(taken.number).at(1).origin), "here");
  EXPECT_EQ(a.store().database().text(
                "SELECT group_concat(name || coalesce(' ' || origin, ''), ', ') FROM (SELECT name, "
                "origin FROM run_status ORDER BY name)"),
            "own, theirs merge");
  // A run that was planned here and trained there has the other database as origin.
  Site c(folder_ / "c.db", a);
  const std::string planned = a.add('d', "planned");
  merge_database(c.store(), a.path(),
                 {.origin = OriginRow{.kind = "merge", .name = "a.db", .sha256 = "", .time = 10.0}});
  c.train(planned, RunState::completed, 2);
  merge_database(a.store(), c.path(),
                 {.origin = OriginRow{.kind = "merge", .name = "c.db", .sha256 = "", .time = 11.0}});
  EXPECT_EQ(origin_text(a.store().find_run(planned).origin), "merge c.db");
  // A copy of the database keeps these origins.
  Store copy(folder_ / "copy.db", OpenMode::create);
  merge_database(copy, a.path());
  EXPECT_EQ(origin_text(copy.find_run(planned).origin), "merge c.db");
  EXPECT_EQ(origin_text(copy.find_run(own).origin), "here");
  EXPECT_EQ(origin_text(copy.read_verifications(copy.find_run(theirs).number).at(1).origin), "here");
}

}  // namespace
}  // namespace encore::store
