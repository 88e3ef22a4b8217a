// SPDX-License-Identifier: BSD-3-Clause
// Tests lineages (store/lineage.hpp), the runs that retrain one another: which of them represents all after
// it was promoted, after the verdict is taken back, and after it is hidden. `exp retrain` and selections with
// --promoted depend on it: at most one run may represent a lineage.
#include "store/lineage.hpp"

#include <gtest/gtest.h>

#include "store/selection.hpp"
#include "unit/store/store_fixture.hpp"

namespace encore::testing {
namespace {

class LineageTest : public StoreTest {
 protected:
  /// Adds a complete run that retrains the run number `before`; 0 means none.
  std::int64_t run(char letter, const std::string& name, std::int64_t before = 0) {
    record::Specification specification = specification_of(letter, name);
    if (before != 0) specification.config["train"]["retrains"] = store().read_run(before).id;
    const store::RunRow row = store().add_run(specification).run;
    const store::Lease lease = store().begin_attempt(row.number).value();
    {
      record::SpoolWriter spool(spool_of(lease), lease.ordinal, row.id);
      spool.event(record::Concluded{.best_step = 1, .measures = {}});
      spool.event(record::Ended{.ending = record::Ending::completed, .step = 1});
      spool.flush();
    }
    store().finish_attempt(lease, store::RunState::completed);
    return row.number;
  }
  void judge(std::int64_t number, bool promoted) {
    store::record_retraining(store(), store().read_run(number), {{"promoted", promoted}}, promoted);
  }
  std::string promoted(std::int64_t number) {
    return store::promoted_of(store(), store().read_run(number)).name;
  }
  std::string tagged() {
    std::string names;
    for (const store::RunRow& row : store::select_runs(store(), {.tags = {store::promoted_tag}}).runs)
      names += row.name + " ";
    return names;
  }
};

TEST_F(LineageTest, ARunWithoutRetrainingRepresentsItself) {
  const std::int64_t one = run('a', "one"), other = run('b', "other");
  EXPECT_EQ(promoted(one), "one");
  EXPECT_EQ(store::lineage_of(store(), store().read_run(other)).size(), 1u);
  EXPECT_TRUE(store::read_retraining(store(), store().read_run(one)).is_null());
  EXPECT_FALSE(store::retrained_by(store(), store().read_run(one)));
}

TEST_F(LineageTest, TheTagMovesWithinALineageAndLeavesOthersAlone) {
  const std::int64_t first = run('a', "first"), second = run('b', "second", first),
                     branch = run('c', "branch", first), third = run('d', "third", second),
                     alien = run('e', "alien"), heir = run('f', "heir", alien);
  judge(heir, true);
  judge(second, true);
  for (const std::int64_t number : {first, second, branch, third}) EXPECT_EQ(promoted(number), "second");
  judge(third, false);
  EXPECT_EQ(promoted(first), "second") << "a run that is not promoted changes nothing";
  judge(third, true);
  judge(branch, false);
  EXPECT_EQ(promoted(branch), "third");
  EXPECT_EQ(tagged(), "third heir ");
  const std::vector<store::RunRow> runs = store::lineage_of(store(), store().read_run(third));
  ASSERT_EQ(runs.size(), 4u);
  EXPECT_EQ(runs.front().name, "first");
  EXPECT_EQ(promoted(alien), "heir");
}

TEST_F(LineageTest, AVerdictThatIsTakenBackGivesThePlaceBack) {
  const std::int64_t first = run('a', "first"), second = run('b', "second", first);
  judge(second, true);
  judge(second, false);
  EXPECT_EQ(promoted(second), "first");
  EXPECT_EQ(store::read_retraining(store(), store().read_run(second)).at("promoted"), false);
  EXPECT_EQ(store().read_events(second, "retraining").size(), 1u) << "the newest replaces the earlier ones";
}

TEST_F(LineageTest, AHiddenRunRepresentsNoLineage) {
  const std::int64_t first = run('a', "first"), second = run('b', "second", first),
                     third = run('c', "third", second);
  judge(third, true);
  store().set_removed({third}, true);
  EXPECT_EQ(promoted(first), "first");
  store().set_removed({third}, false);
  EXPECT_EQ(promoted(first), "third");
  store().set_removed({second}, true);
  EXPECT_EQ(promoted(first), "third") << "the lineage continues through it";
}

TEST_F(LineageTest, SelectionsReplaceANamedRunByThePromotedOne) {
  const std::int64_t first = run('a', "first"), second = run('b', "second", first);
  run('c', "lone");
  judge(second, true);
  const auto names = [&](store::RunSelection selection) {
    selection.promoted = true;
    std::string text;
    for (const store::RunRow& row : store::select_runs(store(), selection).runs) text += row.name + " ";
    return text;
  };
  EXPECT_EQ(names({.words = {"first"}}), "second ");
  EXPECT_EQ(names({.words = {"first", "lone", "second"}}), "second lone ");
  EXPECT_EQ(names({.words = {"all"}}), "second lone ");
}

TEST_F(LineageTest, ARunWithoutAnAttemptCannotBeJudged) {
  const std::int64_t number = add('a', "begun");
  EXPECT_EQ(message_of<Error>([&] { judge(number, true); }), "run begun was never trained");
}

}  // namespace
}  // namespace encore::testing
