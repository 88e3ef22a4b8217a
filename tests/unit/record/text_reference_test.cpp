// SPDX-License-Identifier: BSD-3-Clause
// Tests TextFacts (record/text_facts.hpp), numbers about an input that was answered, and TextReference
// (record/text_reference.hpp), their histograms over the development set: both are read back as written, a
// file of another kind is rejected, and values fall into the documented bins. Stored references have these
// bins, so they must not change.
#include <gtest/gtest.h>

#include <fstream>

#include <encore/error.hpp>

#include "record/text_reference.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::record {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

TextReference some_reference() {
  TextReference reference{.source = "dev", .step = 12, .embeddings = {{0.5, 1.0}, {1.0, 4.0}}};
  reference.histograms.labels = {{"B-PER", 0}, {"O", 0}};
  for (int i = 0; i < 10; ++i)
    reference.histograms.add(
        {.tokens = 5 + i, .unknown = i % 2, .confidence = 0.9, .labels = {{"O", 3}, {"B-PER", i % 3}}});
  return reference;
}

TEST(TextFacts, ComeBackAsTheyWere) {
  const TextFacts full{
      .tokens = 7, .unknown = 2, .confidence = 0.75, .distance = 1.5, .labels = {{"O", 4}, {"B-PER", 1}}};
  EXPECT_EQ(TextFacts::parse(full.json()), full);
  const TextFacts application{.fields = {{"decide.band", "review"}}};
  EXPECT_EQ(TextFacts::parse(application.json()), application);
  const TextFacts few{.tokens = 3};
  EXPECT_EQ(TextFacts::parse(few.json()), few);
  EXPECT_EQ(few.json(), R"({"pieces":3,"unknown":0})");
}

TEST(TextFacts, ImpossibleFactsAreRefused) {
  for (const char* text :
       {"", "[]", "{}", R"({"pieces":3})", R"({"pieces":-3,"unknown":0})", R"({"pieces":3,"unknown":4})",
        R"({"pieces":3,"unknown":0,"confidence":1.5})", R"({"pieces":3,"unknown":0,"distance":-1})",
        R"({"pieces":3,"unknown":0,"labels":{"O":-1}})", R"({"pieces":3,"unknown":0,"labels":[1]})",
        R"({"pieces":"3","unknown":0})", R"({"pieces":9223372036854775807,"unknown":0})",
        R"({"pieces":3,"unknown":0,"labels":{"O":9223372036854775807}})",
        R"({"pieces":3,"unknown":0,"fields":["a"]})", R"({"pieces":3,"unknown":0,"fields":{"a":1}})"})
    EXPECT_THROW(TextFacts::parse(text), Error) << text;
}

TEST(TextReference, ComesBackAsItWas) {
  const TextReference reference = some_reference();
  EXPECT_EQ(TextReference::parse(reference.json()), reference);
  TemporaryFolder folder;
  EXPECT_FALSE(find_reference(folder / ".").has_value());
  std::ofstream(folder / reference_file) << reference.json();
  EXPECT_EQ(find_reference(folder / "."), reference);
}

TEST(TextReference, RejectsAnInvalidFileByName) {
  TemporaryFolder folder;
  const std::string whole = some_reference().json();
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  for (const std::string& text :
       {std::string("{"), std::string("{}"), whole.substr(0, whole.size() / 2),
        changed("\"version\":1", "\"version\":2"), changed("\"bins\":[", "\"bins\":[-1,"),
        changed("\"sum\":", "\"sums\":"), changed("[1.0,4.0]", "[1.0]"), changed("\"texts\":", "\"texts\":-"),
        changed("\"labels\":{", "\"labels\":{\"x\":9223372036854775807,")}) {
    std::ofstream(folder / reference_file) << text;
    const std::string message = message_of<Error>([&] { find_reference(folder / "."); });
    EXPECT_NE(message.find("reference.json: "), std::string::npos) << message;
    EXPECT_NE(message.find("exp evaluate RUN FILE --reference"), std::string::npos) << message;
  }
}

std::size_t bin(const TextFacts& facts, const std::string& stream) {
  TextHistograms histograms;
  histograms.labels = {{"O", 0}, {"B-PER", 0}};
  for (const StreamValue& value : histograms.values_of(facts))
    if (value.stream == stream) return value.bin;
  return 9999;
}

TEST(TextHistograms, SmallLengthsHaveBinsOfTheirOwn) {
  for (std::int64_t tokens = 1; tokens < 12; ++tokens)
    EXPECT_LT(bin({.tokens = tokens}, tokens_stream), bin({.tokens = tokens + 1}, tokens_stream)) << tokens;
  EXPECT_EQ(bin({.tokens = 0}, tokens_stream), 0U);
  EXPECT_EQ(bin({.tokens = std::int64_t{1} << 40}, tokens_stream), 127U);
}

TEST(TextHistograms, TheEndsOfEachRangeHaveBins) {
  EXPECT_EQ(bin({.tokens = 9}, unknown_stream), 0U);
  EXPECT_EQ(bin({.tokens = 9, .unknown = 9}, unknown_stream), 20U);
  EXPECT_EQ(bin({.tokens = 1, .confidence = 0.0}, confidence_stream), 0U);
  EXPECT_EQ(bin({.tokens = 1, .confidence = 1.0}, confidence_stream), 64U);
  EXPECT_EQ(bin({.tokens = 1, .distance = 1e300}, distance_stream), 127U);
  EXPECT_EQ(bin({.tokens = 1, .labels = {{"O", 2}}}, "label/O"), 20U);
  EXPECT_EQ(bin({.tokens = 1, .labels = {{"O", 2}}}, "label/B-PER"), 0U);
  EXPECT_EQ(bin({.tokens = 1}, "label/O"), 0U) << "an input without labels counts in no bin";
}

TEST(TextHistograms, ADistanceIsAboutOneWithinItsCloud) {
  const EmbeddingCloud cloud{{0.0, 10.0}, {1.0, 4.0}};
  const std::vector<float> near = {1.0F, 12.0F}, wrong = {1.0F};
  EXPECT_DOUBLE_EQ(*cloud.distance(near), 1.0);
  EXPECT_FALSE(cloud.distance(wrong).has_value());
  EXPECT_FALSE(EmbeddingCloud().distance(near).has_value());
}

}  // namespace
}  // namespace encore::record
