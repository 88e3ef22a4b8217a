// SPDX-License-Identifier: BSD-3-Clause
// Tests GenerateRequest and DecodingWishes (record/generate_request.hpp), what `exp generate` and `exp serve`
// ask a worker to generate: the text form, how the user's options change the default decoding of a task, and
// the messages for invalid requests and contradicting options.
#include "record/generate_request.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include <encore/error.hpp>

namespace encore::record {
namespace {

TEST(GenerateRequest, IsTransmittedWithAllOptions) {
  const GenerateRequest request = {.prompts = {"one", "zwei \xC3\xA4\n", ""},
                                   .decoding = {.beam = 3,
                                                .top_k = 4,
                                                .texts = 2,
                                                .max_tokens = 50,
                                                .length_penalty = 0.6,
                                                .temperature = 0.75,
                                                .top_p = 0.9,
                                                .repetition_penalty = 1.1,
                                                .seed = 18446744073709551615U,
                                                .stop = {"\n", "end"}},
                                   .json = true};
  const GenerateRequest read = GenerateRequest::parse(request.text());
  EXPECT_EQ(read.prompts, request.prompts);
  EXPECT_TRUE(read.json);
  EXPECT_EQ(read.decoding.over({}), request.decoding.over({}));
  EXPECT_EQ(read.decoding.over({}).seed, 18446744073709551615U);
  const GenerateRequest none = GenerateRequest::parse(GenerateRequest{.prompts = {"a"}}.text());
  EXPECT_EQ(none.decoding.over({.beam = 7}), (Decoding{.beam = 7}));
}

TEST(GenerateRequest, RejectsAnInvalidRequest) {
  for (const char* text : {"", "[]", "{}", R"({"prompts": [1], "decoding": {"stop": []}, "json": false})",
                           R"({"prompts": [], "decoding": {"stop": [], "beam": "x"}, "json": false})"})
    EXPECT_THROW(GenerateRequest::parse(text), Error) << text;
}

TEST(DecodingWishes, ChangeOnlyWhatTheyName) {
  const Decoding task = {.beam = 5, .length_penalty = 0.6, .beyond_source = 50};
  EXPECT_EQ((DecodingWishes{.length_penalty = 1.0}.over(task)),
            (Decoding{.beam = 5, .length_penalty = 1.0, .beyond_source = 50}));
}

TEST(DecodingWishes, DrawsTakeThePlaceOfABeamAndTheOtherWayRound) {
  const Decoding task = {.beam = 5, .length_penalty = 0.6};
  const Decoding drawn = DecodingWishes{.temperature = 0.8}.over(task);
  EXPECT_EQ(drawn.beam, 1);
  EXPECT_EQ(drawn.temperature, 0.8);
  EXPECT_EQ(contradiction_in(drawn), "");
  EXPECT_EQ(DecodingWishes{.top_k = 3}.over({}).temperature, 1.0);
  EXPECT_EQ(DecodingWishes{.top_p = 0.5}.over({}).temperature, 1.0);
  const Decoding followed = DecodingWishes{.beam = 4}.over({.temperature = 0.8, .top_k = 2, .top_p = 0.5});
  EXPECT_EQ(followed, (Decoding{.beam = 4}));
}

TEST(Decoding, ContradictionsNameTheOptionsThatWereTyped) {
  const auto said = [](const Decoding& decoding) { return contradiction_in(decoding, generate_options); };
  EXPECT_EQ(said({.max_tokens = -3}), "--max-tokens is -3; it must be at least 0");
  EXPECT_EQ(said({.top_p = 2.0}), "--top-p is 2.0; it must be above 0 and at most 1");
  EXPECT_EQ(said({.stop = {""}}), "a text of --stop is empty; every text would end at once");
  EXPECT_EQ(
      said({.texts = 5}),
      "--texts = 5 are more than a beam of 1 follows; give a beam of 5, or a temperature above 0 to draw "
      "them");
  EXPECT_EQ(
      said({.top_k = 3}),
      "--top-k = 3 limits draws, but with --temperature = 0.0 nothing is drawn; give a temperature above 0");
  EXPECT_EQ(said({.beam = 2, .temperature = 0.5}),
            "--beam = 2 follows the most probable sequences, and --temperature = 0.5 draws tokens; give one "
            "of them");
}

TEST(Decoding, ContradictionsAreNamed) {
  const auto expect = [](const Decoding& decoding, const std::string& text) {
    EXPECT_EQ(contradiction_in(decoding), text);
  };
  expect({}, "");
  expect({.beam = 32, .texts = 32}, "");
  expect({.temperature = 2.5, .top_k = 1, .top_p = 1.0, .texts = 100}, "");
  expect({.beam = 0}, "beam is 0; it must be from 1 to 32");
  expect({.beam = 33}, "beam is 33; it must be from 1 to 32");
  expect({.temperature = -0.5}, "temperature is -0.5; it must be 0, or a number above");
  expect({.temperature = std::nan("")}, "temperature is null; it must be 0, or a number above");
  expect({.temperature = 1.0, .top_k = -1}, "top_k is -1; it must be at least 0");
  expect({.temperature = 1.0, .top_p = 0.0}, "top_p is 0.0; it must be above 0 and at most 1");
  expect({.temperature = 1.0, .top_p = 1.5}, "top_p is 1.5; it must be above 0 and at most 1");
  expect({.repetition_penalty = 0.0}, "repetition_penalty is 0.0; it must be above 0");
  expect({.texts = 0}, "texts is 0; it must be at least 1");
  expect({.max_tokens = -1}, "max_pieces is -1; it must be at least 0");
  expect({.stop = {"a", ""}}, "a text of stop is empty; every text would end at once");
  expect(
      {.beam = 2, .temperature = 0.5},
      "beam = 2 follows the most probable sequences, and temperature = 0.5 draws tokens; give one of them");
  expect({.top_k = 5},
         "top_k = 5 limits draws, but with temperature = 0.0 nothing is drawn; give a temperature above 0");
  expect({.top_p = 0.5},
         "top_p = 0.5 limits draws, but with temperature = 0.0 nothing is drawn; give a temperature above 0");
  expect(
      {.beam = 2, .texts = 3},
      "texts = 3 are more than a beam of 2 follows; give a beam of 3, or a temperature above 0 to draw them");
}

}  // namespace
}  // namespace encore::record
