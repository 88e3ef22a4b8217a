// SPDX-License-Identifier: BSD-3-Clause
// Tests the steps `search` and `keyword_search` (plugins/steps/search): answers, the choice of a method on
// judged queries, knowledge that is stored and read back, and refusals. The model is a small one that knows
// which words mean the same.
#include "search/search.hpp"

#include <gtest/gtest.h>

#include <map>

#include <nlohmann/json.hpp>

#include <encore/testing.hpp>

#include "base/measures.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::search {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

/// Gives each input a vector with one value for each meaning of its words; an unknown word has a meaning of
/// its own by its length.
class MeaningModel final : public StepModel {
 public:
  const TaskFields& fields() const override { return fields_; }
  std::vector<std::string> labels() const override { return {}; }
  std::string no_scores() const override { return "it only gives vectors"; }
  std::string no_vectors() const override { return problem; }
  Records answer(const Records&) override { return {}; }
  Records::NumberLists vectors(const Records::Texts& inputs) override {
    static const std::map<std::string, std::size_t> meanings = {
        {"cat", 0}, {"feline", 0}, {"car", 1}, {"automobile", 1}, {"rain", 2}, {"shower", 2}};
    Records::NumberLists all;
    for (const std::string& input : inputs) {
      std::vector<double> vector(width, 0.0);
      std::string word;
      for (const char letter : input + " ") {
        if (letter != ' ') {
          word += letter;
          continue;
        }
        const auto known = meanings.find(word);
        vector[known == meanings.end() ? 3 + word.size() % (width - 3) : known->second] += 1.0;
        word.clear();
      }
      all.push_back(vector);
    }
    return all;
  }

  std::string problem;
  std::size_t width = 9;

 private:
  TaskFields fields_ = {.structure = {"text"}, .truth = {}};
};

constexpr const char* documents =
    "d1\tfeline care\nd2\tautomobile repair\nd3\tshower tomorrow\nd4\tcake recipe\n";

/// A folder with documents, and steps on them.
class SearchSteps : public ::testing::Test {
 protected:
  SearchSteps() { testing::write_bytes(folder_ / "documents.tsv", documents); }

  template <class Step>
  Options options_for(const std::map<std::string, OptionValue>& values) const {
    Options options = default_options<Step>();
    options.set("documents", (folder_ / "documents.tsv").string());
    for (const auto& [name, value] : values) options.set(name, value);
    return options;
  }
  std::unique_ptr<Search> search(const std::map<std::string, OptionValue>& values = {},
                                 const std::string& place = "find") {
    return std::make_unique<Search>(
        options_for<Search>(values),
        StepContext{.name = "find", .seed = 1, .model = &model_, .folder = folder_ / "run" / place});
  }
  std::unique_ptr<KeywordSearch> keywords(const std::map<std::string, OptionValue>& values = {}) {
    return std::make_unique<KeywordSearch>(options_for<KeywordSearch>(values),
                                           StepContext{.name = "find", .folder = folder_ / "run" / "words"});
  }

  TemporaryFolder folder_;
  MeaningModel model_;
};

Records asked(const Records::Texts& queries) {
  Records records;
  records.add("text", queries);
  return records;
}

Records judged(const std::vector<std::pair<std::string, std::vector<std::string>>>& queries) {
  Records::Texts inputs;
  Records::TextLists labels;
  for (const auto& [query, documents_of] : queries) {
    inputs.push_back(query);
    labels.push_back(documents_of);
  }
  Records records;
  records.add("text", inputs);
  records.add("labels", labels);
  return records;
}

/// Queries in other words than the documents have: only vectors find them.
Records queries_of_meaning() {
  std::vector<std::pair<std::string, std::vector<std::string>>> queries;
  for (int i = 0; i < 10; ++i)
    for (const auto& [word, id] :
         std::map<std::string, std::string>{{"cat", "d1"}, {"car", "d2"}, {"rain", "d3"}})
      queries.push_back({word + " " + std::string(static_cast<std::size_t>(1 + i % 3), 'x'), {id}});
  return judged(queries);
}

TEST_F(SearchSteps, ChooseVectorsForQueriesInOtherWords) {
  const auto step = search();
  const Records dev = queries_of_meaning();
  step->fit({.dev = dev});
  EXPECT_EQ(nlohmann::json::parse(step->knowledge()).at("method"), "vectors");
  const Records given = step->apply(asked({"cat", "rain"}));
  EXPECT_EQ(given.lists("hits")[0].front(), "d1");
  EXPECT_EQ(given.lists("hits")[1].front(), "d3");
  EXPECT_EQ(given.texts("text")[0], "feline care");
  ASSERT_EQ(given.lists("texts")[0].size(), given.lists("hits")[0].size());
  EXPECT_EQ(given.lists("texts")[1].front(), "shower tomorrow");
  EXPECT_EQ(given.vectors("vector_ranks")[0].front(), 1.0);
  EXPECT_EQ(given.vectors("word_ranks")[0].front(), 0.0);
  EXPECT_EQ(given.texts("shown")[0].substr(0, 4), "d1  ");
  ASSERT_EQ(step->notes().size(), 3U);
  EXPECT_NE(step->notes()[0].find("4 documents are in the index"), std::string::npos);
  EXPECT_NE(step->notes()[2].find("the method is vectors"), std::string::npos);
}

TEST_F(SearchSteps, ChooseWordsForQueriesInTheSameWords) {
  const auto step = search();
  std::vector<std::pair<std::string, std::vector<std::string>>> queries;
  for (int i = 0; i < 30; ++i) queries.push_back({"care and repair, cake", {i % 2 == 0 ? "d4" : "d2=2"}});
  for (int i = 0; i < 30; ++i) queries.push_back({"cake", {"d4"}});
  const Records dev = judged(queries);
  step->fit({.dev = dev});
  EXPECT_NE(nlohmann::json::parse(step->knowledge()).at("method"), "vectors");
  EXPECT_EQ(step->apply(asked({"cake"})).lists("hits")[0].front(), "d4");
}

TEST_F(SearchSteps, AnswerARecordByItself) {
  const auto step = search({{"method", "weighted"}, {"weight", 0.6}});
  step->fit({.dev = queries_of_meaning()});
  const Records::Texts queries = {"cat care", "", "automobile", "\"", "rain OR"};
  const Records all = step->apply(asked(queries));
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const Records alone = step->apply(asked({queries[i]}));
    EXPECT_EQ(alone.lists("hits")[0], all.lists("hits")[i]) << queries[i];
    EXPECT_EQ(alone.vectors("scores")[0], all.vectors("scores")[i]) << queries[i];
  }
  EXPECT_EQ(all.vectors("word_ranks")[0].front(), 1.0);
  EXPECT_EQ(all.vectors("vector_ranks")[0].front(), 1.0);
  EXPECT_TRUE(all.lists("hits")[1].empty()) << "a blank request";
}

TEST_F(SearchSteps, NeedNoModelForWords) {
  const auto step = keywords({{"k", std::int64_t{2}}});
  step->fit({.dev = judged({{"x", {}}})});
  const Records given = step->apply(asked({"cake repair", "zebra"}));
  EXPECT_EQ(given.lists("hits")[0], (std::vector<std::string>{"d4", "d2"})) << "equal scores: falling ids";
  EXPECT_TRUE(given.lists("hits")[1].empty());
  EXPECT_EQ(given.texts("shown")[1], "no document was found");
  EXPECT_EQ(step->notes().size(), 1U);
}

TEST_F(SearchSteps, CountTheBestPassageOfADocument) {
  testing::write_bytes(folder_ / "documents.tsv",
                       "d1\tRain fell. A feline care guide. More rain.\nd2\tcar\nd3\tcake. Cake. Cake.\n");
  const auto step = search({{"method", "ranks"},
                            {"passage_words", std::int64_t{4}},
                            {"passage_overlap", std::int64_t{2}},
                            {"k", std::int64_t{3}}});
  step->fit({.dev = queries_of_meaning()});
  EXPECT_NE(step->notes()[0].find("3 documents are in the index, cut into "), std::string::npos);
  const Records given = step->apply(asked({"feline care", "rain"}));
  EXPECT_EQ(given.lists("hits")[0].size(), 3U) << "documents, not passages";
  EXPECT_EQ(given.lists("hits")[0].front(), "d1");
  EXPECT_EQ(given.texts("text")[0], "A feline care guide.");
  const auto words = keywords({{"passage_words", std::int64_t{4}}});
  words->fit({.dev = judged({{"x", {}}})});
  EXPECT_EQ(words->apply(asked({"rain"})).lists("hits")[0], std::vector<std::string>{"d1"});
  EXPECT_EQ(message_of<OptionError>([&] {
              keywords({{"passage_overlap", std::int64_t{2}}});
            }),
            "invalid passage_overlap 2: documents are not cut; also set passage_words");
}

TEST_F(SearchSteps, KeepTheirKnowledge) {
  const auto step = search();
  const Records dev = queries_of_meaning();
  step->fit({.dev = dev});
  const auto other = search({}, "other");
  other->fit({.dev = dev});
  EXPECT_EQ(other->knowledge(), step->knowledge()) << "the folder has no influence";
  const auto again = search();
  again->restore(step->knowledge());
  EXPECT_EQ(again->knowledge(), step->knowledge());
  const Records queries = asked({"cat", "car"});
  EXPECT_EQ(again->apply(queries).vectors("scores"), step->apply(queries).vectors("scores"));
  for (const std::string text : {"", "{}", "[]", "text"})
    EXPECT_NE(message_of<Error>([&] { search()->restore(text); }), "no error") << text;
  EXPECT_NE(message_of<Error>([&] { search()->restore(step->knowledge().substr(0, 40)); }), "no error");
}

TEST_F(SearchSteps, RefuseAnotherIndex) {
  const auto step = search();
  const Records dev = queries_of_meaning();
  step->fit({.dev = dev});
  const std::string known = step->knowledge();
  testing::write_bytes(folder_ / "documents.tsv", std::string(documents) + "d5\tanother\n");
  search()->fit({.dev = dev});
  EXPECT_NE(
      message_of<Error>([&] { search()->restore(known); }).find("is not the one that was built for this run"),
      std::string::npos);
  std::filesystem::remove_all(folder_ / "run");
  EXPECT_NE(message_of<Error>([&] { search()->restore(known); }).find("has no index"), std::string::npos);
}

TEST_F(SearchSteps, RefuseWhatCannotBeSearched) {
  EXPECT_EQ(
      message_of<Error>([&] {
        search()->fit({.dev = judged({{"cat", {}}, {"car", {"d2=0"}}})});
      }),
      "no record of the development set names a relevant document, so no method can be chosen: give some in "
      "the field \"labels\", or set method");
  EXPECT_EQ(message_of<OptionError>([&] {
              search({{"k", std::int64_t{200}}});
            }),
            "depth = 100 is below k = 200: expected at least as many documents as an answer names");
  const auto step = search({{"method", "vectors"}});
  step->fit({.dev = queries_of_meaning()});
  const std::string known = step->knowledge();
  model_.width = 8;
  const auto with_other_model = search({{"method", "vectors"}});
  with_other_model->restore(known);
  EXPECT_EQ(message_of<Error>([&] { with_other_model->apply(asked({"cat"})); }),
            "the vector of the query has 8 values: expected 9; use the model with which the index was built");
  model_.problem = "it reads pairs";
  EXPECT_NE(message_of<OptionError>([&] { search(); }).find("gives no vectors: it reads pairs"),
            std::string::npos);
  testing::write_bytes(folder_ / "documents.tsv", "");
  EXPECT_NE(message_of<Error>([&] {
              keywords()->fit({.dev = judged({{"x", {}}})});
            }).find("has no documents"),
            std::string::npos);
}

TEST_F(SearchSteps, MeasureQueriesWithRelevantDocuments) {
  const auto step = keywords();
  const Records records =
      judged({{"cake", {"d4"}}, {"repair cake care", {"d1=2", "d9"}}, {"care", {}}, {"zebra", {"d1"}}});
  step->fit({.dev = records});
  Statistics statistics;
  step->measure(records, step->apply(records), statistics);
  EXPECT_EQ(statistics.examples(), 4U);
  std::map<std::string, double> values;
  for (const auto& [name, value] : measure_values(KeywordSearch::measures(), statistics))
    values[name] = value;
  // The second query finds d4, d2 and d1 with equal scores: the relevant one has rank 3.
  const double discount = 1.0 / std::log2(3.0);
  EXPECT_NEAR(values.at("ndcg10"), (1.0 + 2.0 * 0.5 / (2.0 + discount)) / 3.0, 1e-12);
  EXPECT_NEAR(values.at("mrr"), (1.0 + 1.0 / 3.0) / 3.0, 1e-12);
  EXPECT_NEAR(values.at("recall"), 1.5 / 3.0, 1e-12);
  EXPECT_NEAR(values.at("map"), (1.0 + 1.0 / 6.0) / 3.0, 1e-12);
}

}  // namespace
}  // namespace encore::search
