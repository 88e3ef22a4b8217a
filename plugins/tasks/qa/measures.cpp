// SPDX-License-Identifier: BSD-3-Clause
// The measures of the task "qa", and what a question adds to them. Column names are literals of this file
// only; runs store them, so they never change. qa.cpp calls it. Read measures.hpp first.
#include "measures.hpp"

#include <algorithm>
#include <map>

namespace encore::qa {
namespace {

using Words = std::vector<std::string>;

/// Returns the number of common words. A word that occurs several times counts as the smaller of its two
/// counts.
std::size_t common(const Words& a, const Words& b) {
  std::map<std::string_view, std::size_t> counts;
  for (const std::string& word : a) ++counts[word];
  std::size_t same = 0;
  for (const std::string& word : b) {
    const auto found = counts.find(word);
    if (found == counts.end() || found->second == 0) continue;
    --found->second;
    ++same;
  }
  return same;
}

/// Returns F1 of the words. If one list is empty, version 2.0 gives 1 if both are empty, otherwise 0.
double f1_of(const Words& predicted, const Words& truth, bool no_answer) {
  if (no_answer && (predicted.empty() || truth.empty())) return predicted == truth ? 1.0 : 0.0;
  const auto same = static_cast<double>(common(predicted, truth));
  if (same == 0.0) return 0.0;
  const double precision = same / static_cast<double>(predicted.size()),
               recall = same / static_cast<double>(truth.size());
  return 2.0 * precision * recall / (precision + recall);
}

}  // namespace

std::vector<Measure> measures() {
  return {{.name = "exact_match",
           .title = "exact match",
           .help = "share of the questions whose predicted answer equals a true one, apart from case, "
                   "punctuation and articles",
           .fraction = true,
           .reducer = Reducer::ratio,
           .columns = {"exact_match", "questions"}},
          {.name = "f1",
           .title = "F1",
           .help = "F1 of the words of the predicted answer, compared with the true answer that gives the "
                   "highest F1; mean over questions",
           .fraction = true,
           .reducer = Reducer::ratio,
           .columns = {"f1", "questions"}},
          {.name = "exact_match/{kind}",
           .title = "exact match",
           .help = "with no_answer: exact match of the questions with an answer (`answerable`) or without "
                   "one (`unanswerable`)",
           .fraction = true,
           .reducer = Reducer::ratio,
           .columns = {"exact_match", "questions"},
           .always = false},
          {.name = "f1/{kind}",
           .title = "F1",
           .help = "with no_answer: F1 of the questions with an answer (`answerable`) or without one "
                   "(`unanswerable`)",
           .fraction = true,
           .reducer = Reducer::ratio,
           .columns = {"f1", "questions"},
           .always = false}};
}

AnswerScore score_answer(std::string_view predicted, std::span<const std::string> truths, bool no_answer) {
  const Words words = normal_words(predicted);
  std::vector<Words> wanted;
  for (const std::string& truth : truths) {
    Words normal = normal_words(truth);
    if (!no_answer || !normal.empty()) wanted.push_back(std::move(normal));
  }
  if (wanted.empty()) {  // no answer is right; does not occur in version 1.1
    wanted.emplace_back();
    no_answer = true;
  }
  AnswerScore best;
  for (const Words& truth : wanted) {
    best.exact = std::max(best.exact, words == truth ? 1.0 : 0.0);
    best.f1 = std::max(best.f1, f1_of(words, truth, no_answer));
  }
  return best;
}

void measure_question(const AnswerScore& score, std::string_view key, Statistics& statistics) {
  statistics.begin_example();
  statistics.add("questions", 1, key);
  statistics.add("exact_match", score.exact, key);
  statistics.add("f1", score.f1, key);
}

}  // namespace encore::qa
