// SPDX-License-Identifier: BSD-3-Clause
// Tests the queries of the store (store/queries.cpp): the examples of docs/reference/store.md and of the head
// of store/schema.sql run and give rows. Programs of users read the columns of the documented views, so these
// must be neither renamed nor moved.
#include <fstream>
#include <regex>
#include <sstream>

#include "support/places.hpp"
#include "unit/store/store_fixture.hpp"

namespace encore::store {
namespace {

using testing::StoreTest;

/// Makes a small but complete history: two replicates, one of them with a checkpoint, digests and a result.
void fill(Store& store) {
  for (std::uint64_t seed : {1, 2}) {
    record::Specification specification =
        testing::specification_of(static_cast<char>('a' + seed), "quickstart");
    specification.seed = seed;
    const auto sweep = store.add_sweep("quickstart", "quickstart.toml", "name = \"quickstart\"");
    const AddedRun added = store.add_run(specification, {.sweep = sweep, .tags = {"paper"}});
    const Lease lease =
        store.begin_attempt(added.run.number, world::this_process(), {}, {"abcdef0123"}).value();
    {
      record::SpoolWriter spool(store.run_folder(lease.run_id) / record::spool_name(1), 1);
      spool.event(record::Started{
          .numeric_environment = record::JsonText(nlohmann::json{{"backend", "openmp"}, {"device", "a CPU"}}),
          .host = record::JsonText(nlohmann::json{{"name", "here"}, {"cpu", "a CPU"}}),
          .build = record::JsonText(nlohmann::json{{"version", "0.1.0"}}),
          .plugins = {{.name = "layers", .version = "1", .sha256 = "ab", .fingerprint = "x"}}});
      for (int step = 1; step <= 3; ++step) spool.point("train/loss", step, 1.0 / step);
      spool.point("dev/f1", 3, 0.5);
      spool.point("test/f1", 3, 0.25 * static_cast<double>(seed));
      spool.event(record::Digested{.step = 3, .scope = "parameters", .sha256 = "00ff"});
      spool.event(record::Saved{.step = 3,
                                .kind = record::CheckpointKind::best,
                                .path = "checkpoints/step-00000003.safetensors",
                                .bytes = 9,
                                .sha256 = "cd"});
      spool.event(
          record::Wrote{.name = "predictions/test.jsonl", .path = "predictions/test.jsonl", .sha256 = "ef"});
      spool.event(record::Logged{.level = record::LogLevel::warning, .text = "two sentences were cut"});
      spool.event(record::Concluded{.best_step = 3, .measures = {{"test/f1", 0.25}}});
      spool.event(record::Ended{.ending = record::Ending::completed});
    }
    store.finish_attempt(lease, RunState::completed);
  }
}

TEST_F(StoreTest, ShowGetsTheRowsThatItReads) {
  fill(store());
  const RunRow run = store().find_run("quickstart");
  EXPECT_EQ(run.state, RunState::completed);
  EXPECT_EQ(run.result["best_step"], 3);
  const auto metrics = store().read_metrics(run.number);
  ASSERT_EQ(metrics.size(), 3u);
  EXPECT_EQ(metrics[2].name, "train/loss");
  EXPECT_EQ(metrics[2].points, 3);
  EXPECT_EQ(store().read_latest(run.number, "train/loss")->step, 3);
  EXPECT_FALSE(store().read_latest(run.number, "dev/recall"));
  EXPECT_TRUE(store().read_curve(run.number, "none").empty());
  const auto checkpoints = store().read_checkpoints(run.number);
  ASSERT_EQ(checkpoints.size(), 1u);
  EXPECT_EQ(checkpoints[0].kind, "best");
  EXPECT_FALSE(checkpoints[0].on_disk);
  EXPECT_EQ(store().read_digests(run.number).at(0).value, "00ff");
  EXPECT_EQ(store().read_artifacts(run.number).at(0).sha256, "ef");
  EXPECT_EQ(store().read_events(run.number).size(), 6u);
  EXPECT_EQ(store().read_events(run.number, "log").at(0).body["text"], "two sentences were cut");
  const AttemptRow attempt = store().read_attempts(run.number).at(0);
  EXPECT_EQ(attempt.environment["device"], "a CPU");
  EXPECT_EQ(attempt.host["name"], "here");
  EXPECT_EQ(attempt.build["version"], "0.1.0");
  EXPECT_EQ(attempt.state, RunState::completed);
}

TEST_F(StoreTest, TheQueriesOfTheDocumentWork) {
  fill(store());
  std::ifstream file(std::string(ENCORE_SOURCE_DIR) + "/docs/reference/store.md");
  std::ostringstream document;
  document << file.rdbuf();
  const std::string text = document.str();
  const std::regex block("```sql\n([^`]*)```");
  int count = 0;
  for (std::sregex_iterator match(text.begin(), text.end(), block), end; match != end; ++match, ++count) {
    Statement statement(store().database(), (*match)[1].str());
    EXPECT_TRUE(statement.step()) << "no row: " << (*match)[1].str();
  }
  EXPECT_GE(count, 8);
  // The examples at the head of store/schema.sql.
  EXPECT_TRUE(Statement(store().database(), "SELECT id, name, status FROM run_status").step());
  EXPECT_TRUE(Statement(store().database(),
                        "SELECT step, value FROM curve WHERE run = 'quickstart' AND metric = 'dev/f1'")
                  .step());
}

/// Programs of users read these views: docs/reference/store.md promises that columns are neither renamed nor
/// moved.
TEST_F(StoreTest, ThePromisedViewsKeepTheirColumns) {
  const std::pair<const char*, const char*> views[] = {
      {"run_status",
       "id name backend seed repeat group_id status reason attempts created_utc finished_utc result kind "
       "origin"},
      {"curve", "id run metric step value special"},
      {"setting", "id run key value type"},
      {"score", "id run split metric value"}};
  for (const auto& [view, columns] : views)
    EXPECT_EQ(store().database().text("SELECT group_concat(name, ' ') FROM pragma_table_info('" +
                                      std::string(view) + "')"),
              columns)
        << view;
  fill(store());
  Database& database = store().database();
  EXPECT_EQ(database.text("SELECT value FROM setting WHERE run = 'quickstart' AND key = 'model.width'"),
            "384");
  EXPECT_EQ(
      database.text("SELECT value || ' ' || id FROM score WHERE run = 'quickstart' AND split = 'test' AND "
                    "metric = 'f1'"),
      database.text("SELECT result ->> '$.measures.test/f1' || ' ' || id FROM run_status WHERE name = "
                    "'quickstart'"));
  const RunRow run = store().find_run("quickstart");
  store().set_removed({run.number}, true);
  for (const char* view : {"run_status", "setting", "score"})
    EXPECT_EQ(database.integer("SELECT count(*) FROM " + std::string(view) + " WHERE id = '" + run.id + "'"),
              0)
        << view;
}

TEST_F(StoreTest, TheSchemaExplainsEveryTable) {
  const std::string text = schema_sql;
  const std::regex table("\n([^\n]*)\nCREATE (TABLE|VIEW) (\\w+)");
  int count = 0;
  for (std::sregex_iterator match(text.begin(), text.end(), table), end; match != end; ++match, ++count) {
    EXPECT_EQ((*match)[1].str().find("--"), 0u) << (*match)[3].str() << " has no comment above it";
  }
  EXPECT_EQ(count,
            store().database().integer("SELECT count(*) FROM sqlite_schema WHERE type IN ('table', 'view')"));
}

}  // namespace
}  // namespace encore::store
