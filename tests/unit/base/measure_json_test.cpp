// Measures and statistics survive being written, and what was written by hand is refused with its reason.
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

template <class Function>
std::string refusal(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(MeasureJson, measures_come_back_and_defaults_are_left_out) {
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

TEST(MeasureJson, a_measure_that_means_nothing_is_refused) {
  const auto refused = [](const char* text) { return refusal([&] { measure_in(Json::parse(text)); }); };
  EXPECT_EQ(refused("[]"), "a measure is a JSON object, not array");
  EXPECT_EQ(refused(R"({"name": 3})"), "a measure: \"name\" cannot be number");
  EXPECT_EQ(refused(R"({"name": "f1", "fraction": "yes"})"), "measure \"f1\": \"fraction\" cannot be string");
  EXPECT_EQ(refused(R"({"name": "f1", "better": "up"})"),
            "measure \"f1\": \"better\" is \"up\", not higher or lower");
  EXPECT_EQ(
      refused(R"({"name": "f1", "reducer": "mean"})"),
      "measure \"f1\": reducer \"mean\" is not known; there are ratio, harmonic_mean, macro_harmonic_mean, "
      "exponential, area_under_ranks, macro_area_under_ranks, rank_correlation, correlation, matthews, "
      "ngram_precision, ngram_f_score, matrix, opaque");
  EXPECT_EQ(refused(R"({"name": "f1", "reducer": "ratio", "columns": ["correct"]})"),
            "measure \"f1\": reducer ratio needs 2 columns, not 1");
  EXPECT_EQ(
      refused(R"({"name": "bleu", "reducer": "ngram_precision", "columns": ["a", "b", "c"]})"),
      "measure \"bleu\": reducer ngram_precision needs 2 columns for lengths and 2 for each order, not 3");
  EXPECT_EQ(
      refused(R"({"name": "bleu", "reducer": "ngram_precision", "columns": ["a", "b"]})"),
      "measure \"bleu\": reducer ngram_precision needs 2 columns for lengths and 2 for each order, not 2");
  EXPECT_EQ(refused(R"({"name": "chrf", "reducer": "ngram_f_score"})"),
            "measure \"chrf\": reducer ngram_f_score needs 3 columns for each order, not 0");
  for (const char* name :
       {"", "two words", "f1/{label", "{label}", "f1{label}", "f1/{a}/{b}", "f1/}{", "f1/{label}s"})
    EXPECT_EQ(refusal([&] {
                measure_in({{"name", name}});
              }),
              "a measure cannot be named \"" + std::string(name) +
                  "\"; a name is one word (accuracy), of a family with a key behind a slash (f1/{label})");
}

TEST(MeasureJson, statistics_of_an_example_come_back) {
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

TEST(MeasureJson, statistics_that_are_none_are_refused) {
  Statistics to;
  EXPECT_EQ(refusal([&] { add_example(to, 3); }), "statistics are a JSON object, not number");
  EXPECT_EQ(refusal([&] {
              add_example(to, {{"words", "many"}});
            }),
            "column \"words\" holds string where a number should be");
  EXPECT_EQ(refusal([&] {
              add_example(to, {{"taken", {{"PER", {{"O", true}}}}}});
            }),
            "column \"taken\" holds boolean where a number should be");
  Statistics mixed;
  mixed.begin_example();
  mixed.add("words", 1);
  mixed.add("words", 1, "PER");
  mixed.begin_example();
  mixed.add("words", 1, "PER");
  mixed.add("words", 1);
  for (const std::size_t example : {0u, 1u})
    EXPECT_EQ(refusal([&] { json_of(mixed, example); }), "column \"words\" has values with and without keys");
}

TEST(MeasureJson, a_matrix_comes_back) {
  CountMatrix matrix;
  matrix.add("PER", "O", 1);
  matrix.add("PER", "PER", 2);
  const Json json = json_of(matrix);
  EXPECT_EQ(json.dump(), R"({"PER":{"O":1,"PER":2}})");
  EXPECT_EQ(matrix_in(json).pairs(), matrix.pairs());
  EXPECT_EQ(refusal([] { matrix_in(3); }), "a matrix is a JSON object, not number");
  EXPECT_EQ(refusal([] { matrix_in({{"PER", 3}}); }), "row \"PER\" of a matrix is number, no JSON object");
}

}  // namespace
}  // namespace encore
