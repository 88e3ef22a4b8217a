// SPDX-License-Identifier: BSD-3-Clause
// Tests which columns of a user's file are proposed as text and label (survey/proposal.cpp), and that nothing
// is proposed where the facts do not decide. The rules may change; a wrong proposal is worse than none.
#include "survey/survey.hpp"

#include <gtest/gtest.h>

namespace encore::survey {
namespace {

using Columns = std::vector<record::SurveyedColumn>;
using Names = std::vector<std::string>;

record::SurveyedColumn text(const std::string& name, double characters) {
  return {.name = name, .filled = 1000, .characters = characters, .words = characters / 6.0};
}
record::SurveyedColumn label(const std::string& name, std::int64_t values) {
  return {.name = name, .filled = 1000, .values = values, .rarest = 7, .characters = 8.0, .words = 1.0};
}
record::SurveyedColumn number(const std::string& name) {
  return {.name = name, .filled = 1000, .characters = 4.0, .words = 1.0, .numbers = 1.0};
}
record::SurveyedColumn date(const std::string& name) {
  return {.name = name, .filled = 1000, .values = 100, .characters = 16.0, .words = 2.0, .dates = 1.0};
}

TEST(Proposal, TakesTheOnlyColumnOfEachKind) {
  const Columns columns = {number("id"), date("made at"), text("wording", 60.0), label("band", 6)};
  EXPECT_EQ(choose_text(columns).name, "wording");
  const record::ChosenColumn chosen = choose_label(columns, "wording");
  EXPECT_EQ(chosen.name, "band");
  EXPECT_EQ(chosen.why, "6 values, the rarest in 7 records; the only column whose values repeat");
}

TEST(Proposal, PrefersAUsualNameAndAMuchLongerText) {
  EXPECT_EQ(choose_text({text("subject", 40.0), text("message", 60.0)}).name, "message");
  EXPECT_EQ(choose_text({text("subject", 40.0), text("fields.body", 60.0)}).name, "fields.body");
  EXPECT_EQ(choose_text({text("subject", 30.0), text("wording", 60.0)}).name, "wording");
  EXPECT_EQ(choose_label({label("priority", 3), label("Category", 6)}, "").name, "Category");
}

TEST(Proposal, DecidesNothingBetweenEqualCandidates) {
  const record::ChosenColumn texts =
      choose_text({text("subject", 40.0), text("wording", 60.0), number("id")});
  EXPECT_EQ(texts.name, "");
  EXPECT_EQ(texts.candidates, (Names{"subject", "wording"}));
  const record::ChosenColumn labels = choose_label({label("priority", 3), label("band", 6)}, "");
  EXPECT_EQ(labels.name, "");
  EXPECT_EQ(labels.candidates, (Names{"priority", "band"}));
  EXPECT_EQ(choose_label({label("intent", 3), label("category", 6)}, "").name, "") << "two usual names";
}

TEST(Proposal, ProposesNoColumnThatCannotBeOne) {
  EXPECT_TRUE(choose_text({number("id"), date("made"), label("kind", 6)}).candidates.empty());
  EXPECT_TRUE(choose_label({label("constant", 1), label("name", 900), date("made"), text("body", 60.0)}, "")
                  .candidates.empty());
  EXPECT_TRUE(choose_label({label("kind", 6)}, "kind").candidates.empty()) << "the text is not its own label";
}

}  // namespace
}  // namespace encore::survey
