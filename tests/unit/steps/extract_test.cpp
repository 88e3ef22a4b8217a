// SPDX-License-Identifier: BSD-3-Clause
// Tests the step `extract` (plugins/steps/extract/extract.hpp): which fields it reads and gives, bands, the
// threshold that a promise chooses, knowledge that is stored and read back, answers to a record alone,
// measures, types of documents, and refusals. Read next: extract_document_test.cpp.
#include "extract/extract.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/measures.hpp"
#include "unit/steps/samples.hpp"

namespace encore::extract {
namespace {

using Names = std::vector<std::string>;

/// A document with a total and, if it has one, a date; what a model found, and with which probability.
struct Sample {
  std::string total, date = {};
  std::string found_total = {};
  double probability = 0.9;
};

Records records_of(const std::vector<Sample>& samples) {
  Records::TextLists words, tags, found;
  Records::Texts texts;
  Records::SpanLists entities;
  Records::NumberLists scores;
  for (const Sample& sample : samples) {
    words.push_back({"Total", sample.total, "cash", sample.found_total});
    tags.push_back({"O", "B-total", "O", "O"});
    found.push_back({"O", sample.found_total == sample.total ? "B-total" : "O", "O",
                     sample.found_total == sample.total || sample.found_total.empty() ? "O" : "B-total"});
    scores.push_back({0.9, sample.probability, 0.9, sample.probability});
    texts.push_back("Total " + sample.total + " cash " + sample.found_total);
    entities.emplace_back();
    if (!sample.found_total.empty())
      entities.back().push_back({.label = "total",
                                 .text = sample.found_total,
                                 .start = 6,
                                 .end = 6 + static_cast<std::int64_t>(sample.found_total.size()),
                                 .score = 1.0,
                                 .least_score = sample.probability});
    if (!sample.date.empty()) {
      words.back().push_back(sample.date);
      tags.back().push_back("B-date");
      found.back().push_back("B-date");
      scores.back().push_back(0.99);
      texts.back() += " " + sample.date;
      entities.back().push_back(
          {.label = "date", .text = sample.date, .start = 30, .end = 40, .score = 0.99, .least_score = 0.99});
    }
  }
  Records records;
  records.add("words", words);
  records.add("tags", tags);
  records.add("read.text", texts);
  records.add("read.entities", entities);
  records.add("read.tags", found);
  records.add("read.score", scores);
  return records;
}

Extract step(std::map<std::string, OptionValue> settings = {}) {
  settings.insert({"fields", Names{"total: amount", "date: date"}});
  return {test::step_options<Extract>(settings), {.name = "extract", .before = "read"}};
}

std::map<std::string, double> values_of(const Statistics& statistics) {
  const auto values = measure_values(Extract::measures(), statistics);
  return {values.begin(), values.end()};
}

/// Many documents, of which a quarter is wrong and has a probability below 0.6. The others have 0.97 or more.
std::vector<Sample> many(std::size_t count) {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < count; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(count);
    const bool is_wrong = i % 4 == 0;
    const std::string total = std::to_string(i) + ".50";
    samples.push_back({.total = total,
                       .date = "1/2/2020",
                       .found_total = is_wrong ? "1" + total : total,
                       .probability = is_wrong ? 0.3 + 0.3 * part : 0.97 + 0.029 * part});
  }
  return samples;
}

TEST(ExtractStep, ReadsLabelsOfWordsAndGivesFields) {
  const Extract entities = step();
  EXPECT_EQ(entities.fields().reads, (Names{"read.text", "read.entities"}));
  EXPECT_EQ(entities.fields().truth, (Names{"words", "tags"})) << "requests need no words";
  EXPECT_EQ(entities.fields().gives, (Names{"json", "confidence", "band", "total", "date"}));
  EXPECT_EQ(step({{"labels", "tags"}, {"from", "words"}}).fields().reads,
            (Names{"words", "words.text", "words.tags", "words.score"}));
  EXPECT_FALSE(entities.is_fitted());
}

TEST(ExtractStep, ApprovesDocumentsWhoseChecksHold) {
  Extract extract = step({{"required", Names{"date"}}});
  const Records given =
      extract.apply(records_of({{.total = "RM 3", .date = "1/2/2020", .found_total = "RM 3"},
                                {.total = "4.00", .date = "31/2/2020", .found_total = "4.00"},
                                {.total = "5.00", .date = {}, .found_total = ""}}));
  EXPECT_EQ(given.texts("band"), (Names{"answer", "review", "review"}));
  EXPECT_EQ(given.texts("total"), (Names{"3.00", "4.00", ""}));
  EXPECT_EQ(given.texts("date"), (Names{"2020-02-01", "31/2/2020", ""}));
  EXPECT_EQ(given.numbers("confidence"), (Records::Numbers{0.9, 0.9, 0.0}));
  EXPECT_EQ(
      given.texts("shown"),
      (Names{
          "answer total 3.00, date 2020-02-01 (90.0 %)",
          "review total 4.00, date 31/2/2020 (90.0 %); format date: \"31/2/2020\": the calendar has no such "
          "date",
          "review no field (0.0 %); required date: it was not found"}));
  EXPECT_EQ(nlohmann::json::parse(given.texts("json")[0])["fields"]["total"]["start"], 6);
  EXPECT_EQ(
      step({{"required", Names{"date", "total", "date", "total"}}})
          .apply(records_of({{.total = "1", .found_total = ""}}))
          .texts("shown"),
      Names{
          "review no field (0.0 %); required date: it was not found; required total: it was not found; and 2 "
          "more failed checks"});
}

TEST(ExtractStep, LeavesDoubtfulDocumentsToAPerson) {
  const Records records = records_of({{.total = "1", .found_total = "1", .probability = 0.5},
                                      {.total = "2", .found_total = "2", .probability = 0.49}});
  EXPECT_EQ(step({{"threshold", 0.5}}).apply(records).texts("band"), (Names{"answer", "review"}));
  EXPECT_EQ(step({{"threshold", 0.0}}).apply(records).texts("band"), (Names{"answer", "answer"}));
}

TEST(ExtractStep, ReadsATagOfEachWord) {
  Extract extract = step({{"labels", "tags"}});
  const Records given =
      extract.apply(records_of({{.total = "3.00", .date = "1/2/2020", .found_total = "4.00"}}));
  EXPECT_EQ(given.texts("total"), Names{"4.00"});
  EXPECT_EQ(given.numbers("confidence"), Records::Numbers{0.9});
  EXPECT_EQ(nlohmann::json::parse(given.texts("json")[0])["fields"]["total"]["start"], 16);
}

TEST(ExtractStep, ChoosesAThresholdThatKeepsThePromise) {
  Extract extract = step({{"error", 0.05}});
  EXPECT_TRUE(extract.is_fitted());
  const Records dev = records_of(many(600));
  extract.fit({.dev = dev});
  ASSERT_EQ(extract.notes().size(), 1U);
  EXPECT_EQ(extract.notes()[0].find("approves "), 0U) << extract.notes()[0];
  const Records given = extract.apply(records_of(many(601)));
  std::size_t approved = 0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given.texts("band")[i] != "answer") continue;
    ++approved;
    EXPECT_GT(given.numbers("confidence")[i], 0.55);
  }
  EXPECT_GT(approved, 400U);
}

TEST(ExtractStep, ApprovesNothingIfThePromiseCannotBeKept) {
  Extract extract = step({{"error", 0.02}});
  const Records dev = records_of(many(60));
  extract.fit({.dev = dev});
  EXPECT_NE(extract.notes()[0].find("too small"), std::string::npos);
  EXPECT_NE(extract.notes()[0].find("at least 149 documents without a mistake"), std::string::npos);
  const Records given = extract.apply(dev);
  for (const std::string& band : given.texts("band")) EXPECT_EQ(band, "review");
  EXPECT_EQ(extract.knowledge(), R"({"threshold":null,"version":1})");
  Extract again = step({{"error", 0.02}});
  again.restore(extract.knowledge());
  EXPECT_EQ(again.apply(dev).texts("band"), given.texts("band"));
}

TEST(ExtractStep, NotesLabelsThatOnlyTheDataOrOnlyTheOptionsHave) {
  Extract extract = step({{"error", 0.05}, {"fields", Names{"total: amount", "dates: date"}}});
  const Records dev = records_of(many(100));
  extract.fit({.dev = dev});
  ASSERT_EQ(extract.notes().size(), 3U);
  EXPECT_EQ(extract.notes()[1],
            "no document of the development set has the label \"dates\": what the step says about this field "
            "is not "
            "measured");
  EXPECT_EQ(
      extract.notes()[2],
      "the label \"date\" of the development set is not read: add it to fields or groups if it is a field");
}

TEST(ExtractStep, RestoresWhatItKnows) {
  Extract extract = step({{"error", 0.05}}), again = step({{"error", 0.05}});
  const Records dev = records_of(many(600));
  extract.fit({.dev = dev});
  again.restore(extract.knowledge());
  EXPECT_EQ(again.knowledge(), extract.knowledge());
  EXPECT_EQ(again.apply(dev).texts("json"), extract.apply(dev).texts("json"));
  const std::string known = extract.knowledge();
  for (const std::string& text :
       {std::string(), std::string("{}"), known.substr(0, known.size() / 2), known + " ",
        std::string(R"({"threshold":"a","version":1})"), std::string("[]")})
    EXPECT_EQ(test::refusal([&] {
                step({{"error", 0.05}}).restore(text);
              }),
              "the stored threshold is damaged: remove the run and run the application again")
        << text;
  EXPECT_EQ(test::refusal([] { step().restore("{}"); }), "this step is not fitted");
  EXPECT_EQ(step().knowledge(), "");
}

TEST(ExtractStep, AnswersARecordByItself) {
  for (const char* labels : {"entities", "tags"}) {
    Extract extract = step({{"labels", labels}});
    const std::vector<Sample> samples = many(40);
    const Records all = extract.apply(records_of(samples));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const Records alone = extract.apply(records_of({samples[i]}));
      for (const char* field : {"json", "band", "total", "date"})
        EXPECT_EQ(alone.texts(field)[0], all.texts(field)[i]) << labels;
      EXPECT_EQ(alone.numbers("confidence")[0], all.numbers("confidence")[i]);
    }
  }
}

TEST(ExtractStep, MeasuresFieldsDocumentsAndBands) {
  Extract extract = step({{"required", Names{"date"}}, {"threshold", 0.5}});
  const Records records =
      records_of({{.total = "1", .date = "1/1/2020", .found_total = "1"},
                  {.total = "2", .date = "1/1/2020", .found_total = "3"},
                  {.total = "4", .date = "1/1/2020", .found_total = "4", .probability = 0.2},
                  {.total = "5", .date = {}, .found_total = "5"}});
  Statistics statistics;
  extract.measure(records, extract.apply(records), statistics);
  ASSERT_EQ(statistics.examples(), 4U);
  const std::map<std::string, double> values = values_of(statistics);
  EXPECT_DOUBLE_EQ(values.at("precision"), 6.0 / 7.0);
  EXPECT_DOUBLE_EQ(values.at("recall"), 6.0 / 7.0);
  EXPECT_DOUBLE_EQ(values.at("f1"), 6.0 / 7.0);
  EXPECT_DOUBLE_EQ(values.at("f1/total"), 0.75);
  EXPECT_DOUBLE_EQ(values.at("f1/date"), 1.0);
  EXPECT_DOUBLE_EQ(values.at("documents"), 0.75);
  EXPECT_DOUBLE_EQ(values.at("approved"), 0.5);
  EXPECT_DOUBLE_EQ(values.at("error"), 0.5);
  EXPECT_DOUBLE_EQ(values.at("flagged"), 1.0) << "the document without a date, which is required";
}

TEST(ExtractStep, MeasuresGroups) {
  const Extract extract(test::step_options<Extract>({{"groups", Names{"item: name, amount: amount"}}}),
                        {.name = "extract", .before = "read"});
  Records records;
  records.add("words", Records::TextLists{{"pen", "1.00", "cup", "2.00", "cup", "2.00"}});
  records.add("tags", Records::TextLists{{"B-item.name", "B-item.amount", "B-item.name", "B-item.amount",
                                          "B-item.name", "B-item.amount"}});
  records.add("read.text", Records::Texts{"pen 1.00 cup 2.00 cup 2.00"});
  const auto span = [](const char* label, const char* text, std::int64_t start) {
    return TextSpan{
        .label = label, .text = text, .start = start, .end = start + 3, .score = 0.9, .least_score = 0.9};
  };
  records.add("read.entities",
              Records::SpanLists{{span("item.name", "cup", 9), span("item.amount", "2", 13),
                                  span("item.name", "pen", 20), span("item.amount", "3", 22)}});
  Records given;
  given.add("band", Names{"answer"});
  Statistics statistics;
  extract.measure(records, given, statistics);
  const std::map<std::string, double> values = values_of(statistics);
  EXPECT_DOUBLE_EQ(values.at("group_f1"), 2.0 * 1.0 / (2.0 + 3.0));
  EXPECT_DOUBLE_EQ(values.at("documents"), 0.0);
}

/// Returns records of one text with the spans of the steps "read" and "match".
Records records_with_match(const std::vector<TextSpan>& read, const std::vector<TextSpan>& matched,
                           const std::string& text_of_match = "Total 3.00 on 1/2/2020") {
  Records records;
  records.add("read.text", Names{"Total 3.00 on 1/2/2020"});
  records.add("read.entities", Records::SpanLists{read});
  records.add("match.text", Names{text_of_match});
  records.add("match.entities", Records::SpanLists{matched});
  return records;
}

TEST(ExtractStep, ReadsSpansOfSeveralSteps) {
  Extract extract = step({{"also_from", Names{"match"}}});
  EXPECT_EQ(extract.fields().reads, (Names{"read.text", "read.entities", "match.text", "match.entities"}));
  const auto span = [](const char* label, const char* text, std::int64_t start, std::optional<double> score) {
    return TextSpan{.label = label,
                    .text = text,
                    .start = start,
                    .end = start + static_cast<std::int64_t>(std::string_view(text).size()),
                    .score = score,
                    .least_score = score};
  };
  const auto shown = [&](const std::vector<TextSpan>& read, const std::vector<TextSpan>& matched) {
    return extract.apply(records_with_match(read, matched)).texts("shown")[0];
  };
  EXPECT_EQ(shown({span("total", "3.00", 6, 0.8)}, {span("date", "1/2/2020", 14, std::nullopt)}),
            "answer total 3.00, date 2020-02-01 (80.0 %)");
  EXPECT_EQ(shown({span("total", "3.00", 6, 0.8)}, {span("total", "Total 3.00", 0, std::nullopt)}),
            "review total Total 3.00 (100.0 %); format total: \"Total 3.00\": \"Total\" is not a currency")
      << "of spans that overlap the most probable counts";
  EXPECT_EQ(shown({span("total", "3.00", 6, 1.0)}, {span("total", "Total 3.00", 0, std::nullopt)}),
            "answer total 3.00 (100.0 %)")
      << "of equally probable ones the one of the earlier step";
  EXPECT_EQ(shown({span("total", "3.00", 6, 0.8)}, {span("date", "3.00", 6, std::nullopt)}),
            "review total 3.00, date 3.00 (80.0 %); format date: \"3.00\": it does not have a day, a month "
            "and a year")
      << "spans with different labels do not exclude each other";
  EXPECT_EQ(
      shown({span("total", "3.00", 6, 0.8)}, {span("total", "2020", 18, std::nullopt)}),
      "review total 2020.00 (100.0 %); one value of total: the document has several: \"2020.00\", \"3.00\"");
  EXPECT_EQ(test::refusal([&] { extract.apply(records_with_match({}, {}, "another text")); }),
            "step \"extract\": the steps \"read\" and \"match\" read different text, so the places of their "
            "spans do "
            "not fit together: expected one text, such as the field read.text for both");
}

/// A document with its true type and the type that a step gives, and one field of each of two types.
struct TypedSample {
  std::string type, given_type;
  double type_score = 0.9;
};

/// Every document has a total and a claim by its words; its type says which of them counts.
Records typed_records(const std::vector<TypedSample>& samples) {
  Records::TextLists words, tags;
  Records::Texts texts, labels, given;
  Records::SpanLists entities;
  Records::Numbers scores;
  for (const TypedSample& sample : samples) {
    words.push_back({"5.00", "7.00"});
    tags.push_back({"B-total", "B-claim"});
    texts.emplace_back("5.00 7.00");
    entities.push_back(
        {{.label = "total", .text = "5.00", .start = 0, .end = 4, .score = 0.8, .least_score = 0.8},
         {.label = "claim", .text = "7.00", .start = 5, .end = 9, .score = 0.7, .least_score = 0.7}});
    labels.push_back(sample.type);
    given.push_back(sample.given_type);
    scores.push_back(sample.type_score);
  }
  Records records;
  records.add("words", words);
  records.add("tags", tags);
  records.add("label", labels);
  records.add("read.text", texts);
  records.add("read.entities", entities);
  records.add("kind.label", given);
  records.add("kind.score", scores);
  return records;
}

Extract typed_step(std::map<std::string, OptionValue> settings = {}) {
  settings.insert({"fields", Names{"total: amount", "claim: amount"}});
  settings.insert({"types", Names{"bill: total", "reminder: claim"}});
  settings.insert({"type_from", std::string("kind.label")});
  settings.insert({"type_confidence", std::string("kind.score")});
  return {test::step_options<Extract>(settings), {.name = "extract", .before = "read"}};
}

TEST(ExtractStepWithTypes, TakesTheFieldsOfTheType) {
  Extract extract = typed_step();
  EXPECT_EQ(extract.fields().reads, (Names{"read.text", "read.entities", "kind.label", "kind.score"}));
  EXPECT_EQ(extract.fields().truth, (Names{"words", "tags", "label"}));
  EXPECT_EQ(extract.fields().gives, (Names{"json", "confidence", "band", "total", "claim"}));
  const Records given =
      extract.apply(typed_records({{.type = {}, .given_type = "bill"},
                                   {.type = {}, .given_type = "reminder", .type_score = 0.6},
                                   {.type = {}, .given_type = "leaflet"},
                                   {.type = {}, .given_type = ""}}));
  EXPECT_EQ(given.texts("total"), (Names{"5.00", "", "", ""}));
  EXPECT_EQ(given.texts("claim"), (Names{"", "7.00", "", ""}));
  EXPECT_EQ(given.texts("band"), (Names{"answer", "answer", "review", "review"}));
  EXPECT_EQ(given.numbers("confidence"), (Records::Numbers{0.8, 0.6, 0.0, 0.0}));
  EXPECT_EQ(given.texts("shown")[0], "answer bill: total 5.00 (80.0 %)");
  EXPECT_EQ(given.texts("shown")[2],
            "review leaflet: no field (0.0 %); type: \"leaflet\" is not one of the types bill, reminder");
  EXPECT_EQ(
      given.texts("shown")[3],
      "review no type: no field (0.0 %); type: the document has no type: expected one of bill, reminder");
}

TEST(ExtractStepWithTypes, MeasuresTypesAndTheFieldsOfTheTrueType) {
  Extract extract = typed_step();
  const Records records = typed_records({{.type = "bill", .given_type = "bill"},
                                         {.type = "bill", .given_type = "reminder"},
                                         {.type = "reminder", .given_type = "reminder"},
                                         {.type = "leaflet", .given_type = "leaflet"},
                                         {.type = "leaflet", .given_type = "bill"}});
  Statistics statistics;
  extract.measure(records, extract.apply(records), statistics);
  const std::map<std::string, double> values = values_of(statistics);
  EXPECT_DOUBLE_EQ(values.at("type_accuracy"), 0.6);
  EXPECT_DOUBLE_EQ(values.at("precision"), 2.0 / 4.0);
  EXPECT_DOUBLE_EQ(values.at("recall"), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(values.at("f1/total"), 0.5);
  EXPECT_DOUBLE_EQ(values.at("documents"), 0.6) << "a leaflet is right if it has no field";
  EXPECT_DOUBLE_EQ(values.at("approved"), 0.8);
  EXPECT_DOUBLE_EQ(values.at("error"), 0.5);
  EXPECT_DOUBLE_EQ(values.at("flagged"), 0.5) << "one of the two leaflets was taken for a bill";
}

TEST(ExtractStepWithTypes, TakesATypeOfTheDataAsTrue) {
  Extract extract = typed_step({{"type_from", std::string("label")}, {"type_confidence", std::string()}});
  EXPECT_EQ(extract.fields().reads, (Names{"read.text", "read.entities", "label"}));
  EXPECT_EQ(extract.fields().truth, (Names{"words", "tags"}));
  const Records records = typed_records({{.type = "bill", .given_type = "reminder"}});
  const Records given = extract.apply(records);
  EXPECT_EQ(given.texts("total"), Names{"5.00"});
  EXPECT_EQ(given.numbers("confidence"), Records::Numbers{0.8});
  Statistics statistics;
  extract.measure(records, given, statistics);
  EXPECT_DOUBLE_EQ(values_of(statistics).at("f1"), 1.0);
  EXPECT_FALSE(values_of(statistics).contains("type_accuracy"));
}

/// The promise covers the type: documents whose type is wrong with a low probability are left to a person.
TEST(ExtractStepWithTypes, ChoosesAThresholdThatCoversTheType) {
  const auto samples = [](std::size_t count) {
    std::vector<TypedSample> all;
    for (std::size_t i = 0; i < count; ++i)
      all.push_back({.type = "bill",
                     .given_type = i % 4 == 0 ? "reminder" : "bill",
                     .type_score = i % 4 == 0 ? 0.55 : 0.99});
    return all;
  };
  const auto with_own_words = [&](std::size_t count) {
    const Records equal = typed_records(samples(count));
    Records records;
    for (const Records::Field& field : equal.fields())
      if (field.name != "words") records.add(field.name, field.values);
    Records::TextLists words;
    for (std::size_t i = 0; i < count; ++i) words.push_back({"5.00", "7.0" + std::to_string(i)});
    records.add("words", words);
    return records;
  };
  Extract extract = typed_step({{"error", 0.05}});
  const Records dev = with_own_words(600);
  extract.fit({.dev = dev});
  const Records given = extract.apply(dev);
  for (std::size_t i = 0; i < given.size(); ++i)
    EXPECT_EQ(given.texts("band")[i], i % 4 == 0 ? "review" : "answer") << i;
  Extract again = typed_step({{"error", 0.05}});
  again.restore(extract.knowledge());
  EXPECT_EQ(again.apply(dev).texts("json"), given.texts("json"));
}

TEST(ExtractStep, RefusesWhatItCannotUse) {
  EXPECT_EQ(test::refusal([] { Extract(test::step_options<Extract>(), {.name = "extract"}); }),
            "no step stands before \"extract\": expected a step that labels words, such as predict with a "
            "model of the "
            "task ner; put it in front in app.steps");
  EXPECT_EQ(test::refusal([] {
              step({{"error", 0.1}, {"threshold", 0.5}});
            }),
            "threshold and error exclude each other: error chooses a threshold; remove one of them");
  Records records;
  records.add("words", Records::TextLists{{"a"}});
  records.add("read.text", Names{"a"});
  EXPECT_EQ(test::refusal([&] { step().apply(records); }),
            "step \"extract\" cannot read the labels of step \"read\": the records have no field "
            "\"read.entities\" of "
            "the requested type; expected a model of the task ner (for a model of the task tag set labels = "
            "\"tags\")");
  const Records none = records_of({});
  EXPECT_EQ(
      test::refusal([&] {
        step({{"error", 0.1}}).fit({.dev = none});
      }),
      "step \"extract\": the development set has no document to fit on: give more data as data.dev, raise "
      "app.fit, or set threshold instead of error");
}

}  // namespace
}  // namespace encore::extract
