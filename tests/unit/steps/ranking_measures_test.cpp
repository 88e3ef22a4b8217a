// SPDX-License-Identifier: BSD-3-Clause
// Tests the measures of rankings (plugins/steps/ranking/ranking_measures.hpp) against ir-measures on 1,000
// drawn rankings with many ties. The values are in ranking_measures.json, which make_ranking_measures.py
// writes with the same draws; run the script instead of editing the file.
#include "ranking/ranking_measures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/places.hpp"

namespace encore::ranking {
namespace {

/// The generator of make_ranking_measures.py.
class ScriptDraws {
 public:
  explicit ScriptDraws(std::uint64_t seed) : state_(seed) {}
  int below(std::uint64_t count) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<int>((state_ >> 33U) % count);
  }

 private:
  std::uint64_t state_;
};

struct RankedDocument {
  std::string id;
  double score = 0.0;
};

struct DrawnRanking {
  std::vector<RankedDocument> documents;
  Grades grades;
};

std::string name_of_draw(ScriptDraws& draws) {
  return "d" + std::to_string(draws.below(150));
}

/// Draws as ranking() of the script does: a name that is drawn again gets the newer score.
DrawnRanking drawn(std::uint64_t number) {
  ScriptDraws draws(number);
  DrawnRanking ranking;
  const int found = 1 + draws.below(30);
  for (int i = 0; i < found; ++i) {
    const std::string name = name_of_draw(draws);
    const double score = draws.below(6) / 4.0;
    const auto known = std::ranges::find(ranking.documents, name, &RankedDocument::id);
    if (known == ranking.documents.end())
      ranking.documents.push_back({.id = name, .score = score});
    else
      known->score = score;
  }
  const int judged = draws.below(12);
  for (int i = 0; i < judged; ++i) {
    const std::string name = name_of_draw(draws);
    ranking.grades[name] = draws.below(4);
  }
  const int judged_of_found = 1 + draws.below(6);
  for (int i = 0; i < judged_of_found; ++i) {
    const auto at = static_cast<std::size_t>(draws.below(ranking.documents.size()));
    ranking.grades[ranking.documents[at].id] = draws.below(4);
  }
  const std::string name = name_of_draw(draws);
  ranking.grades[name] = 1 + draws.below(3);
  return ranking;
}

/// Sorts by falling score, and equal scores by falling id, as trec_eval does.
void sort_as_trec_eval(std::vector<RankedDocument>& documents) {
  std::ranges::sort(documents, [](const RankedDocument& a, const RankedDocument& b) {
    return a.score != b.score ? a.score > b.score : a.id > b.id;
  });
}

std::vector<double> measured(const DrawnRanking& ranking) {
  std::vector<std::string> ids;
  for (const RankedDocument& document : ranking.documents) ids.push_back(document.id);
  return {ndcg(ids, ranking.grades, 10), ndcg(ids, ranking.grades, 3), reciprocal_rank(ids, ranking.grades),
          recall(ids, ranking.grades, 5), average_precision(ids, ranking.grades)};
}

nlohmann::json expected_values() {
  std::ifstream in(ENCORE_SOURCE_DIR "/tests/unit/steps/ranking_measures.json");
  return nlohmann::json::parse(in).at("values");
}

TEST(RankingMeasures, EqualIrMeasuresOnDrawnRankingsWithTies) {
  const nlohmann::json expected = expected_values();
  ASSERT_EQ(expected.size(), 1000U);
  std::size_t differ_unsorted = 0;
  for (std::size_t number = 0; number < expected.size(); ++number) {
    DrawnRanking ranking = drawn(number);
    const std::vector<double> unsorted = measured(ranking);
    sort_as_trec_eval(ranking.documents);
    const std::vector<double> values = measured(ranking);
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(values[i], expected[number][i].get<double>(), 1e-9)
          << "ranking " << number << ", value " << i;
    differ_unsorted += unsorted != values ? 1 : 0;
  }
  EXPECT_GT(differ_unsorted, 500U) << "the draws do not show in which order ties are broken";
}

TEST(RankingMeasures, TiesOrderedByRisingIdGiveOtherValues) {
  const nlohmann::json expected = expected_values();
  std::size_t wrong = 0;
  for (std::size_t number = 0; number < expected.size(); ++number) {
    DrawnRanking ranking = drawn(number);
    std::ranges::sort(ranking.documents, [](const RankedDocument& a, const RankedDocument& b) {
      return a.score != b.score ? a.score > b.score : a.id < b.id;
    });
    wrong += std::abs(measured(ranking).front() - expected[number][0].get<double>()) > 1e-9 ? 1 : 0;
  }
  EXPECT_GT(wrong, 300U);
}

TEST(RankingMeasures, WithoutRelevantDocumentsAreZero) {
  const std::vector<std::string> ranking = {"a"};
  for (const Grades& grades : {Grades{}, Grades{{"a", 0}}, Grades{{"a", -1}}}) {
    EXPECT_EQ(count_relevant(grades), 0U);
    EXPECT_EQ(ndcg(ranking, grades, 10), 0.0);
    EXPECT_EQ(reciprocal_rank(ranking, grades), 0.0);
    EXPECT_EQ(recall(ranking, grades, 10), 0.0);
    EXPECT_EQ(average_precision(ranking, grades), 0.0);
  }
  EXPECT_EQ(ndcg({}, {{"a", 2}}, 10), 0.0);
  EXPECT_EQ(recall({}, {{"a", 2}}, 10), 0.0);
}

TEST(RankingMeasures, GradesWeighInTheGain) {
  const Grades grades = {{"a", 1}, {"b", 3}};
  const std::vector<std::string> worse = {"a", "b"}, best = {"b", "a"};
  EXPECT_DOUBLE_EQ(ndcg(best, grades, 10), 1.0);
  const double discount = 1.0 / std::log2(3.0);
  EXPECT_DOUBLE_EQ(ndcg(worse, grades, 10), (1.0 + 3.0 * discount) / (3.0 + discount));
}

}  // namespace
}  // namespace encore::ranking
