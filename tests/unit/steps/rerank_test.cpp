// SPDX-License-Identifier: BSD-3-Clause
// Tests the step `rerank` (plugins/steps/rerank): the new order of hits, ties, answers of a record alone and
// in a batch, measures, and refusals. The models are made for the test: one of classes and one of a number,
// both of which read pairs.
#include "rerank/rerank.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <encore/testing.hpp>

#include "base/measures.hpp"
#include "unit/steps/samples.hpp"

namespace encore::rerank {
namespace {

using Lists = Records::TextLists;
using Names = std::vector<std::string>;

/// Finds a document the more relevant, the more words of the request are letters in it; a document with "!"
/// is always relevant. Counts how many pairs it is asked about at once.
class PairModel final : public StepModel {
 public:
  const TaskFields& fields() const override { return fields_; }
  std::vector<std::string> labels() const override { return labels_; }
  std::string no_scores() const override { return problem; }
  std::string no_vectors() const override { return "it reads pairs"; }
  Records answer(const Records& questions) override {
    if (needs_pairs && !questions.has("text2")) throw Error("the records lack the field \"text2\"");
    const Records::Texts& requests = questions.texts("text");
    Records::NumberMaps scores;
    Records::Numbers numbers;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const std::string document = needs_pairs ? questions.texts("text2")[i] : "";
      const double found = document.find('!') != std::string::npos           ? value_of_mark
                           : document.find(requests[i]) != std::string::npos ? 0.75
                                                                             : 0.25;
      numbers.push_back(found);
      scores.push_back({{"other", 1.0 - found}, {"relevant", found}});
    }
    largest = std::max(largest, requests.size());
    Records answers;
    if (labels_.empty() && gives_numbers) answers.add("number", std::move(numbers));
    if (!labels_.empty()) answers.add("scores", std::move(scores));
    answers.add("shown", Records::Texts(requests.size(), "a line"));
    return answers;
  }
  Records::NumberLists vectors(const Records::Texts&) override { return {}; }

  TaskFields fields_ = {.structure = {"text"}, .truth = {"label"}, .optional = {"text2"}};
  std::vector<std::string> labels_ = {"other", "relevant"};
  std::string problem;
  bool needs_pairs = true, gives_numbers = true;
  double value_of_mark = 0.9;
  std::size_t largest = 0;
};

/// Requests with what a search found for them.
Records found(const Records::Texts& requests, const Lists& hits, const Lists& documents) {
  Records records;
  records.add("text", requests);
  records.add("find.hits", hits);
  records.add("find.texts", documents);
  return records;
}

Records three_requests() {
  return found({"a", "b", "c"}, {{"d1", "d2", "d3", "d4"}, {}, {"d4", "d2"}},
               {{"x", "a one", "y", "a two"}, {}, {"c!", "c"}});
}

class RerankTest : public ::testing::Test {
 protected:
  Rerank step(const std::map<std::string, OptionValue>& settings = {{"label", std::string("relevant")}}) {
    return {test::step_options<Rerank>(settings), {.name = "rank", .before = "find", .model = &model_}};
  }
  std::string refusal(const std::map<std::string, OptionValue>& settings) {
    return test::refusal([&] { step(settings); });
  }
  PairModel model_;
};

TEST_F(RerankTest, OrdersTheHitsByTheProbabilityOfAClass) {
  Rerank rank = step();
  EXPECT_EQ(rank.fields().reads, (Names{"text", "find.hits", "find.texts"}));
  const Records given = rank.apply(three_requests());
  EXPECT_EQ(given.lists("hits"), (Lists{{"d2", "d4", "d1", "d3"}, {}, {"d4", "d2"}}))
      << "hits with equal scores keep the order of the search";
  EXPECT_EQ(given.vectors("scores"), (Records::NumberLists{{0.75, 0.75, 0.25, 0.25}, {}, {0.9, 0.75}}));
  EXPECT_EQ(given.vectors("ranks"), (Records::NumberLists{{2, 4, 1, 3}, {}, {1, 2}}));
  EXPECT_EQ(given.lists("texts")[0], (Names{"a one", "a two", "x", "y"}));
  EXPECT_EQ(given.texts("text"), (Names{"a one", "", "c!"}));
  EXPECT_EQ(given.texts("shown"), (Names{"d2  0.750  a one", "no document was found", "d4  0.900  c!"}));
}

TEST_F(RerankTest, OrdersTheHitsByANumber) {
  model_.labels_.clear();
  model_.problem = "it predicts numbers";
  model_.value_of_mark = -2.0;
  const Records given = step({{"k", std::int64_t{1}}}).apply(three_requests());
  EXPECT_EQ(given.lists("hits"), (Lists{{"d2"}, {}, {"d2"}}));
  EXPECT_EQ(given.vectors("ranks"), (Records::NumberLists{{2}, {}, {2}}));
}

/// The requests above with the scores of the search, and the relevant documents.
Records scored_requests() {
  Records records = three_requests();
  records.add("find.scores", Records::NumberLists{{9, 5, 4, 1}, {}, {2, 1}});
  return records;
}

TEST_F(RerankTest, JoinsTheScoresOfSearchAndModel) {
  Rerank rank = step({{"label", std::string("relevant")}, {"weight", 0.25}});
  EXPECT_EQ(rank.fields().reads, (Names{"text", "find.hits", "find.texts", "find.scores"}));
  EXPECT_FALSE(rank.is_fitted());
  const Records given = rank.apply(scored_requests());
  // Scaled: search 1, 0.5, 0.375, 0 and model 0, 1, 0, 1.
  EXPECT_EQ(given.lists("hits")[0], (Names{"d1", "d2", "d3", "d4"}));
  EXPECT_EQ(given.vectors("scores")[0], (std::vector<double>{0.75, 0.625, 0.28125, 0.25}));
  EXPECT_EQ(given.vectors("model_scores")[0], (std::vector<double>{0.25, 0.75, 0.25, 0.75}));
  EXPECT_EQ(given.vectors("scores")[2], (std::vector<double>{1.0, 0.0}));
  EXPECT_EQ(step().apply(three_requests()).vectors("model_scores"),
            step().apply(three_requests()).vectors("scores"))
      << "alone the model gives the score";
  EXPECT_EQ(refusal({{"label", std::string("relevant")}, {"weight", 0.5}, {"fit_weight", true}}),
            "weight and fit_weight exclude each other: remove one of them");
}

/// Requests of which the search and the model find the relevant document in `searched` and `asked` of ten
/// cases at the first place. Where both are wrong, both have it at the second place, behind different
/// documents.
Records judged_requests(int count, int searched, int asked) {
  Records::Texts requests;
  Lists hits, documents, labels;
  Records::NumberLists scores;
  for (int i = 0; i < count; ++i) {
    const bool search_is_right = i % 10 < searched, model_is_right = (i * 7) % 10 < asked;
    requests.push_back("a");
    labels.push_back({"right"});
    // The model gives 0.9 to a text with "!", 0.75 to one with an "a", and 0.25 to others.
    hits.push_back(search_is_right ? Names{"right", "other", "wrong"} : Names{"other", "right", "wrong"});
    scores.push_back({3, 2, 1});
    const std::string right = model_is_right ? "!" : "a", wrong = model_is_right ? "a" : "!";
    documents.push_back(search_is_right ? Names{right, "x", wrong} : Names{"x", right, wrong});
  }
  Records records = found(requests, hits, documents);
  records.add("find.scores", std::move(scores));
  records.add("labels", std::move(labels));
  return records;
}

TEST_F(RerankTest, ChoosesTheWeightThatHelps) {
  Rerank rank = step({{"label", std::string("relevant")}, {"fit_weight", true}});
  EXPECT_TRUE(rank.is_fitted());
  const Records both = judged_requests(200, 6, 6);
  rank.fit({.dev = both});
  ASSERT_EQ(rank.notes().size(), 2U);
  EXPECT_NE(rank.notes()[0].find("nDCG@10 on 200 requests: search 0.852, model 0.852"), std::string::npos)
      << rank.notes()[0];
  const std::string knowledge = rank.knowledge();
  Rerank again = step({{"label", std::string("relevant")}, {"fit_weight", true}});
  again.restore(knowledge);
  EXPECT_EQ(again.knowledge(), knowledge);
  EXPECT_EQ(again.apply(both).lists("hits"), rank.apply(both).lists("hits"));
  for (const char* wrong : {"", "{}", "{\"version\":1,\"weight\":2.0}", "{\"version\":2,\"weight\":0.5}"})
    EXPECT_EQ(test::refusal([&] { again.restore(wrong); }),
              "the stored weight is damaged: remove the run and run the application again")
        << wrong;
}

TEST_F(RerankTest, TakesTheBetterOneIfBothTogetherDoNotHelp) {
  const auto weight = [&](const Records& dev) {
    Rerank rank = step({{"label", std::string("relevant")}, {"fit_weight", true}});
    rank.fit({.dev = dev});
    return rank.knowledge();
  };
  EXPECT_EQ(weight(judged_requests(200, 0, 10)), "{\"version\":1,\"weight\":1.0}");
  EXPECT_EQ(weight(judged_requests(200, 10, 0)), "{\"version\":1,\"weight\":0.0}");
  EXPECT_EQ(weight(judged_requests(10, 10, 0)), "{\"version\":1,\"weight\":0.0}") << "few requests";
  Records unjudged = scored_requests();
  unjudged.add("labels", Lists{{}, {}, {}});
  EXPECT_NE(test::refusal([&] { weight(unjudged); }).find("no request of the development set has a relevant"),
            std::string::npos);
}

TEST_F(RerankTest, AnswersARecordByItself) {
  Rerank rank = step();
  Records::Texts requests;
  Lists hits, documents;
  for (int i = 0; i < 300; ++i) {
    requests.push_back(i % 2 == 0 ? "a" : "b");
    hits.emplace_back();
    documents.emplace_back();
    for (int hit = 0; hit < i % 10; ++hit) {
      hits.back().push_back("d" + std::to_string(hit));
      documents.back().push_back(hit % 3 == 0 ? "a" : hit % 3 == 1 ? "b" : "!");
    }
  }
  const Records all = rank.apply(found(requests, hits, documents));
  EXPECT_EQ(model_.largest, 1024U) << "a request with many hits does not make a model hold them all";
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Records alone = rank.apply(found({requests[i]}, {hits[i]}, {documents[i]}));
    EXPECT_EQ(alone.lists("hits")[0], all.lists("hits")[i]) << i;
    EXPECT_EQ(alone.vectors("scores")[0], all.vectors("scores")[i]) << i;
    EXPECT_EQ(alone.vectors("ranks")[0], all.vectors("ranks")[i]) << i;
  }
}

TEST_F(RerankTest, ReadsTheStepThatIsNamed) {
  const Rerank rank = step({{"label", std::string("relevant")}, {"from", std::string("words")}});
  EXPECT_EQ(rank.fields().reads, (Names{"text", "words.hits", "words.texts"}));
}

TEST_F(RerankTest, MeasuresTheOrderThatItGives) {
  Rerank rank = step();
  Records records = three_requests();
  records.add("labels", Lists{{"d4", "d2=0"}, {"d9"}, {}});
  Statistics statistics;
  rank.measure(records, rank.apply(records), statistics);
  EXPECT_EQ(statistics.examples(), 3U);
  std::map<std::string, double> values;
  for (const auto& [name, value] : measure_values(Rerank::measures(), statistics)) values[name] = value;
  EXPECT_DOUBLE_EQ(values.at("mrr"), 0.5 / 2.0) << "d2 stands before d4, which has the same score";
  EXPECT_DOUBLE_EQ(values.at("ndcg10"), 1.0 / std::log2(3.0) / 2.0);
  EXPECT_DOUBLE_EQ(values.at("recall"), 0.5);
  EXPECT_DOUBLE_EQ(values.at("map"), 0.25);
}

TEST_F(RerankTest, RefusesALabelThatDoesNotFitTheModel) {
  EXPECT_EQ(refusal({}),
            "label is missing: name the class of relevant documents, one of \"other\", \"relevant\"; its "
            "probability is the score");
  EXPECT_EQ(refusal({{"label", std::string("good")}}),
            "label = \"good\" is not a class of the model of step \"rank\": expected one of \"other\", "
            "\"relevant\"");
  model_.problem = "it has a CRF";
  EXPECT_EQ(refusal({{"label", std::string("other")}}),
            "the model of step \"rank\" gives no probabilities: it has a CRF");
  model_.labels_.clear();
  EXPECT_EQ(refusal({{"label", std::string("other")}}),
            "label = \"other\", but the model of step \"rank\" has no classes: remove label, so that its "
            "number is the score");
}

TEST_F(RerankTest, RefusesAModelThatDoesNotReadPairs) {
  const std::string expected =
      "the model of step \"rank\" does not read pairs: expected a model that was trained on pairs of a "
      "request "
      "and a document, such as one of the task classify or regress with data.text2_column";
  model_.needs_pairs = false;
  EXPECT_EQ(refusal({{"label", std::string("relevant")}}), expected) << "its training set had single inputs";
  model_.needs_pairs = true;
  model_.fields_.optional = {};
  EXPECT_EQ(refusal({{"label", std::string("relevant")}}), expected);
  model_.fields_ = {.structure = {"question", "context"}, .truth = {"answers"}};
  EXPECT_EQ(refusal({{"label", std::string("relevant")}}), expected);
}

TEST_F(RerankTest, RefusesWhatCannotBeOrdered) {
  EXPECT_NE(test::refusal([&] {
              Rerank(test::step_options<Rerank>(), {.name = "rank"});
            }).find("no step stands before \"rank\""),
            std::string::npos);
  const Records uneven = found({"a"}, {{"d1", "d2"}}, {{"x"}});
  EXPECT_EQ(test::refusal([&] { step().apply(uneven); }),
            "step \"find\" gives 2 hits and 1 documents for one record: expected one for each hit");
  model_.value_of_mark = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(test::refusal([&] { step().apply(three_requests()); }).find("not a finite number"),
            std::string::npos);
  model_.labels_.clear();
  model_.gives_numbers = false;
  EXPECT_NE(test::refusal([&] { step({}).apply(three_requests()); }).find("neither classes nor a number"),
            std::string::npos);
}

}  // namespace
}  // namespace encore::rerank
