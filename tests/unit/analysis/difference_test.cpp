// SPDX-License-Identifier: BSD-3-Clause
// Tests the facts of runs, field by field: all_facts() for `exp diff`, question_facts() for `exp explain`
// (only what identifies a run), environment_differences(), and NearestRun, which finds the run with the
// fewest differences. Paths must never count as a difference, only contents. The runs come from
// replicates.hpp.
#include "analysis/difference.hpp"

#include "analysis/nearest_run.hpp"
#include "unit/analysis/replicates.hpp"

namespace encore::testing {
namespace {

using DifferenceTest = ReplicatesTest;

/// Returns "section/key" of each difference, in order.
std::vector<std::string> keys_of(const std::vector<analysis::Difference>& differences) {
  std::vector<std::string> keys;
  for (const analysis::Difference& difference : differences)
    keys.push_back(difference.section + "/" + difference.key);
  return keys;
}

using Keys = std::vector<std::string>;

TEST_F(DifferenceTest, OnlyWhatDiffersWithItsOrigin) {
  const store::RunRow a = tell({.name = "a"}), b = tell({.name = "b",
                                                         .device = "cpu two",
                                                         .test_set = std::string(64, 'e'),
                                                         .dropout = 0.2});
  const auto found =
      analysis::differences(analysis::all_facts(store(), a).fields, analysis::all_facts(store(), b).fields);
  EXPECT_EQ(keys_of(found), Keys({"configuration/model.dropout", "data/test", "environment/device"}));
  EXPECT_EQ(found[0].a, 0.1);
  EXPECT_EQ(found[0].b, 0.2);
  EXPECT_EQ(found[0].origin_a, "default");
  EXPECT_EQ(found[1].origin_b, "/data/test.conll");
  EXPECT_TRUE(
      analysis::differences(analysis::all_facts(store(), a).fields, analysis::all_facts(store(), a).fields)
          .empty());
}

TEST_F(DifferenceTest, ARunThatHasNotBegunHasOnlyTheFactsOfItsQuestion) {
  const store::RunRow run = tell({.state = store::RunState::pending});
  const analysis::RunFacts facts = analysis::all_facts(store(), run);
  EXPECT_FALSE(facts.told);
  for (const analysis::Field& field : facts.fields)
    EXPECT_TRUE(field.section == "configuration" || field.section == "data");
}

TEST_F(DifferenceTest, ThePlaceOfAFileDoesNotCount) {
  record::Specification one = specification_of(), other = specification_of();
  one.config["data"]["root"] = "/here";
  other.config["data"]["root"] = "/there";
  other.data["train"].path = "/there/train.conll";
  EXPECT_TRUE(analysis::differences(analysis::question_facts(one), analysis::question_facts(other)).empty());
  other.data["train"].sha256 = std::string(64, '9');
  EXPECT_EQ(keys_of(analysis::differences(analysis::question_facts(one), analysis::question_facts(other))),
            Keys({"data/train"}));
}

TEST_F(DifferenceTest, ASettingThatOneLacksDiffers) {
  record::Specification one = specification_of(), other = specification_of();
  other.config["model"]["groups"] = 4;
  const auto found = analysis::differences(analysis::question_facts(one), analysis::question_facts(other));
  ASSERT_EQ(keys_of(found), Keys({"configuration/model.groups"}));
  EXPECT_TRUE(found[0].a.is_null());
}

TEST_F(DifferenceTest, APlannedRunHasTheFactsOfTheStoredOne) {
  record::Specification specification = specification_of();
  const store::RunRow run = store().add_run(specification).run;
  const auto found =
      analysis::differences(analysis::question_facts(specification), analysis::question_facts(store(), run));
  EXPECT_TRUE(found.empty()) << keys_of(found).front();
  EXPECT_EQ(analysis::question_facts(store(), run).size(), analysis::question_facts(specification).size());
}

TEST_F(DifferenceTest, TheNearestRunIsTheOneWithTheFewestDifferences) {
  const store::RunRow far = tell({.name = "far", .seed = 5, .dropout = 0.4}),
                      near = tell({.name = "near", .dropout = 0.3}),
                      newer = tell({.name = "newer", .dropout = 0.3, .fresh = true}),
                      self = tell({.name = "self"});
  const analysis::NearestRun runs(store());
  const analysis::Facts question = analysis::question_facts(store(), self);
  EXPECT_EQ(runs.find(question), self.number);
  EXPECT_EQ(runs.find(question, {self.number}), newer.number) << "the newest among equals";
  EXPECT_EQ(runs.find(question, {self.number, newer.number}), near.number);
  EXPECT_EQ(runs.find(question, {self.number, newer.number, near.number}), far.number);
  EXPECT_FALSE(runs.find(question, {self.number, newer.number, near.number, far.number}));
}

TEST(EnvironmentDifferences, NameTheFieldsAndOnlyPluginsThatBothHave) {
  const nlohmann::json one = {{"device", "a"}, {"plugins", {{"x", "1"}, {"y", "1"}}}};
  const nlohmann::json other = {{"device", "b"}, {"gemm", "g"}, {"plugins", {{"x", "2"}, {"z", "1"}}}};
  EXPECT_EQ(
      analysis::environment_differences(one, other),
      Keys({"device is \"a\" and \"b\"", "gemm is not recorded and \"g\"", "plugin x is another file"}));
  EXPECT_TRUE(analysis::environment_differences(one, one).empty());
  EXPECT_TRUE(analysis::environment_differences(one, nullptr).empty());
}

TEST(EnvironmentDifferences, BetweenRecordsWithAndWithoutLibraryFiles) {
  const nlohmann::json old = {{"kernels", "k"}};
  const nlohmann::json now = {{"kernels", "k"}, {"libm", "m"}, {"worker", "w"}};
  EXPECT_TRUE(analysis::environment_differences(old, old).empty()) << "old runs compare as before";
  EXPECT_EQ(analysis::environment_differences(old, now),
            Keys({"libm is not recorded and \"m\"", "worker is not recorded and \"w\""}));
  nlohmann::json other = now;
  other["worker"] = "v";
  EXPECT_EQ(analysis::environment_differences(now, other), Keys({"worker is \"w\" and \"v\""}));
}

}  // namespace
}  // namespace encore::testing
