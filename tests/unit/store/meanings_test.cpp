// SPDX-License-Identifier: BSD-3-Clause
// Tests the meanings of metrics (store/metrics.hpp): they must belong to the run that measured them, even if
// other runs of the database use the same name for another measure, and they survive merging and the upgrade
// of older databases.
#include "store/database_merge.hpp"
#include "store/metrics.hpp"
#include "store/run_batch.hpp"
#include "store/run_columns.hpp"
#include "store/run_score.hpp"
#include "store/upgrade.hpp"
#include "support/places.hpp"
#include "unit/store/store_fixture.hpp"

namespace encore::testing {
namespace {

const Measure share_of_records = {
    .name = "accuracy", .fraction = true, .reducer = Reducer::ratio, .columns = {"correct", "truth"}};
const Measure share_of_tokens = {.name = "accuracy",
                                 .title = "token accuracy",
                                 .fraction = true,
                                 .reducer = Reducer::ratio,
                                 .columns = {"correct", "pieces"}};
const Measure table_of_mistakes = {
    .name = "accuracy", .better = Better::neither, .reducer = Reducer::matrix, .columns = {"confusion"}};

class MeaningsTest : public StoreTest {
 protected:
  /// Adds one more attempt of the run, with this meaning of test/accuracy.
  void train(std::int64_t run, const Measure& measure, const std::vector<std::string>& others = {}) {
    const auto lease = store().begin_attempt(run);
    {
      record::SpoolWriter spool(spool_of(*lease), lease->ordinal, lease->run_id);
      spool.define("test/accuracy", measure);
      if (measure.reducer != Reducer::matrix) spool.point("test/accuracy", 1, 0.75);
      for (const std::string& other : others) spool.point(other, 1, 0.5);
      spool.sync();
    }
    store().finish_attempt(*lease, store::RunState::completed);
  }
  store::RunRow add_run(char letter, const std::string& name, const Measure& measure,
                        const std::vector<std::string>& others = {}) {
    const std::int64_t run = add(letter, name);
    train(run, measure, others);
    return store().read_run(run);
  }
  static Measure meaning(store::Store& store, const std::vector<store::RunRow>& runs) {
    return store::read_metrics(store.database(), runs).of("test/accuracy").meaning;
  }
};

TEST_F(MeaningsTest, ARunKeepsItsMeaningWhenAnotherTaskUsesTheName) {
  const store::RunRow records = add_run('a', "records", share_of_records);
  const store::RunRow tokens = add_run('b', "pieces", share_of_tokens, {"test/bits"});
  EXPECT_EQ(meaning(store(), {records}), share_of_records);
  EXPECT_EQ(meaning(store(), {tokens}), share_of_tokens);
  EXPECT_EQ(store().read_metrics(records.number).at(0).meaning, share_of_records);
  EXPECT_EQ(store().read_metrics(tokens.number).at(0).meaning, share_of_tokens);
  EXPECT_EQ(store::RunBatch(store(), {records}).metrics().at(0).meaning, share_of_records);
  EXPECT_EQ(store::leading_metric(store(), {records}).name, "test/loss");
  const auto each = store::read_meanings(store().database(), {records, tokens}, "test/accuracy");
  EXPECT_EQ(each.at(records.number).meaning, share_of_records);
  EXPECT_EQ(each.at(tokens.number).meaning, share_of_tokens);
}

TEST_F(MeaningsTest, MetricsOfOtherRunsAreNotRead) {
  const store::RunRow records = add_run('a', "records", share_of_records);
  add_run('b', "pieces", share_of_tokens, {"test/bits"});
  EXPECT_EQ(store::read_metrics(store().database(), {records}).all().size(), 1u);
  EXPECT_TRUE(store::read_metrics(store().database(), {}).all().empty());
  EXPECT_TRUE(store::read_meanings(store().database(), {records}, "test/bits").empty());
}

TEST_F(MeaningsTest, ATableOfTwoMeaningsHasWhatBothShare) {
  const store::RunRow records = add_run('a', "records", share_of_records);
  const store::RunRow tokens = add_run('b', "pieces", share_of_tokens);
  const Measure both = meaning(store(), {records, tokens});
  EXPECT_TRUE(both.fraction);
  EXPECT_EQ(both.better, Better::higher);
  EXPECT_EQ(both.title, "");
  EXPECT_EQ(both.reducer, Reducer::opaque) << "no sum over examples gives both";
  EXPECT_TRUE(both.columns.empty());
  EXPECT_EQ(meaning(store(), {tokens, records}), both) << "in any order";
}

TEST_F(MeaningsTest, TheNewestAttemptOfARunDecides) {
  const std::int64_t run = add('a', "resumed");
  const auto lease = store().begin_attempt(run);
  {
    record::SpoolWriter spool(spool_of(*lease), lease->ordinal, lease->run_id);
    spool.define("test/accuracy", share_of_records);
    spool.point("test/accuracy", 1, 0.5);
    spool.sync();
  }
  store().finish_attempt(*lease, store::RunState::interrupted);
  train(run, share_of_tokens);
  EXPECT_EQ(meaning(store(), {store().read_run(run)}), share_of_tokens);
}

TEST_F(MeaningsTest, AMatrixOfOneTaskHidesNoNumbersOfAnother) {
  add_run('a', "table", table_of_mistakes);
  EXPECT_FALSE(store::RunColumns(store()).is_measure("test/accuracy"));
  add_run('b', "records", share_of_records);
  EXPECT_TRUE(store::RunColumns(store()).is_measure("test/accuracy"));
}

TEST_F(MeaningsTest, MergingBringsTheMeaningOfEachRun) {
  add_run('a', "records", share_of_records);
  store::Store other(folder_ / "other.db", store::OpenMode::create);
  {
    record::Specification specification = specification_of('b', "pieces");
    const std::int64_t run = other.add_run(specification).run.number;
    const auto lease = other.begin_attempt(run);
    record::SpoolWriter spool(other.run_folder(lease->run_id) / record::spool_name(lease->ordinal),
                              lease->ordinal, lease->run_id);
    spool.define("test/accuracy", share_of_tokens);
    spool.point("test/accuracy", 1, 0.5);
    spool.sync();
    other.finish_attempt(*lease, store::RunState::completed);
  }
  store::merge_database(other, path());
  EXPECT_EQ(meaning(other, {other.find_run("records")}), share_of_records);
  EXPECT_EQ(meaning(other, {other.find_run("pieces")}), share_of_tokens);
  store::merge_database(store(), folder_ / "other.db");
  EXPECT_EQ(meaning(store(), {store().find_run("records")}), share_of_records);
  EXPECT_EQ(meaning(store(), {store().find_run("pieces")}), share_of_tokens);
}

/// A database of version 8, which has one meaning for each name: it holds runs of two tasks, and the meaning
/// of the newer run.
class UpgradeFrom8 : public StoreTest {
 protected:
  void SetUp() override {
    store::Database database(path(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, {});
    database.execute(read_bytes(std::string(ENCORE_SOURCE_DIR) + "/tests/unit/store/schema_8.sql"));
    database.execute(
        "INSERT INTO run (number, id, name, question, group_id, backend, seed, created) VALUES "
        "(1, '00000000aa', 'records', 'q', 'g', 'openmp', 1, 0), (2, '00000000bb', 'pieces', 'r', 'h', "
        "'openmp', 1, 0);"
        "INSERT INTO attempt (number, run, ordinal, started, token, expires, host_name, pid, process_start, "
        "boot_id, state) VALUES (1, 1, 1, 0, '', 0, '', 1, 1, '', 'completed'), (2, 2, 1, 0, '', 0, '', 1, "
        "1, "
        "'', 'completed');"
        "INSERT INTO metric VALUES (1, 'test/accuracy', '', 'accuracy', 'token accuracy', 1, 'higher', "
        "'ratio', "
        "'[\"correct\",\"pieces\"]'), (2, 'test/mine', 'bits', '', '', 0, NULL, 'opaque', '[]');"
        "INSERT INTO spool_metric VALUES (1, 1, 1), (2, 1, 1), (2, 2, 2);");
  }
  void write_spool() {
    std::filesystem::create_directories(folder_ / "encore.db.runs/00000000aa");
    record::SpoolWriter spool(folder_ / "encore.db.runs/00000000aa/attempt-0001.spool", 1, "00000000aa");
    spool.define("test/accuracy", share_of_records);
    spool.point("test/accuracy", 1, 0.5);
    spool.sync();
  }
  Measure meaning(const std::string& run, const std::string& name = "test/accuracy") {
    return store::read_metrics(store().database(), {store().find_run(run)}).of(name).meaning;
  }
};

TEST_F(UpgradeFrom8, TakesTheMeaningFromTheSpoolWhereItIsStillThere) {
  write_spool();
  store::upgrade_database(path());
  EXPECT_EQ(meaning("records"), share_of_records) << "the table had that of another task";
  EXPECT_EQ(meaning("pieces"), share_of_tokens) << "without its spool as the table had it";
  EXPECT_EQ(store().database().integer("SELECT count(*) FROM pragma_table_info('metric')"), 2);
  EXPECT_EQ(meaning("pieces", "test/mine").unit, "bits");
  EXPECT_EQ(meaning("pieces", "test/mine").name, "");
}

TEST_F(UpgradeFrom8, ASpoolThatIsMissingOrDamagedTakesNothingAway) {
  store::upgrade_database(path());
  EXPECT_EQ(meaning("records"), share_of_tokens);
  store_.reset();
  std::filesystem::remove(path());
  SetUp();
  std::filesystem::create_directories(folder_ / "encore.db.runs/00000000aa");
  write_bytes(folder_ / "encore.db.runs/00000000aa/attempt-0001.spool", "no spool at all");
  store::upgrade_database(path());
  EXPECT_EQ(meaning("records"), share_of_tokens);
}

}  // namespace
}  // namespace encore::testing
