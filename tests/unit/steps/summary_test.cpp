// SPDX-License-Identifier: BSD-3-Clause
// Tests the steps of summaries (plugins/steps/summary): the parts of a text, sentences with their places, a
// model that writes summaries in rounds, knowledge that is stored and read back, measures, and refusals. The
// models are made for the test: the vector of a text counts its letters, and a summary is the first words.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/measures.hpp"
#include "summary/abstractive_summary.hpp"
#include "summary/extractive_summary.hpp"
#include "summary/split.hpp"
#include "unit/steps/samples.hpp"

namespace encore::summary {
namespace {

using Names = std::vector<std::string>;
using Lists = Records::TextLists;
using Settings = std::map<std::string, OptionValue>;

class LetterModel final : public StepModel {
 public:
  const TaskFields& fields() const override { return fields_; }
  std::vector<std::string> labels() const override { return {}; }
  std::string no_scores() const override { return "it has none"; }
  std::string no_vectors() const override { return problem; }
  Records answer(const Records& questions) override {
    Records::Texts targets;
    largest = std::max(largest, questions.size());
    for (const std::string& source : questions.texts("source")) {
      std::size_t end = 0;
      for (std::size_t word = 0; word < kept && end < source.size(); ++word)
        end = std::min(source.find(' ', end + 1), source.size());
      targets.push_back(" " + source.substr(0, end));
    }
    Records given;
    given.add(written, std::move(targets));
    return given;
  }
  Records::NumberLists vectors(const Records::Texts& texts) override {
    largest = std::max(largest, texts.size());
    Records::NumberLists vectors;
    for (const std::string& text : texts) {
      std::vector<double>& counts = vectors.emplace_back(8);
      for (const char letter : text) counts[static_cast<unsigned char>(letter) % 8] += 1.0;
    }
    return vectors;
  }

  TaskFields fields_ = {.structure = {"source"}, .truth = {"target"}};
  std::string problem, written = "summary";
  std::size_t largest = 0, kept = 2;
};

/// A text, its parts and its true summaries.
struct Sample {
  std::string text;
  Names parts, references;
};

Records records_of(const std::vector<Sample>& samples) {
  Records::Texts texts;
  Lists parts;
  Records::SpanLists references;
  for (const Sample& sample : samples) {
    texts.push_back(sample.text);
    parts.push_back(sample.parts);
    references.emplace_back();
    for (const std::string& reference : sample.references)
      references.back().push_back({.label = {}, .text = reference});
  }
  Records records;
  records.add("text", texts);
  records.add("parts.texts", parts);
  records.add("answers", references);
  return records;
}

class SummaryTest : public ::testing::Test {
 protected:
  template <class Step>
  Step step(const Settings& settings) {
    return {test::step_options<Step>(settings), {.name = "summary", .before = "parts", .model = &model_}};
  }
  LetterModel model_;
};

TEST_F(SummaryTest, BeginsWithPartsOfTheText) {
  Records records;
  records.add("text", Records::Texts{"One. Two.\nthree", "", "Ä b"});
  const auto parts = [&](const Settings& settings) {
    return Split(test::step_options<Split>(settings), {.name = "parts"}).apply(records).lists("texts");
  };
  EXPECT_EQ(parts({}), (Lists{{"One.", "Two.", "three"}, {}, {"Ä b"}}));
  EXPECT_EQ(parts({{"line_ends", false}}), (Lists{{"One.", "Two.\nthree"}, {}, {"Ä b"}}));
  EXPECT_EQ(parts({{"unit", std::string("line")}}), (Lists{{"One. Two.", "three"}, {}, {"Ä b"}}));
  EXPECT_EQ(test::refusal([&] {
              parts({{"unit", std::string("line")}, {"line_ends", false}});
            }),
            "line_ends = false is for sentences, but unit = \"line\" makes each line a part: remove one of "
            "the two");
}

TEST_F(SummaryTest, NamesTheSentencesWithTheirPlaces) {
  BaselineSummary lead = step<BaselineSummary>({{"sentences", std::int64_t{2}}});
  EXPECT_FALSE(lead.is_fitted());
  EXPECT_EQ(lead.fields().reads, (Names{"text", "parts.texts"}));
  EXPECT_EQ(lead.fields().gives, (Names{"text", "sentences", "scores"}));
  const Records given =
      lead.apply(records_of({{"Zürich. ich.  ich.\nEnde", {"Zürich.", "ich.", "ich.", "Ende"}, {}},
                             {"", {}, {}},
                             {"of a search", {"elsewhere", "search"}, {}}}));
  EXPECT_EQ(given.texts("text"), (Names{"Zürich. ich.", "", "elsewhere search"}));
  EXPECT_EQ(given.texts("shown"), given.texts("text"));
  const auto span = [](const char* text, std::int64_t start, std::int64_t end) {
    return TextSpan{.label = {}, .text = text, .start = start, .end = end};
  };
  EXPECT_EQ(given.spans("sentences")[0], (std::vector<TextSpan>{span("Zürich.", 0, 7), span("ich.", 8, 12)}))
      << "in code points; \"ich.\" also stands in \"Zürich.\"";
  EXPECT_TRUE(given.spans("sentences")[1].empty());
  EXPECT_EQ(given.spans("sentences")[2],
            (std::vector<TextSpan>{span("elsewhere", 0, 0), span("search", 5, 11)}))
      << "a part that does not stand in the text has no place";
  EXPECT_EQ(given.vectors("scores"), (Records::NumberLists{{0.0, -1.0}, {}, {0.0, -1.0}}));

  const Records longest =
      step<BaselineSummary>({{"method", std::string("longest")}, {"sentences", std::int64_t{1}}})
          .apply(records_of({{"a. b c. d e.", {"a.", "b c.", "d e."}, {}}}));
  EXPECT_EQ(longest.spans("sentences")[0], (std::vector<TextSpan>{span("b c.", 3, 7)}));

  const Records repeated =
      step<BaselineSummary>({}).apply(records_of({{"a b. a b. b. c", {"a b.", "a b.", " ", "b.", "c"}, {}}}));
  EXPECT_EQ(repeated.spans("sentences")[0],
            (std::vector<TextSpan>{span("a b.", 0, 4), span("b.", 10, 12), span("c", 13, 14)}))
      << "a repeated sentence is taken once, and a blank part never";
}

TEST_F(SummaryTest, PicksByVectors) {
  const std::vector<Sample> samples = {{"aaaa bbb. aab. zz", {"aaaa bbb.", "aab.", "zz"}, {"aab"}}};
  const auto summary = [&](const Settings& settings) {
    Settings all = settings;
    all.emplace("sentences", std::int64_t{1});
    return step<ExtractiveSummary>(all).apply(records_of(samples)).texts("text")[0];
  };
  EXPECT_EQ(summary({{"method", std::string("lead")}}), "aaaa bbb.");
  EXPECT_EQ(model_.largest, 0U) << "the first sentences need no vectors";
  EXPECT_EQ(summary({{"method", std::string("centroid")}}), "aaaa bbb.");
  EXPECT_EQ(summary({{"method", std::string("mmr")}, {"position", 1.0}}), "aaaa bbb.");
  EXPECT_EQ(test::refusal([&] {
              step<ExtractiveSummary>({{"method", std::string("centroid")}, {"diversity", 0.3}});
            }),
            "diversity is for method = \"mmr\", but method is \"centroid\": remove one of the two");
}

/// Returns many documents; the second sentence is the summary.
std::vector<Sample> many(std::size_t count) {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < count; ++i) {
    Sample sample;
    for (std::size_t part = 0; part < 2 + i % 5; ++part) {
      std::string words;
      for (std::size_t word = 0; word <= (i * 31 + part * 17) % 6; ++word)
        words += std::string(word == 0 ? "" : " ") +
                 static_cast<char>('a' + (i * 13 + part * 7 + word) % 26) +
                 std::to_string((i * 37 + part * 5 + word) % 97);
      sample.parts.push_back(words + ".");
      sample.text += (part == 0 ? "" : " ") + sample.parts.back();
    }
    sample.references = {sample.parts[1]};
    samples.push_back(sample);
  }
  return samples;
}

TEST_F(SummaryTest, LearnsOnTheDevelopmentSetAndRemembers) {
  const Records dev = records_of(many(60));
  ExtractiveSummary fitted = step<ExtractiveSummary>({{"sentences", std::int64_t{1}}});
  EXPECT_TRUE(fitted.is_fitted());
  fitted.fit({.train = nullptr, .dev = dev});
  EXPECT_TRUE(fitted.knowledge().starts_with("{\"version\":1,\"method\":\"learned\",")) << fitted.knowledge();
  ASSERT_EQ(fitted.notes().size(), 2U);
  ExtractiveSummary again = step<ExtractiveSummary>({{"sentences", std::int64_t{1}}});
  again.restore(fitted.knowledge());
  EXPECT_EQ(again.knowledge(), fitted.knowledge());
  EXPECT_EQ(again.apply(dev).texts("text"), fitted.apply(dev).texts("text"));
  EXPECT_EQ(again.apply(dev).vectors("scores"), fitted.apply(dev).vectors("scores"));

  ExtractiveSummary learned = step<ExtractiveSummary>({{"method", std::string("learned")}});
  learned.fit({.train = nullptr, .dev = dev});
  EXPECT_EQ(learned.knowledge(), fitted.knowledge()) << "with the same weights";
  EXPECT_EQ(learned.notes(), Names{"the weights of the features are learned from 60 documents"});

  const std::string good = fitted.knowledge();
  for (std::string damaged :
       {std::string(), std::string("{}"), std::string("[]"), good + " ",
        good.substr(0, good.rfind(',')) + "]}",
        std::string("{\"version\":1,\"method\":\"best\",\"position\":0.0,\"diversity\":0.0,\"weights\":[]}"),
        std::string("{\"version\":2,\"method\":\"lead\",\"position\":0.0,\"diversity\":0.0,\"weights\":[]}"),
        std::string(
            "{\"version\":1,\"method\":\"mmr\",\"position\":\"0\",\"diversity\":0.0,\"weights\":[]}")})
    EXPECT_EQ(test::refusal([&] { step<ExtractiveSummary>({}).restore(damaged); }),
              "the stored method of a summary is damaged: remove the run and run the application again")
        << damaged;
  EXPECT_NE(
      test::refusal([&] {
        step<ExtractiveSummary>({{"method", std::string("learned")}})
            .restore("{\"version\":1,\"method\":\"lead\",\"position\":0.0,\"diversity\":0.0,\"weights\":[]}");
      }),
      "");
  EXPECT_NE(test::refusal([&] {
              step<ExtractiveSummary>({{"method", std::string("lead")}}).restore(good);
            }),
            "");
}

TEST_F(SummaryTest, NeedsTrueSummariesToChoose) {
  const Records without = records_of({{"One. Two.", {"One.", "Two."}, {}}, {"", {}, {"three"}}});
  EXPECT_EQ(
      test::refusal([&] { step<ExtractiveSummary>({}).fit({.train = nullptr, .dev = without}); }),
      "step \"summary\": no text of the development set has a true summary, so no method can be chosen or "
      "learned: give some in the field \"answers\" (data.answers_key), or set method");
}

TEST_F(SummaryTest, AnswersARecordByItself) {
  const std::vector<Sample> samples = many(700);
  ExtractiveSummary picks = step<ExtractiveSummary>(
      {{"method", std::string("mmr")}, {"diversity", 0.4}, {"position", 0.2}, {"words", std::int64_t{9}}});
  AbstractiveSummary writes = step<AbstractiveSummary>({{"segment_words", std::int64_t{5}}});
  const Records picked = picks.apply(records_of(samples)), written = writes.apply(records_of(samples));
  EXPECT_EQ(model_.largest, 1024U) << "the model is asked in parts";
  for (std::size_t i = 0; i < samples.size(); i += 23) {
    const Records one = picks.apply(records_of({samples[i]})), other = writes.apply(records_of({samples[i]}));
    EXPECT_EQ(one.texts("text")[0], picked.texts("text")[i]) << i;
    EXPECT_EQ(one.spans("sentences")[0], picked.spans("sentences")[i]) << i;
    EXPECT_EQ(one.vectors("scores")[0], picked.vectors("scores")[i]) << i;
    EXPECT_EQ(other.texts("text")[0], written.texts("text")[i]) << i;
    EXPECT_EQ(other.lists("parts")[0], written.lists("parts")[i]) << i;
    EXPECT_EQ(other.numbers("rounds")[0], written.numbers("rounds")[i]) << i;
  }
}

TEST_F(SummaryTest, WritesASummaryOfSummaries) {
  EXPECT_EQ(joined_segments({"a b", "c", " ", "d e f g", "h"}, 3), (Names{"a b c", "d e f g", "h"}));
  EXPECT_TRUE(joined_segments({}, 3).empty());
  AbstractiveSummary writes = step<AbstractiveSummary>({{"segment_words", std::int64_t{4}}});
  EXPECT_EQ(writes.fields().gives, (Names{"text", "parts", "rounds"}));
  const Records given = writes.apply(records_of({{"", {"one two", "three"}, {}},
                                                 {"", {"a b c", "d e f", "g h i", "j k l", "m n o"}, {}},
                                                 {"", {}, {}}}));
  EXPECT_EQ(given.texts("text"), (Names{"one two", "a b", ""}));
  EXPECT_EQ(given.lists("parts"), (Lists{{}, {"a b", "d e", "g h", "j k", "m n"}, {}}));
  EXPECT_EQ(given.numbers("rounds"), (Records::Numbers{1.0, 4.0, 0.0})) << "5 segments, then 3, 2 and 1";
  model_.kept = 4;  // summaries as long as their segments
  const Records long_ones = writes.apply(records_of({{"", {"a b c d", "e f g h"}, {}}}));
  EXPECT_EQ(long_ones.texts("text"), Names{"a b c d e f g h"});
  EXPECT_EQ(long_ones.numbers("rounds"), Records::Numbers{1.0});
}

TEST_F(SummaryTest, MeasuresAgainstTheBestOfSeveralSummaries) {
  BaselineSummary lead = step<BaselineSummary>({{"sentences", std::int64_t{1}}});
  const Records records = records_of(
      {{"", {"the cat sat"}, {"a dog", "the cat sat there"}}, {"", {"b c"}, {"x"}}, {"", {"d"}, {}}});
  Statistics statistics;
  lead.measure(records, lead.apply(records), statistics);
  EXPECT_EQ(statistics.examples(), 3U);
  std::map<std::string, double> values;
  for (const auto& [name, value] : measure_values(BaselineSummary::measures(), statistics))
    values[name] = value;
  // Precision 1 and recall 3/4 of the better reference; the second text has 0, the third one does not count.
  EXPECT_DOUBLE_EQ(values.at("rouge_1"), 6.0 / 7.0 / 2.0);
  EXPECT_DOUBLE_EQ(values.at("rouge_2"), 4.0 / 5.0 / 2.0);
  EXPECT_DOUBLE_EQ(values.at("rouge_l"), 6.0 / 7.0 / 2.0);
  EXPECT_DOUBLE_EQ(values.at("words"), 2.5);
}

TEST_F(SummaryTest, LeavesARatingToPeople) {
  BaselineSummary rated = step<BaselineSummary>({{"rated", true}, {"sentences", std::int64_t{1}}});
  EXPECT_EQ(rated.fields().gives, (Names{"text", "sentences", "scores", "item", "band"}));
  const Records given = rated.apply(records_of({{"One. Two.", {"One.", "Two."}, {}}}));
  EXPECT_EQ(given.texts("band"), Names{"review"});
  EXPECT_EQ(given.texts("item"), Names{"One. Two.\n\nSummary: One."});
  EXPECT_FALSE(step<BaselineSummary>({}).apply(records_of({{"One.", {"One."}, {}}})).has("band"));
}

TEST_F(SummaryTest, RefusesWhatItCannotUse) {
  model_.problem = "it has no head";
  EXPECT_EQ(
      test::refusal([&] { step<ExtractiveSummary>({}); }),
      "the model of step \"summary\" gives no vectors: it has no head; take a model that has them, or a "
      "step of the type baseline_summary");
  model_.written = "translation";
  EXPECT_EQ(test::refusal([&] {
              step<AbstractiveSummary>({}).apply(records_of({{"", {"a"}, {}}}));
            }),
            "the model of step \"summary\" writes no summary: expected a model of the task summarize, not of "
            "another task that writes text");
  model_.fields_ = {.structure = {"text"}, .truth = {"label"}};
  EXPECT_EQ(
      test::refusal([&] { step<AbstractiveSummary>({}); }),
      "the model of step \"summary\" does not write a target for a source: expected a model of the task "
      "summarize");
  EXPECT_NE(test::refusal([&] {
              BaselineSummary(test::step_options<BaselineSummary>(), {.name = "summary"});
            }).find("no step stands before \"summary\""),
            std::string::npos);
}

}  // namespace
}  // namespace encore::summary
