// SPDX-License-Identifier: BSD-3-Clause
// Tests the JSON of measures and of the statistics of examples (base/measure_json.hpp), which manifests,
// spools, the database and prediction files contain: it reads back as written, and invalid JSON is rejected
// with a reason. Members must keep their names, because stored files have them.
#include "base/measure_json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <encore/error.hpp>
#include <nlohmann/json.hpp>

namespace encore {
namespace {

using Json = nlohmann::json;

const Measure family = {.name = "f1/{label}",
                        .title = "F1",
                        .help = "of one label",
                        .fraction = true,
                        .reducer = Reducer::harmonic_mean,
                        .columns = {"correct", "predicted", "truth"},
                        .always = false};

/// Returns the message of the Error that the function throws.
template <class Function>
std::string refusal(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(MeasureJson, MeasuresComeBackAndDefaultsAreLeftOut) {
  const Measure rate = {.name = "speed", .unit = "tokens/s", .better = Better::neither};
  const Measure perplexity = {.name = "perplexity",
                              .better = Better::lower,
                              .reducer = Reducer::exponential,
                              .columns = {"loss", "tokens"}};
  for (const Measure& measure : {family, rate, perplexity}) EXPECT_EQ(measure_in(json_of(measure)), measure);
  EXPECT_EQ(json_of(rate), (Json{{"name", "speed"}, {"unit", "tokens/s"}, {"reducer", "opaque"}}));
  EXPECT_EQ(json_of(perplexity),
            Json::parse(R"({"name": "perplexity", "better": "lower", "reducer": "exponential",
                                                 "columns": ["loss", "tokens"]})"));
}

TEST(MeasureJson, AnInvalidMeasureIsRejected) {
  const auto refused = [](const char* text) { return refusal([&] { measure_in(Json::parse(text)); }); };
  EXPECT_EQ(refused("[]"), "invalid measure: expected a JSON object, found array");
  EXPECT_EQ(refused(R"({"name": 3})"), "a measure: invalid \"name\": expected string, found number");
  EXPECT_EQ(refused(R"({"name": "f1", "fraction": "yes"})"),
            "measure \"f1\": invalid \"fraction\": expected boolean, found string");
  EXPECT_EQ(refused(R"({"name": "f1", "better": "up"})"),
            "measure \"f1\": invalid \"better\" \"up\": expected higher, lower or neither");
  EXPECT_EQ(
      refused(R"({"name": "f1", "reducer": "mean"})"),
      "measure \"f1\": unknown reducer \"mean\": expected one of ratio, harmonic_mean, macro_harmonic_mean, "
      "exponential, area_under_ranks, macro_area_under_ranks, rank_correlation, correlation, "
      "quadratic_kappa, matthews, "
      "ngram_precision, ngram_f_score, absolute_difference, matrix, opaque");
  EXPECT_EQ(refused(R"({"name": "f1", "reducer": "ratio", "columns": ["correct"]})"),
            "measure \"f1\": reducer ratio: expected 2 columns, found 1");
  EXPECT_EQ(refused(R"({"name": "bleu", "reducer": "ngram_precision", "columns": ["a", "b", "c"]})"),
            "measure \"bleu\": reducer ngram_precision: expected 2 columns for lengths and 2 for each order, "
            "found 3");
  EXPECT_EQ(refused(R"({"name": "bleu", "reducer": "ngram_precision", "columns": ["a", "b"]})"),
            "measure \"bleu\": reducer ngram_precision: expected 2 columns for lengths and 2 for each order, "
            "found 2");
  EXPECT_EQ(refused(R"({"name": "chrf", "reducer": "ngram_f_score"})"),
            "measure \"chrf\": reducer ngram_f_score: expected 3 columns for each order, found 0");
  for (const char* name :
       {"", "two words", "f1/{label", "{label}", "f1{label}", "f1/{a}/{b}", "f1/}{", "f1/{label}s"})
    EXPECT_EQ(refusal([&] {
                measure_in({{"name", name}});
              }),
              "invalid name of a measure \"" + std::string(name) +
                  "\": expected one word (accuracy), or a family with a key after a slash (f1/{label})");
}

TEST(MeasureJson, StatisticsOfAnExampleComeBack) {
  Statistics statistics;
  statistics.begin_example();
  statistics.begin_example();
  statistics.add("correct", 1, "PER");
  statistics.add("words", 12);
  statistics.add("words", 1);
  statistics.add("loss", 0.1);
  statistics.add("taken", 2, "PER", "PER");
  statistics.add("taken", 1, "PER", "O");
  statistics.add("broken", std::numeric_limits<double>::infinity());
  const Json json = json_of(statistics, 1);
  EXPECT_EQ(json_of(statistics, 0), Json::object());
  EXPECT_EQ(json.dump(),
            R"({"broken":null,"correct":{"PER":1},"loss":0.1,"taken":{"PER":{"O":1,"PER":2}},"words":13})");
  Statistics back;
  add_example(back, Json::object());
  add_example(back, json);
  ASSERT_EQ(back.examples(), 2u);
  EXPECT_EQ(back.begin(0), back.end(0));
  EXPECT_EQ(json_of(back, 1), json);
  EXPECT_TRUE(std::isnan(back.begin(1)->value));
}

TEST(MeasureJson, InvalidStatisticsAreRejected) {
  Statistics to;
  EXPECT_EQ(refusal([&] { add_example(to, 3); }), "invalid statistics: expected a JSON object, found number");
  EXPECT_EQ(refusal([&] {
              add_example(to, {{"words", "many"}});
            }),
            "invalid column \"words\": expected a number, found string");
  EXPECT_EQ(refusal([&] {
              add_example(to, {{"taken", {{"PER", {{"O", true}}}}}});
            }),
            "invalid column \"taken\": expected a number, found boolean");
  Statistics mixed;
  mixed.begin_example();
  mixed.add("words", 1);
  mixed.add("words", 1, "PER");
  mixed.begin_example();
  mixed.add("words", 1, "PER");
  mixed.add("words", 1);
  for (const std::size_t example : {0u, 1u})
    EXPECT_EQ(refusal([&] { json_of(mixed, example); }),
              "invalid column \"words\": some values have keys and others have none");
}

TEST(MeasureJson, AMatrixComesBack) {
  CountMatrix matrix;
  matrix.add("PER", "O", 1);
  matrix.add("PER", "PER", 2);
  const Json json = json_of(matrix);
  EXPECT_EQ(json.dump(), R"({"PER":{"O":1,"PER":2}})");
  EXPECT_EQ(matrix_in(json).pairs(), matrix.pairs());
  EXPECT_EQ(refusal([] { matrix_in(3); }), "invalid matrix: expected a JSON object, found number");
  EXPECT_EQ(refusal([] {
              matrix_in({{"PER", 3}});
            }),
            "invalid row \"PER\" of a matrix: expected a JSON object, found number");
}

}  // namespace
}  // namespace encore
