// SPDX-License-Identifier: BSD-3-Clause
// Tests the tasks "translate" and "summarize" (plugins/tasks/text_to_text.hpp, which both share): the rows
// that encoder and decoder read, what is cut and counted, how predicted tokens and generated outputs are
// scored, answers, and what is refused. The rows decide the bits of runs and must stay; the words of messages
// may change.
#include "text_to_text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include <encore/error.hpp>
#include <encore/testing.hpp>

#include "base/measures.hpp"
#include "data/encode.hpp"
#include "summarize/summarize.hpp"
#include "text_column.hpp"
#include "translate/translate.hpp"
#include "unit/record/temporary_folder.hpp"
#include "wordpiece.hpp"

namespace encore {
namespace {

using summarize::Summarize;
using testing::message_of;
using translate::Translate;
using Values = std::vector<std::int32_t>;
using Texts = Records::Texts;

const Options defaults = default_options<Translate>();

wordpiece::WordPiece make_tokenizer() {
  wordpiece::WordPiece tokenizer(options_with<wordpiece::WordPiece>("vocab", std::string("none")), {});
  tokenizer.load({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "##b", "c", "d"});
  return tokenizer;
}

Records records_of(Texts sources, Texts targets) {
  Records records;
  records.add("source", std::move(sources));
  records.add("target", std::move(targets));
  return records;
}

ExampleSet encode(const Task& task, const Records& records, std::int64_t max_length = 16) {
  return data::encode_records(task, records, make_tokenizer(), max_length);
}
Values values(std::span<const std::int32_t> all) {
  return {all.begin(), all.end()};
}
Values column(const ExampleSet& set, const char* name, std::size_t sequence) {
  return values(set.integers(set.column(name), sequence));
}

GeneratedText written(std::string text, double score = -1.0) {
  return {.tokens = {}, .text = std::move(text), .score = score, .ended = true};
}

/// Returns outputs in which every token except the first of each target is right, with a loss of 1/2 for
/// each.
Outputs outputs_of(const Task& task, const ExampleSet& set) {
  Outputs outputs(set, task.outputs());
  outputs.all()[0].integers = values(set.columns()[set.column(targets_column)].integers);
  for (std::size_t i = 0; i < set.size(); ++i)
    outputs.all()[0].integers[set.rows(Space::target, i).first] = 0;
  outputs.all()[1].numbers.assign(outputs.all()[1].numbers.size(), 0.5F);
  return outputs;
}

std::map<std::string, double> values_of(const std::vector<Measure>& measures, const Task& task,
                                        const ExampleSet& set, const Outputs& outputs) {
  Statistics statistics;
  task.measure(set, outputs, statistics);
  EXPECT_EQ(statistics.examples(), set.size());
  const auto all = measure_values(measures, statistics);
  return {all.begin(), all.end()};
}

TEST(TextToText, TheDecoderReadsTheTargetOneTokenLate) {
  const ExampleSet set = encode(Translate(defaults, {16}), records_of({"ab c"}, {"d ab d"}));
  EXPECT_EQ(values(set.ids(0)), (Values{4, 5, 6, 3}));
  EXPECT_EQ(values(set.target_ids(0)), (Values{2, 7, 4, 5, 7}));
  EXPECT_EQ(column(set, targets_column, 0), (Values{7, 4, 5, 7, 3}));
  EXPECT_EQ(tasks::texts_in(set.integers(set.column("references"), 0)), Texts{"d ab d"});
}

Options markers_of_bart() {
  Options options = defaults;
  options.set("source_start", true);
  options.set("target_start", std::string("end"));
  options.set("target_begins", true);
  return options;
}

TEST(TextToText, BothSidesMayBeginWithMarkers) {
  const Translate task(markers_of_bart(), {5});
  const ExampleSet set = encode(task, records_of({"ab c", "a c d a"}, {"d ab", "c d c d"}), 5);
  EXPECT_EQ(values(set.ids(0)), (Values{2, 4, 5, 6, 3}));
  EXPECT_EQ(values(set.target_ids(0)), (Values{3, 2, 7, 4, 5}));
  EXPECT_EQ(column(set, targets_column, 0), (Values{2, 7, 4, 5, 3}));
  EXPECT_EQ(values(set.ids(1)), (Values{2, 4, 6, 7, 3})) << "one token is cut";
  EXPECT_EQ(values(set.target_ids(1)), (Values{3, 2, 6, 7, 6}));
  const auto counts = task.describe(set).counts;
  EXPECT_EQ(counts.at(0).second, 6) << "of sources, without markers";
  EXPECT_EQ(counts.at(1).second, 6) << "of targets";
  EXPECT_EQ(task.decoding()->given, 2);
  EXPECT_EQ(Translate(defaults, {5}).decoding()->given, 1);
  const ExampleSet typed = encode(task, task.from_text(Texts{"a"}), 5);
  EXPECT_EQ(values(typed.target_ids(0)), (Values{3, 2})) << "what every target begins with";
  EXPECT_EQ(message_of<Error>([] { Translate(markers_of_bart(), {2}); }),
            "must be false where data.max_length is 2: two markers leave no room for a token");
}

TEST(TextToText, CutsEachSideAtItsEndAndCountsIt) {
  const Translate task(defaults, {4});
  const ExampleSet set = encode(task, records_of({"a c d a c", "a"}, {"c d c d", "c"}), 4);
  EXPECT_EQ(values(set.ids(0)), (Values{4, 6, 7, 3}));
  EXPECT_EQ(values(set.target_ids(0)), (Values{2, 6, 7, 6}));
  EXPECT_EQ(column(set, targets_column, 0), (Values{6, 7, 6, 3})) << "a text that was cut ends too";
  EXPECT_EQ(tasks::texts_in(set.integers(set.column("references"), 0)), Texts{"c d c d"}) << "scored whole";
  const SetDescription description = task.describe(set);
  EXPECT_EQ(description.counts, (std::vector<std::pair<std::string, std::int64_t>>{{"source pieces", 4},
                                                                                   {"target pieces", 4},
                                                                                   {"cut sources", 1},
                                                                                   {"cut targets", 1},
                                                                                   {"cut pieces", 3}}));
  EXPECT_EQ(
      description.notes,
      Texts{"1 source and 1 target of 2 pairs are longer than max_length = 4: 3 tokens are cut at the end"});
  EXPECT_EQ(task.left_out(set, 0), "its translation does not depend on its last 2 tokens");
  EXPECT_EQ(task.left_out(set, 1), "");
  EXPECT_TRUE(task.describe(encode(task, records_of({"a"}, {"c"}), 4)).notes.empty());
}

TEST(TextToText, ReadsASourceWithoutATarget) {
  const Translate task(defaults, {16});
  const Records records = task.from_text(Texts{"a c", ""});
  const ExampleSet set = encode(task, records);
  EXPECT_EQ(values(set.ids(0)), (Values{4, 6, 3}));
  EXPECT_EQ(values(set.ids(1)), Values{3}) << "an empty line has its end";
  for (const std::size_t i : {0U, 1U}) EXPECT_EQ(values(set.target_ids(i)), Values{2});
  EXPECT_FALSE(set.has_column(targets_column));
  EXPECT_EQ(task.describe(set).counts.at(1).second, 0);
}

TEST(TextToText, ScoresTokensAfterTheTrueOnes) {
  const Translate task(defaults, {16});
  const ExampleSet set = encode(task, records_of({"a", "c"}, {"d d", "a c d"}));
  const auto values = values_of(Translate::measures(), task, set, outputs_of(task, set));
  EXPECT_EQ(values.size(), 2U) << "no text was written";
  EXPECT_DOUBLE_EQ(values.at("accuracy"), 5.0 / 7.0);
  EXPECT_DOUBLE_EQ(values.at("perplexity"), std::exp(0.5));
}

TEST(TextToText, ScoresTheBestGeneratedOutput) {
  const Translate task(defaults, {16});
  const ExampleSet set = encode(task, records_of({"a", "c"}, {"one two three four", "five six seven eight"}));
  Outputs outputs = outputs_of(task, set);
  outputs.set_texts(
      {{written(" one two three four"), written("nothing")}, {written("five six seven eight")}});
  const auto perfect = values_of(Translate::measures(), task, set, outputs);
  EXPECT_DOUBLE_EQ(perfect.at("bleu"), 1.0);
  EXPECT_DOUBLE_EQ(perfect.at("chrf"), 1.0);
  outputs.set_texts({{written("nothing"), written("one two three four")}, {}});
  const auto poor = values_of(Translate::measures(), task, set, outputs);
  EXPECT_EQ(poor.at("bleu"), 0.0);
  EXPECT_LT(poor.at("chrf"), 0.2);
}

TEST(TextToText, ScoresSummariesByTheirWords) {
  const Summarize task(default_options<Summarize>(), {16});
  const ExampleSet set = encode(task, records_of({"a", "c"}, {"one two three", "four five"}));
  Outputs outputs = outputs_of(task, set);
  outputs.set_texts({{written("Two three!")}, {written("four five")}});
  const auto values = values_of(Summarize::measures(), task, set, outputs);
  EXPECT_DOUBLE_EQ(values.at("rouge_1"), (0.8 + 1.0) / 2);
  EXPECT_DOUBLE_EQ(values.at("rouge_2"), (2.0 / 3 + 1.0) / 2);
  EXPECT_DOUBLE_EQ(values.at("rouge_l"), (0.8 + 1.0) / 2);
  EXPECT_EQ(values.size(), 5U);
}

TEST(TextToText, LabelsRecordsWithTheGeneratedOutput) {
  const Translate task(defaults, {16});
  const Records records = records_of({"a", "c"}, {"d", "d"});
  const ExampleSet set = encode(task, records);
  Outputs outputs = outputs_of(task, set);
  EXPECT_EQ(task.label(records, set, outputs).texts("target"), (Texts{"", ""}));
  outputs.set_texts({{written(" x y\n")}, {}});
  EXPECT_EQ(task.label(records, set, outputs).texts("target"), (Texts{"x y", ""}));
}

TEST(TextToText, AnswersATypedText) {
  const Translate task(defaults, {16});
  const Records records = task.from_text(Texts{"a c", "d"});
  const ExampleSet set = encode(task, records);
  Outputs outputs(set, task.outputs());
  EXPECT_EQ(message_of<Error>([&] { task.answer(records, set, outputs); }),
            "the model was trained with task.decode = false, so it cannot generate text: train it with "
            "decode = true");
  outputs.set_texts({{written(" x\ny", -0.5)}, {written("z", -0.25)}});
  const Records one = task.answer(records, set, outputs);
  EXPECT_EQ(one.texts("text"), (Texts{"a c", "d"}));
  EXPECT_EQ(one.texts("translation"), (Texts{"x\ny", "z"}));
  EXPECT_EQ(one.texts("shown"), (Texts{"x y", "z"})) << "one line each";
  EXPECT_EQ(one.numbers("score"), (Records::Numbers{-0.5, -0.25}));
  EXPECT_FALSE(one.has("translations"));
  outputs.set_texts({{written("x", -0.5), written("y", -0.75)}, {written("z", -0.25)}});
  const Records several = task.answer(records, set, outputs);
  EXPECT_EQ(several.lists("translations"), (Records::TextLists{{"x", "y"}, {"z"}}));
  EXPECT_EQ(several.vectors("scores"), (Records::NumberLists{{-0.5, -0.75}, {-0.25}}));
}

TEST(TextToText, DeclaresHowOutputIsGenerated) {
  EXPECT_EQ(Translate(defaults, {16}).decoding(), (Decoding{.beyond_source = 50}));
  Options options = defaults;
  options.set("beam", std::int64_t{5});
  options.set("length_penalty", 0.6);
  options.set("max_pieces", std::int64_t{40});
  options.set("beyond_source", std::int64_t{-1});
  EXPECT_EQ(Translate(options, {16}).decoding(),
            (Decoding{.beam = 5, .length_penalty = 0.6, .max_tokens = 40, .beyond_source = -1}));
  EXPECT_EQ(Translate(options_with<Translate>("decode", false), {16}).decoding(), std::nullopt);
}

TEST(TextToText, CountsTheWordsOfBothSides) {
  EXPECT_EQ(Translate(defaults, {16}).text_counts(records_of({"a  c", "a"}, {"d a", "e"})),
            (TextCounts{{"a", 3}, {"c", 1}, {"d", 1}, {"e", 1}}));
}

TEST(TextToText, RefusesWhatItCannotLearnFrom) {
  Translate task(defaults, {16});
  EXPECT_EQ(message_of<Error>([&] { task.prepare(records_of({}, {})); }),
            "the training set has no pairs to learn from");
  EXPECT_EQ(message_of<Error>([&] { task.restore("summarize\n"); }),
            "the run has labels of another task; translate has no labels");
  task.restore(task.knowledge());
}

}  // namespace
}  // namespace encore
