// SPDX-License-Identifier: BSD-3-Clause
// Tests the measures BLEU, chrF and ROUGE (plugins/tasks/ngrams/text_scores.hpp): they must equal the numbers
// of sacreBLEU and rouge-score in text_scores.json, which make_text_scores.py writes; words are split in the
// same way; the score of any choice of examples follows from the sums of that choice. Run the script instead
// of editing the file.
#include "ngrams/text_scores.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "base/measure_cells.hpp"
#include "base/measures.hpp"
#include "ngrams/ngram_counts.hpp"
#include "ngrams/word_splitting.hpp"
#include "support/places.hpp"

namespace encore::ngrams {
namespace {

using Json = nlohmann::json;
using Texts = std::vector<std::string>;

const Json& fixture() {
  static const Json json =
      Json::parse(std::ifstream(ENCORE_SOURCE_DIR "/tests/unit/plugins/text_scores.json"));
  return json;
}

Statistics statistics_of(const Texts& written, const Texts& references) {
  Statistics statistics;
  for (std::size_t i = 0; i < written.size(); ++i) {
    statistics.begin_example();
    add_translation(written[i], references[i], statistics);
    add_summary(written[i], references[i], statistics);
  }
  return statistics;
}

std::map<std::string, double> values_of(const Statistics& statistics) {
  std::map<std::string, double> values;
  for (const auto& measures : {translation_measures(), summary_measures()})
    values.merge([&] {
      const auto pairs = measure_values(measures, statistics);
      return std::map<std::string, double>(pairs.begin(), pairs.end());
    }());
  return values;
}

TEST(TextScores, AreThoseOfSacrebleuAndRougeScore) {
  ASSERT_GT(fixture().at("corpora").size(), 100U);
  int between = 0;
  for (const Json& corpus : fixture().at("corpora")) {
    const Texts written = corpus.at("written"), references = corpus.at("references");
    const auto values = values_of(statistics_of(written, references));
    EXPECT_NEAR(values.at("bleu"), corpus.at("bleu").get<double>(), 1e-14) << corpus;
    EXPECT_NEAR(values.at("chrf"), corpus.at("chrf").get<double>(), 1e-14) << corpus;
    double sums[3] = {0.0, 0.0, 0.0};
    for (const Json& text : corpus.at("rouge"))
      for (std::size_t k = 0; k < 3; ++k) sums[k] += text.at(k).get<double>();
    const auto texts = static_cast<double>(written.size());
    EXPECT_NEAR(values.at("rouge_1"), sums[0] / texts, 1e-14) << corpus;
    EXPECT_NEAR(values.at("rouge_2"), sums[1] / texts, 1e-14) << corpus;
    EXPECT_NEAR(values.at("rouge_l"), sums[2] / texts, 1e-14) << corpus;
    between += values.at("bleu") > 0.0 && values.at("bleu") < 1.0 ? 1 : 0;
  }
  EXPECT_GT(between, 80) << "too few cases are partly right";
}

/// The help of each measure shows the signature that sacreBLEU gives for the numbers above.
TEST(TextScores, NameTheSignaturesOfSacrebleu) {
  for (const Measure& measure : translation_measures()) {
    const std::string signature = fixture().at(measure.name);
    std::string parts = signature.substr(0, signature.find("|version:"));
    for (std::size_t at = parts.find('|'); at != std::string::npos; at = parts.find('|'))
      parts.replace(at, 1, ", ");
    std::string help = measure.help;
    if (const std::string option = " (or task.bleu_tokenizer)"; help.find(option) != std::string::npos)
      help.erase(help.find(option), option.size());
    EXPECT_TRUE(help.ends_with(": " + parts)) << measure.help << "\n" << signature;
  }
}

TEST(TextScores, OfSomeExamplesAreThoseOfASetOfThem) {
  const Texts written = {"a b c d e", "the cat sat", "x"},
              references = {"a b c d f", "the cat sat on it", "y"};
  const Statistics all = statistics_of(written, references);
  for (const Measure& measure : translation_measures()) {
    MeasureCells cells(measure);
    const ExampleSums sums = cells.sums_of(all);
    std::vector<double> total(cells.size(), 0.0);
    for (const std::size_t example : {0U, 1U, 1U})
      for (const ExampleSums::Entry& entry : sums.of(example)) total[entry.cell] += entry.value;
    const Statistics chosen =
        statistics_of({written[0], written[1], written[1]}, {references[0], references[1], references[1]});
    EXPECT_DOUBLE_EQ(cells.value(total), measure_value(measure, chosen));
    EXPECT_NE(measure_value(measure, chosen), measure_value(measure, all));
  }
}

TEST(TextScores, AreLeftOutIfNoTextWasGenerated) {
  Statistics statistics;
  statistics.begin_example();
  statistics.add("loss", 1.0);
  EXPECT_TRUE(values_of(statistics).empty());
}

TEST(Splitting, IsThatOf13a) {
  EXPECT_EQ(split_13a("It's 1,234.5 (or so), e.g. 10-20% - \"ok\"."),
            (Texts{"It's", "1,234.5", "(", "or", "so", ")", ",",  "e",  ".",  "g",
                   ".",    "10",      "-", "20", "%",  "-", "\"", "ok", "\"", "."}));
  EXPECT_EQ(split_13a("a &quot;b&quot; &amp;lt; <skipped>c"), (Texts{"a", "\"", "b", "\"", "<", "c"}));
  EXPECT_EQ(split_13a("ten-\nyear\nold\xC2\xA0one\xE3\x80\x80two "), (Texts{"tenyear", "old", "one", "two"}));
  EXPECT_EQ(split_13a("été. Straße,"), (Texts{"été", ".", "Straße", ","}));
  EXPECT_EQ(split_13a(" \t\n"), Texts{});
  EXPECT_EQ(split_13a("\xFFx \xC3"), (Texts{"\xFFx", "\xC3"})) << "bytes that are not UTF-8";
}

const Json& tokenizers() {
  static const Json json =
      Json::parse(std::ifstream(ENCORE_SOURCE_DIR "/tests/unit/plugins/bleu_tokenizers.json"));
  return json;
}

TEST(Splitting, IsThatOfTheTokenizersOfSacrebleu) {
  for (const Json& one : tokenizers().at("texts"))
    for (const char* name : {"13a", "intl", "char", "zh"})
      EXPECT_EQ(split(one.at("text").get<std::string>(), bleu_tokenizer(name)), one.at(name).get<Texts>())
          << name << " of " << one.at("text");
}

TEST(TextScores, AreThoseOfSacrebleuByEachTokenizer) {
  std::map<std::string, int> between;
  for (const Json& corpus : tokenizers().at("corpora"))
    for (const char* name : {"13a", "intl", "char", "zh"}) {
      const Texts written = corpus.at("written"), references = corpus.at("references");
      Statistics statistics;
      for (std::size_t i = 0; i < written.size(); ++i) {
        statistics.begin_example();
        add_translation(written[i], references[i], statistics, bleu_tokenizer(name));
      }
      const double bleu = measure_value(translation_measures().front(), statistics);
      EXPECT_NEAR(bleu, corpus.at(name).get<double>(), 1e-14) << name << " of " << corpus;
      between[name] += bleu > 0.0 && bleu < 1.0 ? 1 : 0;
    }
  for (const auto& [name, count] : between) EXPECT_GT(count, 25) << name;
}

TEST(Splitting, OfRougeKnowsOtherScripts) {
  const auto words = [](std::string_view text, const char* name) {
    return split(text, rouge_tokenizer(name));
  };
  EXPECT_EQ(words("The CAT's naïve!", "ascii"), split_rouge("The CAT's naïve!"));
  EXPECT_EQ(words("The CAT's 2nd_life!", "unicode"), split_rouge("The CAT's 2nd_life!")) << "Latin as before";
  EXPECT_EQ(words("Привет, МИР! naïve", "unicode"), (Texts{"привет", "мир", "naïve"}));
  EXPECT_EQ(words("हिन्दी में।", "unicode"), (Texts{"हिन्दी", "में"})) << "marks belong to their letters";
  EXPECT_EQ(words("日本語。１２ A\xFF", "char"), (Texts{"日", "本", "語", "１", "２", "a"}));
  EXPECT_EQ(words("e\xCC\x81t", "char"), (Texts{"e\xCC\x81", "t"}));
}

TEST(Splitting, OfRougeIsThatOfRougeScore) {
  EXPECT_EQ(split_rouge("The CAT's 2nd_life: naïve!"), (Texts{"the", "cat", "s", "2nd", "life", "na", "ve"}));
  EXPECT_EQ(split_rouge("İx \xE2\x84\xAAm"), (Texts{"i", "x", "km"})) << "a dotted I, a Kelvin sign";
  EXPECT_EQ(split_rouge("日本"), Texts{});
}

TEST(Splitting, OfCharactersLeavesWhiteSpaceOut) {
  EXPECT_EQ(characters("é\xC2\xA0 日x\n"), (std::vector<std::string_view>{"é", "日", "x"}));
  EXPECT_EQ(characters("\xC3(").size(), 2U);
}

TEST(NgramCounts, CountEachOnceForEach) {
  const Units a = Units::of_words(Texts{"x", "y", "x", "y"}), b = Units::of_words(Texts{"x", "y", "z"}),
              joined = Units::of_words(Texts{"xy", "x", "y"});
  EXPECT_EQ(common_ngrams(a, b, 1), 2U);
  EXPECT_EQ(common_ngrams(a, b, 2), 1U);
  EXPECT_EQ(common_ngrams(a, a, 2), 3U);
  EXPECT_EQ(common_ngrams(a, b, 4), 0U);
  EXPECT_EQ(common_ngrams(joined, a, 2), 1U) << "words stay apart";
  EXPECT_EQ(longest_common_subsequence(Texts{"a", "b", "c", "d"}, Texts{"b", "x", "d", "a"}), 2U);
  EXPECT_EQ(longest_common_subsequence(Texts{}, Texts{"b"}), 0U);
}

}  // namespace
}  // namespace encore::ngrams
