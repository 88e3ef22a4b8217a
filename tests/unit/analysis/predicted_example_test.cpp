// SPDX-License-Identifier: BSD-3-Clause
// Tests read_prediction() (analysis/predictions.hpp) for answers that are parts of the input: a line of
// predictions/<split>.jsonl becomes the words that people read instead of JSON. report/examples.cpp shows
// such examples, cli/run_summary.cpp suggests an input from one. The lines in the tests are the stored
// format, which must stay readable.
#include <gtest/gtest.h>

#include "analysis/predictions.hpp"

namespace encore::analysis {
namespace {

/// Returns the example of a line with this JSON as prediction and as truth.
PredictedExample example_with(const std::string& predicted, const std::string& truth) {
  return read_prediction(R"({"question": "who?", "context": "Anna Berg", "predicted": )" + predicted +
                         R"(, "truth": )" + truth + "}");
}

TEST(PredictedExamples, ShowPartsOfATextByTheirWords) {
  const PredictedExample example =
      example_with(R"([{"type": "", "text": "Anna", "start": 0, "end": 4}])",
                   R"([{"type": "", "text": "Anna Berg", "start": 0, "end": 9}])");
  EXPECT_EQ(example.predicted, "Anna");
  EXPECT_EQ(example.truth, "Anna Berg");
  EXPECT_EQ(example.input.size(), 2U);
  EXPECT_EQ(
      example_with(R"([{"type": "PER", "text": "Anna"}, {"type": "LOC", "text": "Lund"}])", "[]").predicted,
      "Anna (PER) Lund (LOC)");
  EXPECT_EQ(example_with("[]", "[]").predicted, "");
}

TEST(PredictedExamples, HaveOneOfSeveralTruthsOrAllThatDiffer) {
  const std::string truths =
      R"([{"type": "", "text": "Anna"}, {"type": "", "text": "Berg"}, {"type": "", "text": "Anna"}])";
  EXPECT_EQ(example_with(R"([{"type": "", "text": "Berg"}])", truths).truth, "Berg");
  EXPECT_EQ(example_with(R"([{"type": "", "text": "who"}])", truths).truth, "Anna / Berg");
  EXPECT_EQ(example_with("[]", R"([{"type": "PER", "text": "Anna"}, {"type": "LOC", "text": "Lund"}])").truth,
            "Anna (PER) Lund (LOC)")
      << "parts with labels are all true";
  EXPECT_EQ(example_with("\"a\"", R"(["b", "c"])").truth, "b c");
}

}  // namespace
}  // namespace encore::analysis
