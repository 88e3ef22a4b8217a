// SPDX-License-Identifier: BSD-3-Clause
// Tests evaluation_text() (cli/evaluation_text.hpp), the output of `exp evaluate` for people, with the
// answers of two very different tasks: labels with a table, and generation with one line. The answers are
// JSON as a worker sends it (record/evaluate_answer.hpp). An answer whose measures are not defined must be
// rejected.
#include "cli/evaluation_text.hpp"

#include <gtest/gtest.h>

#include <encore/error.hpp>
#include <nlohmann/json.hpp>

namespace encore::cli {
namespace {

/// Returns the answer that a worker sent as this JSON.
record::EvaluateAnswer answer_in(const char* text) {
  return from_json_object<record::EvaluateAnswer>(nlohmann::json::parse(text));
}

const record::EvaluateAnswer labelled = answer_in(R"({"step": 12, "file": "test.conll", "sha256": "ab",
  "files": [{"file": "test.conll", "sha256": "ab"}, {"file": "more.conll", "sha256": "cd"}], "examples": 3,
  "counts": [{"name": "words", "value": 41}, {"name": "cut words", "value": 2}, {"name": "cut sentences", "value": 0}],
  "notes": ["a label of 3 spans does not stand in the training set"],
  "measures": {"f1": 0.5, "f1_macro": 0.25, "f1/PER": 0.75, "f1/LOC": 0.125, "recall": 0.5, "recall/PER": 1, "loss": 0.3125},
  "definitions": [{"name": "f1", "title": "F1", "fraction": true}, {"name": "recall", "fraction": true},
    {"name": "f1_macro", "title": "macro F1", "fraction": true}, {"name": "f1/{label}", "title": "F1", "fraction": true},
    {"name": "recall/{label}", "fraction": true}, {"name": "loss"},
    {"name": "confusion", "reducer": "matrix", "columns": ["confusion"]}],
  "matrices": {"confusion": {"PER": {"PER": 3}}}})");

const record::EvaluateAnswer generated = answer_in(
    R"({"step": 7, "file": "text.txt", "sha256": "ab", "files": [{"file": "text.txt", "sha256": "ab"}], "examples": 1, "counts": [], "notes": [],
  "measures": {"perplexity": 31.4159, "speed": 12, "unknown": 1},
  "definitions": [{"name": "perplexity", "better": "lower"}, {"name": "speed", "unit": "tokens/s"}], "matrices": {}})");

TEST(EvaluationText, LabelsStandInATableAndTheOtherMeasuresBelow) {
  EXPECT_EQ(evaluation_text("tiny", labelled, Terminal()),
            "tiny (step 12) on test.conll, more.conll: 3 examples, 41 words, 2 cut words\n"
            "\n"
            "LABEL     F1  RECALL\n"
            "LOC    12.50       -\n"
            "PER    75.00  100.00\n"
            "all    50.00   50.00\n"
            "macro F1 25.00  loss 0.3125\n"
            "a label of 3 spans does not stand in the training set\n");
}

TEST(EvaluationText, WithoutLabelsThereIsOneLine) {
  EXPECT_EQ(evaluation_text("words", generated, Terminal()),
            "words (step 7) on text.txt: 1 example\n"
            "\n"
            "perplexity 31.42  speed 12 tokens/s\n");
}

TEST(EvaluationText, SeveralRunsHaveALineEach) {
  EXPECT_EQ(evaluation_summary({{"tiny", labelled}, {"words", generated}}, Terminal()),
            "NAME      F1  RECALL  MACRO F1    LOSS  PERPLEXITY  SPEED\n"
            "tiny   50.00   50.00     25.00  0.3125           -      -\n"
            "words      -       -         -       -       31.42     12\n");
}

TEST(EvaluationText, AnAnswerWithAMeasureThatMeansNothingIsRefused) {
  nlohmann::json broken = to_json_object(generated);
  broken["definitions"][0]["reducer"] = "guess";
  EXPECT_THROW(from_json_object<record::EvaluateAnswer>(broken), Error);
}

}  // namespace
}  // namespace encore::cli
