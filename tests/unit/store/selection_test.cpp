// SPDX-License-Identifier: BSD-3-Clause
// Tests select_runs() (store/selection.hpp; store/run_condition.cpp has the conditions): which runs the
// words, options and conditions of a command select, and the message if they select none or are invalid. A
// condition is text of a user that becomes SQL, and must never write.
#include "store/selection.hpp"

#include "store/run_columns.hpp"
#include "store/run_score.hpp"
#include "unit/store/store_fixture.hpp"

namespace encore::testing {
namespace {

using Names = std::vector<std::string>;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class SelectionTest : public StoreTest {
 protected:
  /// Adds a run of a sweep, with a dropout of its own; `letter` determines its question and its group.
  std::int64_t add_run(char letter, const std::string& name, const std::string& sweep, double dropout = 0.1) {
    record::Specification specification = specification_of(letter, name);
    specification.group = std::string(64, letter);
    specification.config["model"]["dropout"] = dropout;
    specification.config["train"] = {{"select", "max dev/f1"}};
    store::RunExtras extras;
    extras.sweep = store().add_sweep(sweep, sweep + ".toml", "");
    return store().add_run(specification, extras).run.number;
  }
  /// Adds four runs of two sweeps.
  void add_four() {
    add_run('a', "net-x-seed=1", "net", 0.1);
    add_run('b', "net-x-seed=2", "net", 0.2);
    add_run('c', "net-y-seed=1", "net", 0.3);
    add_run('d', "other", "other", 0.4);
  }
  /// Adds points of an attempt that still runs, or of one that ends with a result.
  void train(const std::string& name, const std::vector<double>& f1, bool completed) {
    const auto lease = store().begin_attempt(store().find_run(name).number);
    ASSERT_TRUE(lease);
    {
      record::SpoolWriter spool(spool_of(*lease), lease->ordinal);
      spool.event(record::Started{.host = record::JsonText(nlohmann::json{{"name", "here"}})});
      double best = 0.0;
      for (std::size_t step = 1; step <= f1.size(); ++step) {
        spool.point("dev/f1", static_cast<std::int64_t>(step), f1[step - 1]);
        spool.point("dev/loss", static_cast<std::int64_t>(step), 1.0 - f1[step - 1]);
        best = std::max(best, f1[step - 1]);
      }
      if (completed) spool.point("test/f1", 1, best / 2);
      if (completed)
        spool.event(record::Concluded{.best_step = 1, .measures = {{"dev/f1", best}, {"test/f1", best / 2}}});
      spool.sync();
    }
    if (completed)
      store().finish_attempt(*lease, store::RunState::completed);
    else
      store().merge(*lease);
  }

  Names names(const store::RunSelection& selection) {
    Names found;
    for (const store::RunRow& run : store::select_runs(store(), selection).runs) found.push_back(run.name);
    return found;
  }
  Names where(const std::string& condition) { return names({.where = condition}); }
  template <class Failure>
  std::string refusal(const store::RunSelection& selection) {
    return message_of<Failure>([&] { store::select_runs(store(), selection); });
  }
};

TEST_F(SelectionTest, AWordIsANameAnIdASweepAPatternOrABeginning) {
  add_four();
  EXPECT_EQ(names({.words = {"net-x-seed=2"}}), Names({"net-x-seed=2"}));
  EXPECT_EQ(names({.words = {"net"}}), Names({"net-x-seed=1", "net-x-seed=2", "net-y-seed=1"})) << "a sweep";
  EXPECT_EQ(names({.words = {"*seed=1"}}), Names({"net-x-seed=1", "net-y-seed=1"}));
  EXPECT_EQ(names({.words = {"net-[xz]-*"}}), Names({"net-x-seed=1", "net-x-seed=2"}));
  EXPECT_EQ(names({.words = {"net-x"}}), Names({"net-x-seed=1", "net-x-seed=2"})) << "the beginning of names";
  EXPECT_EQ(names({.words = {"other", "net-y"}}), Names({"other", "net-y-seed=1"}))
      << "in the order of the words";
  EXPECT_EQ(names({.words = {"net", "net-x-seed=1"}}).size(), 3u) << "each run once";
  EXPECT_EQ(names({.words = {"all"}}).size(), 4u);
  EXPECT_EQ(names({}).size(), 4u);
  EXPECT_EQ(names({.words = {"cccccc"}}), Names({"net-y-seed=1"})) << "the beginning of a group";
  EXPECT_EQ(names({.words = {"nothing*"}}), Names());
}

TEST_F(SelectionTest, AnExistingRunBelongsToEverySweepThatAsksForIt) {
  add_four();
  EXPECT_EQ(add_run('a', "wide-1", "wide"), store().find_run("net-x-seed=1").number);
  add_run('e', "wide-2", "wide");
  EXPECT_EQ(names({.words = {"wide"}}), Names({"net-x-seed=1", "wide-2"}));
  EXPECT_EQ(names({.sweeps = {"wide"}}), Names({"net-x-seed=1", "wide-2"}));
  EXPECT_EQ(names({.words = {"net"}}), Names({"net-x-seed=1", "net-x-seed=2", "net-y-seed=1"}));
  EXPECT_EQ(store::select_runs(store(), {.words = {"wide"}}).sweep, "wide");
  EXPECT_EQ(store::select_runs(store(), {.words = {"wide", "net"}}).sweep, "");
  EXPECT_EQ(store::select_runs(store(), {.words = {"wide-2"}}).sweep, "") << "a run by its own name";
  add_run('a', "again", "again");
  EXPECT_EQ(names({.words = {"again"}}), Names({"net-x-seed=1"})) << "also where it has no run of its own";
  EXPECT_EQ(names({.words = {"other"}}), Names({"other"})) << "of no other run";
  store().add_to_sweep(store().find_sweeps("net").front(), {store().find_run("net-x-seed=1").number});
  EXPECT_EQ(store().database().integer("SELECT count(*) FROM sweep_run"), 2)
      << "its own sweep is not recorded twice";
}

TEST_F(SelectionTest, ARunComesBeforeTheSweepOfItsName) {
  add_run('a', "net", "net");
  add_run('b', "net-seed=2", "net");
  EXPECT_EQ(names({.words = {"net"}}), Names({"net"}));
  EXPECT_EQ(names({.sweeps = {"net"}}), Names({"net", "net-seed=2"}));
}

TEST_F(SelectionTest, DistinguishesNamedRunsFromFoundRuns) {
  add_four();
  EXPECT_TRUE(store::select_runs(store(), {.words = {"other", "net-x-seed=1"}}).named);
  for (const char* word : {"net", "net-y", "*", "all"})
    EXPECT_FALSE(store::select_runs(store(), {.words = {"other", word}}).named) << word;
  EXPECT_FALSE(store::select_runs(store(), {}).named);
}

TEST_F(SelectionTest, UnknownWordsAreRefusedWithTheNearestName) {
  add_four();
  const std::string unknown = refusal<store::UnknownRun>({.words = {"other", "othre"}});
  EXPECT_TRUE(
      contains(unknown, "there is no run \"othre\", and no sweep of that name, in " + path().string()))
      << unknown;
  EXPECT_TRUE(contains(unknown, "did you mean \"other\"?")) << unknown;
  EXPECT_TRUE(contains(refusal<store::UnknownRun>({.words = {"zzz"}}), "exp ls lists the runs"));
  EXPECT_EQ(refusal<store::UnknownRun>({.words = {""}}), "a run's name is empty");
  store().set_removed({store().find_run("other").number}, true);
  EXPECT_EQ(refusal<store::UnknownRun>({.words = {"other"}}),
            "run other was removed; exp undelete other restores it");
  EXPECT_EQ(names({.words = {"other"}, .sight = store::Sight::removed}), Names({"other"}));
  EXPECT_EQ(refusal<store::UnknownRun>({.words = {"net-y-seed=1"}, .sight = store::Sight::removed}),
            "run net-y-seed=1 is not removed");
  EXPECT_EQ(message_of<store::UnknownRun>([&] { store().find_run("net"); }),
            "\"net\" matches 3 runs: net-x-seed=1, net-x-seed=2, net-y-seed=1; name one of them");
}

TEST_F(SelectionTest, OptionsNarrowDownWhatWordsMean) {
  add_four();
  const std::int64_t x1 = store().find_run("net-x-seed=1").number,
                     x2 = store().find_run("net-x-seed=2").number;
  store().set_tag(x1, "paper", true);
  store().set_tag(x2, "paper", true);
  store().set_tag(x2, "good", true);
  EXPECT_EQ(names({.tags = {"paper"}}), Names({"net-x-seed=1", "net-x-seed=2"}));
  EXPECT_EQ(names({.tags = {"paper", "good"}}), Names({"net-x-seed=2"})) << "all of them";
  EXPECT_EQ(names({.words = {"net-y", "net-x-seed=1"}, .tags = {"paper"}}), Names({"net-x-seed=1"}));
  EXPECT_EQ(names({.sweeps = {"other", "none"}}), Names({"other"})) << "any of them";
  store().begin_attempt(x2);
  EXPECT_EQ(names({.states = {store::RunState::running}}), Names({"net-x-seed=2"}));
  EXPECT_EQ(names({.words = {"net"}, .states = {store::RunState::pending}, .where = "model.dropout > 0.1"}),
            Names({"net-y-seed=1"}));
  EXPECT_EQ(store::select_runs(store(), {.words = {"net"}, .tags = {"absent"}}).meant, 3u);
  EXPECT_EQ(names({.limit = 2}), Names({"net-y-seed=1", "other"})) << "the newest";
}

TEST_F(SelectionTest, ConditionsKnowFieldsSettingsAndMeasures) {
  add_four();
  train("net-x-seed=1", {0.5, 0.8, 0.6}, true);
  train("other", {0.3, 0.2}, true);
  EXPECT_EQ(where("model.dropout >= 0.3"), Names({"net-y-seed=1", "other"}));
  EXPECT_EQ(where("dev/f1 > 0.7"), Names({"net-x-seed=1"}));
  EXPECT_EQ(where("dev/f1 - test/f1 > 0.2"), Names({"net-x-seed=1"}));
  EXPECT_EQ(where("\"model.dropout\" < 0.2 AND [test/f1] IS NOT NULL"), Names({"net-x-seed=1"}));
  EXPECT_EQ(where("dev/loss IS NULL AND state = 'pending'"), Names({"net-x-seed=2", "net-y-seed=1"}));
  EXPECT_EQ(where("sweep = 'other' OR name LIKE '%y-seed%'"), Names({"net-y-seed=1", "other"}));
  EXPECT_EQ(where("model.block LIKE '%attention%'").size(), 4u);
  EXPECT_EQ(where("created > '2020-01-01' AND finished IS NULL").size(), 2u);
  EXPECT_EQ(
      where("EXISTS (SELECT 1 FROM param WHERE param.key = 'model.dropout' AND param.value = 0.4) -- all")
          .size(),
      4u);
  EXPECT_EQ(where("seed/attempts = 7 AND seed / 7 = 1").size(), 2u) << "a division stays one";
  EXPECT_EQ(where("name = 'a.b'').c' /* model.dropout */ OR seed = 7").size(), 4u)
      << "strings and comments stay unchanged";
  EXPECT_EQ(where("tags = 'none'"), Names());
}

TEST_F(SelectionTest, ALostRunIsLostInConditionsToo) {
  add_four();
  ASSERT_TRUE(store().begin_attempt(store().find_run("other").number, dead_process()));
  EXPECT_EQ(where("state = 'lost'"), Names({"other"}));
  EXPECT_EQ(where("state = 'running'"), Names());
}

TEST_F(SelectionTest, PointsAtTheInvalidPartOfACondition) {
  add_four();
  train("other", {0.3}, true);
  const auto refused = [&](const std::string& condition) {
    return refusal<store::ConditionError>({.where = condition});
  };
  EXPECT_EQ(
      refused("model.dropuot > 0.1"),
      "--where: no such column: model.dropuot; did you mean \"model.dropout\"?\n  model.dropuot > 0.1\n  ^");
  EXPECT_EQ(refused("seed = 7 AND dve/f1 > 0.5"),
            "--where: no such column: dve; did you mean \"dev/f1\"?\n  seed = 7 AND dve/f1 > 0.5\n           "
            "    ^");
  EXPECT_EQ(refused("name = \"other\""),
            "--where: no such column: other; docs/guides/selecting_runs.md lists the columns\n  name = "
            "\"other\"\n  "
            "       ^")
      << "double quotes are for names";
  EXPECT_EQ(refused("(seed = 7"), "--where: this parenthesis is not closed\n  (seed = 7\n  ^");
  EXPECT_EQ(refused("seed = 7) OR (1"),
            "--where: this parenthesis closes nothing\n  seed = 7) OR (1\n          ^");
  EXPECT_EQ(refused("name = 'other"), "--where: this quote is not closed\n  name = 'other\n         ^");
  EXPECT_EQ(refused("1; DELETE FROM run"),
            "--where: a condition is one expression, without a semicolon\n  1; DELETE FROM run\n   ^");
  EXPECT_EQ(refused("seed = ?"),
            "--where: \"?\" has no meaning here; write the value itself\n  seed = ?\n         ^");
  EXPECT_EQ(refused("seed = 7 /* all"),
            "--where: this comment is not closed\n  seed = 7 /* all\n           ^");
  EXPECT_EQ(refused("seed >"), "--where: the condition is incomplete\n  seed >\n        ^");
  EXPECT_EQ(refused("name = 'ä' AND seeed = 7"),
            "--where: no such column: seeed; did you mean \"seed\"?\n  name = 'ä' AND seeed = 7\n            "
            "     ^");
  EXPECT_EQ(refused("state = 'failed'\nAND seeed = 7"),
            "--where: no such column: seeed; did you mean \"seed\"?\n  AND seeed = 7\n      ^");
  EXPECT_TRUE(contains(refused(" "), "--where is empty"));
}

TEST_F(SelectionTest, AConditionCannotWrite) {
  add_four();
  const std::string before = dump(store().database());
  for (const char* condition :
       {"load_extension('x') IS NULL", "1) UNION SELECT 1 FROM (DELETE FROM run",
        "(DELETE FROM run RETURNING number)", "EXISTS (INSERT INTO tag VALUES (1, 'x') RETURNING run)",
        "seed IN (SELECT * FROM pragma_journal_mode('delete'))", "(ATTACH 'other.db' AS other)"})
    EXPECT_THROW(store::select_runs(store(), {.where = condition}), store::ConditionError) << condition;
  EXPECT_EQ(dump(store().database()), before);
  EXPECT_FALSE(std::filesystem::exists("other.db"));
}

TEST_F(SelectionTest, TheBestIsOneRunByTheDirectionOfItsMeasure) {
  add_four();
  train("net-x-seed=1", {0.5, 0.8, 0.6}, true);
  train("net-x-seed=2", {0.7}, true);
  EXPECT_EQ(names({.best = "dev/f1"}), Names({"net-x-seed=1"}));
  EXPECT_EQ(names({.best = "min dev/f1"}), Names({"net-x-seed=2"}));
  EXPECT_EQ(names({.best = "dev/loss"}), Names({"net-x-seed=2"}))
      << "the last values are 0.4 and 0.3, lower is better";
  EXPECT_EQ(names({.words = {"net-x-seed=2"}, .best = "max dev/f1"}), Names({"net-x-seed=2"}));
  EXPECT_EQ(refusal<Error>({.best = "dev/f2"}),
            "--best \"dev/f2\": no run has a measure \"dev/f2\"; did you mean \"dev/f1\"?");
  EXPECT_EQ(refusal<Error>({.words = {"other"}, .best = "dev/f1"}),
            "--best \"dev/f1\": none of the 1 run has a value of dev/f1 yet");
}

TEST_F(SelectionTest, TheScoreOfARunIsThatOfItsOwnMeasureSoFar) {
  add_four();
  store().database().execute(
      "UPDATE param SET value = 'min dev/loss' WHERE key = 'train.select' AND run = 4");
  train("net-x-seed=1", {0.5, 0.8, 0.6}, false);
  train("net-x-seed=2", {0.5, 0.9, 0.6}, true);
  train("other", {0.5, 0.8, 0.6}, false);
  const std::vector<store::RunScore> scores = store::scores_of(store(), store::select_runs(store(), {}).runs);
  ASSERT_EQ(scores.size(), 4u);
  EXPECT_EQ(scores[0].rule.text(), "max dev/f1");
  EXPECT_EQ(scores[0].best, 0.8);
  EXPECT_EQ(scores[0].latest, 0.6);
  EXPECT_EQ(scores[1].best, 0.9) << "that of the result";
  EXPECT_FALSE(scores[2].best) << "the run has not begun";
  EXPECT_EQ(scores[3].rule.text(), "min dev/loss");
  EXPECT_NEAR(*scores[3].best, 0.2, 1e-12);
  EXPECT_NEAR(*scores[3].latest, 0.4, 1e-12);
}

TEST_F(SelectionTest, ColumnsHaveValuesAndNames) {
  add_four();
  train("other", {0.5, 0.25}, true);
  store::RunColumns columns(store());
  const std::vector<store::RunRow> runs = store::select_runs(store(), {}).runs;
  for (const std::string& name : columns.names()) {
    ASSERT_TRUE(columns.expression(name)) << name;
    EXPECT_EQ(columns.values(runs, name).size(), 4u) << name;
  }
  EXPECT_EQ(columns.values(runs, "model.dropout").at(runs[2].number), 0.3);
  EXPECT_EQ(columns.values(runs, "attempts").at(runs[3].number), 1);
  EXPECT_EQ(columns.values(runs, "dev/f1").at(runs[3].number), 0.5);
  EXPECT_TRUE(columns.values(runs, "dev/f1").at(runs[0].number).is_null());
  EXPECT_FALSE(columns.expression("model.dropuot"));
  EXPECT_FALSE(columns.expression("' OR 1 --"));
}

}  // namespace
}  // namespace encore::testing
