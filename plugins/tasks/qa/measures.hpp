// SPDX-License-Identifier: BSD-3-Clause
// The measures of question answering as data, and what a question adds to them. qa.cpp scores each predicted
// answer with score_answer() and adds it with measure_question(); the host's reducers compute the values.
// Runs store the names of measures, so these never change.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/measure.hpp>
#include <encore/statistics.hpp>

namespace encore::qa {

/// Returns exact match and F1 as the evaluation scripts of SQuAD count them: means over questions.
std::vector<Measure> measures();

struct AnswerScore {
  double exact = 0.0, f1 = 0.0;  ///< in [0, 1]
};

/// Scores an answer by the rules of evaluate-v1.1.py or, with `no_answer`, of evaluate-v2.0.py: exact match
/// and F1 of words, the best over the true answers. A missing truth or prediction is the empty text. It
/// matches itself exactly in both versions; the F1 is then 1 in 2.0 and 0 in 1.1.
AnswerScore score_answer(std::string_view predicted, std::span<const std::string> truths, bool no_answer);

/// Adds the next example to `statistics`. `key` separates questions with and without an answer.
void measure_question(const AnswerScore& score, std::string_view key, Statistics& statistics);

/// Returns an answer as the words that the scripts of SQuAD compare (normalize_answer in evaluate-v1.1.py and
/// evaluate-v2.0.py), by which score_answer() compares; the result must stay theirs (normal_answer.cpp).
/// It is the text in lower case, without ASCII punctuation and the words a, an, the, separated by white
/// space. Lower case, words and white space are those of Python's str and re; invalid UTF-8 becomes U+FFFD.
std::vector<std::string> normal_words(std::string_view answer);

}  // namespace encore::qa
