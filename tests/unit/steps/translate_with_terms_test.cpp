// SPDX-License-Identifier: BSD-3-Clause
// Tests the step `translate_with_terms` (plugins/steps/translate_with_terms): what it protects in a text and
// where it puts it, the terms of a glossary, the translation memory, the estimate of quality, and refusals.
// The model is made for the test: it translates word by word, and can be made to leave out or to invent
// words.
#include "translate_with_terms/translate_with_terms.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "base/measures.hpp"
#include "translate_with_terms/placing.hpp"
#include "translate_with_terms/quality.hpp"
#include "unit/record/temporary_folder.hpp"
#include "unit/steps/samples.hpp"

namespace encore::translate_with_terms {
namespace {

using Names = std::vector<std::string>;

Names spans_of(const std::string& text) {
  Names spans;
  for (const Span& span : spans_in(text)) spans.emplace_back(span.in(text));
  return spans;
}

TEST(ProtectedSpans, AreTagsPlaceholdersAddressesAndNumbers) {
  EXPECT_EQ(spans_of("<b>A</b> dog<br/> <a href=\"x y\">here</a>"),
            (Names{"<b>", "</b>", "<br/>", "<a href=\"x y\">", "</a>"}));
  EXPECT_EQ(spans_of("{name} has {{count}} in ${place} or %(x)s, %s, %1$d and %.2f &amp; #{y}"),
            (Names{"{name}", "{{count}}", "${place}", "%(x)s", "%s", "%1$d", "%.2f", "&amp;", "#{y}"}));
  EXPECT_EQ(spans_of("see https://example.org/a?b=1, www.example.org. Or me.you@example.org!"),
            (Names{"https://example.org/a?b=1", "www.example.org", "me.you@example.org"}));
  EXPECT_EQ(spans_of("12 of 3.5 on 2020-03-04 at 10:30, $5 or 7 € and 50% #9"),
            (Names{"12", "3.5", "2020-03-04", "10:30", "$5", "7", "50%", "#9"}));
}

TEST(ProtectedSpans, AreNotFoundInOtherText) {
  for (const char* text : {"a < b and c > d", "the 3rd mp3 of B2B", "100 percent {", "{}", "a@b",
                           "50 % of it", "<3 hearts", "it's %", "x{\n}", "AT&T", ""})
    for (const std::string& span : spans_of(text))
      EXPECT_TRUE(span == "100" || span == "50" || span == "3") << text << ": " << span;
}

TEST(ProtectedSpans, AreRemovedWithOneOfTwoBlanks) {
  const auto stripped = [](const std::string& text) { return without_spans(text, spans_in(text)).text; };
  EXPECT_EQ(stripped("the {x} dog <b>runs</b> on page 3."), "the dog runs on page.");
  EXPECT_EQ(stripped("{x} is 4"), "is");
  EXPECT_EQ(stripped("<b>{x}</b>"), "");
  const std::string text = "a 1 b 2";
  EXPECT_EQ(without_spans(text, spans_in(text)).places, (std::vector<std::size_t>{2, 3}));
}

/// Aligns word i of the source with word order[i] of the translation.
TextAlignment aligned(const std::string& source, const std::string& target,
                      const std::vector<std::size_t>& order) {
  TextAlignment alignment{.source = words_in(source), .target = words_in(target)};
  alignment.weights.assign(alignment.source.size() * alignment.target.size(), 0.0);
  for (std::size_t i = 0; i < order.size(); ++i)
    alignment.weights[order[i] * alignment.source.size() + i] = 1.0;
  return alignment;
}

std::string placed(const std::string& source, const std::string& target,
                   const std::vector<std::size_t>& order) {
  const std::vector<Span> spans = spans_in(source);
  const Stripped stripped = without_spans(source, spans);
  return with_spans(source, spans, stripped, target, aligned(stripped.text, target, order));
}

TEST(Placing, TagsStandAroundTheWordsThatBelongTogether) {
  EXPECT_EQ(placed("a <b>black dog</b> runs", "es läuft ein schwarzer Hund", {2, 3, 4, 1}),
            "es läuft ein <b>schwarzer Hund</b>");
  EXPECT_EQ(placed("<b>one</b> <i>two</i>", "zwei eins", {1, 0}), "<i>zwei</i> <b>eins</b>");
  EXPECT_EQ(placed("<b>a <i>big</i> dog</b>, yes", "ja, ein großer Hund", {2, 3, 4, 1, 0}),
            "ja, <b>ein <i>großer</i> Hund</b>");
  EXPECT_EQ(placed("the end.<br/>", "das Ende.", {0, 1, 2}), "das Ende.<br/>");
}

TEST(Placing, ValuesStandBesideTheirNeighbours) {
  EXPECT_EQ(placed("{name} runs", "läuft", {0}), "{name} läuft");
  EXPECT_EQ(placed("I see 3 dogs today", "heute sehe ich Hunde", {2, 1, 3, 0}), "heute sehe ich 3 Hunde");
  EXPECT_EQ(placed("on page 7.", "auf Seite.", {0, 1, 2}), "auf Seite 7.");
  EXPECT_EQ(placed("see <b>%s</b> now", "jetzt sehen", {1, 0}), "<b>%s</b> jetzt sehen");
}

TEST(Placing, KnownPairsBelongToEachOtherAlone) {
  const std::string source = "open the <b>folder</b>", target = "den Ordner öffnen";
  const std::vector<Span> spans = spans_in(source);
  const Stripped stripped = without_spans(source, spans);
  TextAlignment alignment =
      aligned(stripped.text, target, {2, 1, 0});  // the model mistakes the article for the noun
  EXPECT_EQ(with_spans(source, spans, stripped, target, alignment), "<b>den</b> Ordner öffnen");
  align_known(alignment, {{.source = {.begin = 9, .end = 15}, .target = {.begin = 4, .end = 10}}});
  EXPECT_EQ(with_spans(source, spans, stripped, target, alignment), "den <b>Ordner</b> öffnen");
}

TEST(Placing, WhateverTheAlignmentEverySpanStandsOnceAndTagsAreNested) {
  const std::vector<std::string> parts = {"<b>", "</b>", "<i>", "</i>", "<br/>", "{x}",
                                          "%s",  "42",   "dog", "cat",  "house", ","};
  test::Draws draws(11);
  for (int trial = 0; trial < 2000; ++trial) {
    std::string source, target;
    Names open;
    for (int i = 0; i < 10; ++i) {
      std::string part = parts[draws.next() % parts.size()];
      if (part.starts_with("</")) {
        if (open.empty()) continue;
        part = "</" + open.back().substr(1);
        open.pop_back();
      } else if (part == "<b>" || part == "<i>") {
        open.push_back(part);
      }
      // Values are spans of their own only apart from words.
      const bool joins = part.front() != '<' && part != "," && !source.empty() && source.back() != '>';
      source += (joins || draws.next() % 2 == 0 ? " " : "") + part;
    }
    while (!open.empty()) {
      source += "</" + open.back().substr(1);
      open.pop_back();
    }
    for (std::size_t i = 0; i < draws.next() % 6; ++i)
      target += (i == 0 ? "" : " ") + std::string(i % 3 == 2 ? "." : "Wort");
    const std::vector<Span> spans = spans_in(source);
    const Stripped stripped = without_spans(source, spans);
    TextAlignment alignment{.source = words_in(stripped.text), .target = words_in(target)};
    for (std::size_t i = 0; i < alignment.source.size() * alignment.target.size(); ++i)
      alignment.weights.push_back(draws.uniform());
    const std::string result = with_spans(source, spans, stripped, target, alignment);
    std::map<std::string, int> counts;
    for (const Span& span : spans) ++counts[std::string(span.in(source))];
    Names stack;
    std::string rest = result;
    for (const Span& span : spans_in(result)) {
      const std::string text(span.in(result));
      --counts[text];
      if (span.kind == SpanKind::opening) stack.push_back(text);
      if (span.kind != SpanKind::closing) continue;
      ASSERT_FALSE(stack.empty()) << source << "\n" << result;
      EXPECT_EQ("</" + stack.back().substr(1), text) << source << "\n" << result;
      stack.pop_back();
    }
    for (const auto& [span, count] : counts) EXPECT_EQ(count, 0) << span << "\n" << source << "\n" << result;
    EXPECT_EQ(without_spans(result, spans_in(result)).text.find("Wort") != std::string::npos,
              target.find("Wort") != std::string::npos);
  }
}

TEST(SentenceChrf, IsThatOfSacreBleu) {
  // sacrebleu.sentence_chrf of sacreBLEU 2.6.0
  EXPECT_NEAR(sentence_chrf("Ein Hund läuft .", "Ein Hund rennt ."), 0.452253, 1e-6);
  EXPECT_NEAR(sentence_chrf("Ein schneller Hund", "Ein Hund rennt ."), 0.247525, 1e-6);
  EXPECT_EQ(sentence_chrf("ein Hund", "einHund"), 1.0);
  EXPECT_EQ(sentence_chrf("", "Hund"), 0.0);
}

// --- the step ---

/// Translates word by word. A word that it does not know is "Ding"; that makes it less sure. Required
/// sentences are written at the end. Values of `drops` are left out.
class WordModel final : public StepModel, public GeneratesText {
 public:
  const TaskFields& fields() const override { return fields_; }
  std::vector<std::string> labels() const override { return {}; }
  std::string no_scores() const override { return "it translates"; }
  std::string no_vectors() const override { return "it translates"; }
  Records answer(const Records&) override { return {}; }
  Records::NumberLists vectors(const Records::Texts&) override { return {}; }
  std::string no_writing() const override { return problem; }
  std::vector<std::vector<WrittenText>> write(const Records& questions,
                                              const std::vector<WriteRequest>& requests) override {
    std::vector<std::vector<WrittenText>> all;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const std::string& source = questions.texts("source")[i];
      read.push_back(source);
      std::string text;
      double unsure = 0.0;
      std::int64_t tokens = 1;
      std::istringstream parts(source);
      for (std::string part; parts >> part;) {
        const auto known = words.find(part);
        const bool copies = part.find_first_of("{}0123456789.") != std::string::npos;
        if (copies && drops_values) continue;
        text += (text.empty() ? "" : " ") + (known != words.end() ? known->second : copies ? part : "Ding");
        unsure += known == words.end() && !copies ? 2.0 : 0.1;
        ++tokens;
      }
      for (const RequiredText& required : requests[i].required)
        if (can_require)
          for (auto rest = required.times - static_cast<std::int64_t>(count_forms(text, required.forms));
               rest > 0; --rest)
            text += " " + required.forms.front();
      largest_beam = std::max(largest_beam, requests[i].beam);
      all.emplace_back();
      for (std::int64_t k = 0; k < requests[i].texts; ++k)
        all.back().push_back(
            {.text = text, .log_probability = -unsure - static_cast<double>(k), .tokens = tokens});
    }
    return all;
  }
  std::vector<TextAlignment> align(const Records::Texts& sources, const Records::Texts& targets) override {
    std::vector<TextAlignment> all;
    for (std::size_t i = 0; i < sources.size(); ++i)
      all.push_back({.source = words_in(sources[i]), .target = words_in(targets[i])});
    return all;
  }

  TaskFields fields_ = {.structure = {"source"}, .truth = {"target"}};
  std::map<std::string, std::string> words = {
      {"the", "der"}, {"dog", "Hund"}, {"cat", "Katze"}, {"sees", "sieht"}};
  std::string problem;
  bool drops_values = false, can_require = true;
  Names read;
  std::int64_t largest_beam = 0;
};

Records texts(const Names& sources, const Names& targets = {}) {
  Records records;
  records.add("source", sources);
  if (!targets.empty()) records.add("target", targets);
  return records;
}

class TranslateWithTermsTest : public ::testing::Test {
 protected:
  std::string file(const char* name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  TranslateWithTerms step(std::map<std::string, OptionValue> settings = {}) {
    settings.emplace("review", 0.0);
    return {test::step_options<TranslateWithTerms>(settings), {.name = "german", .model = &model_}};
  }
  testing::TemporaryFolder folder_;
  WordModel model_;
};

TEST_F(TranslateWithTermsTest, TranslatesWithTheTermsOfTheGlossary) {
  TranslateWithTerms german =
      step({{"glossary", file("terms.tsv", "dog\tHündin\tHündinnen\ncat\tKatze\nguard dog\tWachhund\n")}});
  EXPECT_FALSE(german.is_fitted());
  const Records given =
      german.apply(texts({"the cat sees", "The DOG sees the dog", "the guard dog", "the catalog"}));
  EXPECT_EQ(given.texts("translation"), (Names{"der Katze sieht", "Ding Ding sieht der Hund Hündin Hündin",
                                               "der Ding Hund Wachhund", "der Ding"}));
  EXPECT_EQ(given.lists("terms"), (Records::TextLists{{"Katze"}, {"Hündin", "Hündin"}, {"Wachhund"}, {}}));
  EXPECT_EQ(given.lists("missing"), (Records::TextLists{{}, {}, {}, {}}));
  EXPECT_EQ(given.texts("band"), (Names{"answer", "answer", "answer", "answer"}));
  EXPECT_EQ(model_.largest_beam, 16) << "only for sentences whose first translation lacks a term";
}

TEST_F(TranslateWithTermsTest, LeavesATextToAPersonThatLacksATerm) {
  model_.can_require = false;
  TranslateWithTerms german = step({{"glossary", file("terms.tsv", "dog\tHündin\n")}});
  const Records given = german.apply(texts({"the dog", "the cat"}));
  EXPECT_EQ(given.lists("missing"), (Records::TextLists{{"Hündin"}, {}}));
  EXPECT_EQ(given.texts("band"), (Names{"review", "answer"}));
  EXPECT_EQ(given.texts("shown"),
            (Names{"der Hund  (100.0 %, review, lacks Hündin)", "der Katze  (100.0 %)"}));
}

TEST_F(TranslateWithTermsTest, KeepsTagsAndValues) {
  const Names sources = {"the <b>dog</b> sees {name}", "<i>42</i>", "the dog sees 3 cat", ""};
  TranslateWithTerms german = step();
  EXPECT_EQ(german.apply(texts(sources)).texts("translation"),
            (Names{"der <b>Hund</b> sieht {name}", "<i>42</i>", "der Hund sieht 3 Katze", ""}));
  EXPECT_EQ(model_.read, (Names{"the dog sees {name}", "the dog sees 3 cat"}))
      << "tags are taken out at once";
  model_.drops_values = true;
  model_.read.clear();
  const Records given = german.apply(texts(sources));
  EXPECT_EQ(given.texts("translation"),
            (Names{"der <b>Hund</b> sieht {name}", "<i>42</i>", "der Hund sieht 3 Katze", ""}));
  EXPECT_EQ(model_.read.back(), "the dog sees cat") << "a value that the model drops is taken out, too";
  EXPECT_EQ(given.texts("origin"), (Names{"model", "source", "model", "source"}));
}

TEST_F(TranslateWithTermsTest, TakesStoredTranslationsUnchanged) {
  TranslateWithTerms german =
      step({{"memory", file("memory.tsv", "the <b>dog</b> 7\tDER HUND\n\nthe cat\tdie Katze\n")}});
  const Records given = german.apply(texts({" the <b>dog</b> 7 ", "the cat", "the cat sees"}));
  EXPECT_EQ(given.texts("translation"), (Names{"DER HUND", "die Katze", "der Katze sieht"}));
  EXPECT_EQ(given.texts("origin"), (Names{"memory", "memory", "model"}));
  EXPECT_EQ(given.lists("missing"), (Records::TextLists{{}, {}, {}}));
  EXPECT_EQ(model_.read, Names{"the cat sees"});
}

/// Strings of which every fifth has two words that the model does not know.
Records development_set() {
  Names sources, targets;
  for (int i = 0; i < 60; ++i) {
    sources.push_back(i % 5 == 0   ? "the zebra sees zebra"
                      : i % 2 == 0 ? "the dog sees the cat"
                                   : "the cat sees the dog");
    targets.push_back(i % 5 == 0   ? "das Zebra sieht Streifen"
                      : i % 2 == 0 ? "der Hund sieht der Katze"
                                   : "der Katze sieht der Hunde");
  }
  return texts(sources, targets);
}

TEST_F(TranslateWithTermsTest, TheConfidenceFindsTheWorstTranslations) {
  TranslateWithTerms german = step({{"review", 0.2}});
  ASSERT_TRUE(german.is_fitted());
  const Records dev = development_set();
  german.fit({.dev = dev});
  const Records given = german.apply(dev);
  for (std::size_t i = 0; i < dev.size(); ++i)
    EXPECT_EQ(given.texts("band")[i], i % 5 == 0 ? "review" : "answer") << i;
  Statistics statistics;
  german.measure(dev, given, statistics);
  EXPECT_EQ(statistics.examples(), dev.size());
  std::map<std::string, double> values;
  for (const auto& [name, value] : measure_values(TranslateWithTerms::measures(), statistics))
    values[name] = value;
  EXPECT_EQ(values.at("quality_auroc"), 1.0);
  EXPECT_EQ(values.at("reviewed"), 0.2);
  EXPECT_GT(values.at("bleu"), 0.1);
  EXPECT_GT(values.at("chrf"), values.at("bleu"));
}

TEST_F(TranslateWithTermsTest, ARestoredStepAnswersAsTheFittedOne) {
  TranslateWithTerms german = step({{"review", 0.2}}), other = step({{"review", 0.2}});
  const Records dev = development_set();
  german.fit({.dev = dev});
  other.restore(german.knowledge());
  EXPECT_EQ(other.knowledge(), german.knowledge());
  EXPECT_EQ(other.apply(dev).numbers("confidence"), german.apply(dev).numbers("confidence"));
  const Records all = german.apply(dev);
  for (std::size_t i = 0; i < 7; ++i)
    EXPECT_EQ(german.apply(texts({dev.texts("source")[i]})).numbers("confidence")[0],
              all.numbers("confidence")[i]);
  const std::string damaged = german.knowledge().substr(0, german.knowledge().size() - 3);
  for (const std::string& text : {damaged, std::string("{}"), std::string()})
    EXPECT_EQ(test::refusal([&] { other.restore(text); }),
              "the stored estimate of quality is damaged: remove the run and run the application again");
}

TEST_F(TranslateWithTermsTest, RefusesWhatItCannotUse) {
  const auto refusal = [&](const std::map<std::string, OptionValue>& settings) {
    return test::refusal([&] { step(settings); });
  };
  const auto bad = [&](const char* option, const std::string& text) {
    const std::string path = file("bad.tsv", text);
    std::string message = refusal({{option, path}});
    return message.starts_with(path) ? message.substr(path.size()) : "?" + message;
  };
  EXPECT_EQ(bad("glossary", "dog\tHund\ncat\n"),
            ":2: expected TERM, a tab and its TRANSLATION; other forms may follow, each after a tab");
  EXPECT_EQ(
      bad("glossary", "dog\tHund\n\nDog\tRüde\n"),
      ":3: the term \"Dog\" is also in line 1: write all its translations into one line, each after a tab");
  EXPECT_EQ(bad("glossary", "\n"), ": the glossary has no terms");
  EXPECT_EQ(bad("glossary", "dog\t\xff\n"), ":1: this line is not UTF-8: expected a file in UTF-8");
  EXPECT_EQ(bad("memory", "a\tb\na\tc\n"),
            ":2: the source of this line has another translation in line 1: keep one of them");
  EXPECT_EQ(bad("memory", "a\tb\tc\n"), ":1: expected SOURCE, a tab and TARGET");
  EXPECT_NE(refusal({{"memory", (folder_ / "none.tsv").string()}})
                .find("none.tsv: cannot read this translation memory"),
            std::string::npos);
  model_.problem = "its task classifies";
  EXPECT_EQ(refusal({}), "the model of step \"german\" does not translate: its task classifies");
  model_.problem = "";
  TranslateWithTerms german = step({{"review", 0.2}});
  const Records few = texts({"the dog", "the cat"}, {"der Hund", "die Katze"});
  EXPECT_EQ(
      test::refusal([&] { german.fit({.dev = few}); }),
      "step \"german\": the development set has 2 sentences to fit on, of which 1 are the worst, but the "
      "estimate of "
      "quality needs 5 of these and 5 others: give more data as data.dev, raise app.fit, or set review = 0");
}

}  // namespace
}  // namespace encore::translate_with_terms
