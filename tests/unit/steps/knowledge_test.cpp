// SPDX-License-Identifier: BSD-3-Clause
// Tests the stored form of what `decide` knows (plugins/steps/decide/knowledge.hpp): it reads back bit by
// bit, and a damaged text is rejected with a reason. Members keep their names, because stored runs have them.
#include "decide/knowledge.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "unit/steps/samples.hpp"

namespace encore::decide {
namespace {

using Json = nlohmann::json;
using test::refusal;

/// Returns knowledge with a value in every member; few of its numbers have a short decimal form.
Knowledge sample() {
  std::vector<std::vector<double>> vectors;
  for (int i = 0; i < 8; ++i) vectors.push_back({std::sin(i), std::cos(3.0 * i), std::sqrt(i)});
  const std::vector<std::span<const double>> spans(vectors.begin(), vectors.end());
  return {
      .temperature = 1.0 / 3.0,
      .distance =
          Distance{.classes = ClassDistance(spans, {0, 1, 0, 1, 0, 1, 0, 1}, 2), .typical = std::exp(1.0)},
      .answer = Logistic{{0.1, 1e-300}, {1.0, std::sqrt(2.0)}, {-0.0, 1e22}, -1.0 / 7.0},
      .scope = Logistic{{0.1, 0.2, 0.3}, {1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}, 7.0},
      .out_of_scope = "oos",
      .frequent = {"b\"eta", "älpha"},
      .thresholds = {.answer = 0.1 + 0.2, .refuse = std::nullopt, .no_refusal = 0.25},
      .findings = {
          .examples = 1550.0,
          .calibration = 512.0,
          .out_of_scope = 50.0,
          .answers = Tested{.threshold = 0.3, .failed = 0.25, .taken = 700.0, .errors = 20.0, .bound = 0.04},
          .refusals = Tested{}}};
}

TEST(Knowledge, ReadsBackWithTheSameBits) {
  const Knowledge knowledge = sample();
  const std::string text = knowledge_text(knowledge);
  const Knowledge again = knowledge_in(text);
  EXPECT_EQ(knowledge_text(again), text);
  EXPECT_EQ(again.temperature, knowledge.temperature);
  EXPECT_EQ(again.distance->classes.means(), knowledge.distance->classes.means());
  EXPECT_EQ(again.distance->classes.factor(), knowledge.distance->classes.factor());
  EXPECT_EQ(again.distance->typical, knowledge.distance->typical);
  EXPECT_EQ(again.answer, knowledge.answer);
  EXPECT_TRUE(std::signbit(again.answer->weights[0]));
  EXPECT_EQ(again.scope, knowledge.scope);
  EXPECT_EQ(again.frequent, knowledge.frequent);
  EXPECT_EQ(again.thresholds, knowledge.thresholds);
  EXPECT_EQ(again.findings, knowledge.findings);
  const Knowledge least;
  EXPECT_EQ(knowledge_text(knowledge_in(knowledge_text(least))), knowledge_text(least));
}

TEST(Knowledge, ADamagedTextIsRejected) {
  const auto damaged = [](auto change) {
    Json json = Json::parse(knowledge_text(sample()));
    change(json);
    return refusal([&] { knowledge_in(json.dump()); });
  };
  const auto message = [](const std::string& problem) {
    return "the stored knowledge of a step \"decide\" is damaged (" + problem +
           "): remove the run and run the application again";
  };
  EXPECT_EQ(refusal([] { knowledge_in("{"); }), message("it is not a JSON object"));
  EXPECT_EQ(damaged([](Json& json) { json["version"] = 2; }),
            "the stored knowledge of a step \"decide\" has version 2: expected version 1; use the version of "
            "Encore "
            "that made the run");
  EXPECT_EQ(damaged([](Json& json) { json.erase("thresholds"); }), message("no \"thresholds\""));
  EXPECT_EQ(damaged([](Json& json) { json["temperature"] = nullptr; }),
            message("\"temperature\" is not a number"));
  EXPECT_EQ(damaged([](Json& json) { json["temperature"] = 0.0; }),
            message("\"temperature\" is not above 0"));
  EXPECT_EQ(damaged([](Json& json) { json["answer"]["weights"].push_back(1.0); }),
            message("\"weights\" is not a list of 2 numbers"));
  EXPECT_EQ(damaged([](Json& json) { json["answer"]["deviation"][0] = 0.0; }),
            message("a deviation is not above 0"));
  EXPECT_EQ(damaged([](Json& json) { json["distance"]["width"] = 4; }),
            message("\"means\" does not have the width of the vectors"));
  EXPECT_EQ(damaged([](Json& json) { json["distance"]["means"] = "AAAAAAAA8H8="; }),
            message("\"means\" has a number that is not finite"));
  EXPECT_EQ(damaged([](Json& json) { json["distance"]["factor"] = "AAAAAAAA8D8="; }),
            message("\"factor\" does not have the width of the vectors"));
  EXPECT_EQ(damaged([](Json& json) { json["out_of_scope"] = ""; }),
            message("\"mean\" is not a list of 2 numbers"));
  EXPECT_EQ(damaged([](Json& json) { json["frequent"] = "a"; }), message("\"frequent\" is not a list"));
}

}  // namespace
}  // namespace encore::decide
