// SPDX-License-Identifier: BSD-3-Clause
// Tests CandidateKey (report/candidate_key.hpp), the names of candidates in reports and `exp compare`: a
// letter for each, and a column for each setting in which they differ. The same runs must always get the same
// letters; the look of a column may change.
#include <gtest/gtest.h>

#include "report/candidate_key.hpp"

namespace encore::report {
namespace {

/// Makes candidates of one run each, numbered 1, 2 and so on.
struct Made {
  std::vector<analysis::Candidate> candidates;
  std::vector<std::string> names;
  std::vector<store::RunRow> runs;
  std::vector<std::size_t> order;
};

Made made(const std::vector<std::string>& names) {
  Made all;
  for (const std::string& name : names) {
    store::RunRow run;
    run.number = static_cast<std::int64_t>(all.runs.size() + 1);
    run.seed = 1;
    all.candidates.push_back({.name = name, .group = name, .backend = "openmp", .runs = {{run, 0.5, ""}}});
    all.order.push_back(all.order.size());
    all.runs.push_back(run);
    all.names.push_back(name);
  }
  return all;
}

analysis::Factor factor(const std::string& label, const std::vector<nlohmann::json>& levels,
                        const std::vector<std::size_t>& level) {
  return {
      .name = "model." + label, .label = label, .keys = {"model." + label}, .levels = levels, .level = level};
}

CandidateKey key_of(const Made& all, const std::vector<analysis::Factor>& factors, std::size_t first = 0) {
  return make_key(all.candidates, all.order, all.names, all.runs, factors, first);
}

TEST(CandidateKey, LettersContinueAfterZ) {
  EXPECT_EQ(letter_of(0), "A");
  EXPECT_EQ(letter_of(25), "Z");
  EXPECT_EQ(letter_of(26), "AA");
  EXPECT_EQ(letter_of(51), "AZ");
  EXPECT_EQ(letter_of(52), "BA");
  EXPECT_EQ(letter_of(26 + 26 * 26), "AAA");
}

TEST(CandidateKey, HasAColumnForEachOptionThatVaries) {
  const Made all = made({"x", "y", "z"});
  const CandidateKey key = key_of(all, {factor("layers", {2, 4}, {0, 1, 1}), factor("width", {8}, {0, 0, 0}),
                                        factor("rate", {0.1, nullptr}, {0, 0, 1})});
  EXPECT_EQ(key.options, (std::vector<std::string>{"layers", "rate"}));
  EXPECT_EQ(key.values[2], (std::vector<std::string>{"4", "absent"}));
  EXPECT_EQ(key.introduced(1), "B (4, 0.1)");
  EXPECT_EQ(key.legend(1), "B: 4, 0.1");
}

TEST(CandidateKey, NamesComeFirstWhereOptionsDoNotDistinguish) {
  const CandidateKey key = key_of(made({"x", "y", "z"}), {factor("layers", {2, 4}, {0, 1, 1})});
  EXPECT_EQ(key.options, (std::vector<std::string>{"name", "layers"}));
  EXPECT_EQ(key.values[1].front(), "y");
}

TEST(CandidateKey, OfOneCandidateTheNameIsEnough) {
  const CandidateKey key = key_of(made({"x"}), {});
  EXPECT_EQ(key.letters, std::vector<std::string>{"x"});
  EXPECT_TRUE(key.options.empty());
  EXPECT_EQ(key.introduced(0), "x");
}

TEST(CandidateKey, LettersFollowTheOrderAndMayBeginLater) {
  Made all = made({"x", "y"});
  all.order = {1, 0};
  const CandidateKey key = key_of(all, {factor("layers", {2, 4}, {0, 1})}, 3);
  EXPECT_EQ(key.letters, (std::vector<std::string>{"E", "D"}));
}

TEST(CandidateKey, OptionsThatVaryWithinACandidateHaveNoColumn) {
  Made all = made({"x", "y"});
  store::RunRow second = all.runs[0];
  second.number = 3;
  all.runs.push_back(second);
  all.candidates[0].runs.push_back({second, 0.6, ""});
  const CandidateKey key =
      key_of(all, {factor("root", {"a", "b"}, {0, 0, 1}), factor("layers", {2, 4}, {0, 1, 0})});
  EXPECT_EQ(key.options, std::vector<std::string>{"layers"});
}

TEST(CandidateKey, LongSummariesStayOutOfPictures) {
  const std::string lengthy(60, 'x');
  const CandidateKey key = key_of(made({"x", "y"}), {factor("layers", {lengthy, "b"}, {0, 1})});
  EXPECT_EQ(key.legend(0), "A");
  EXPECT_EQ(key.introduced(0), "A (" + lengthy + ")");
}

}  // namespace
}  // namespace encore::report
