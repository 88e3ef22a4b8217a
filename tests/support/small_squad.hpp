// SPDX-License-Identifier: BSD-3-Clause
// small_squad(): a small set of questions in SQuAD format, which a model learns within a test: each question
// asks who went or where to, and the answer is in the context, early or late. Tests of the task "qa" use it
// (unit/train/qa_run_test.cpp and system/control).
#pragma once

#include <string>

namespace encore::testing {

/// Returns a file with the questions `first` to `first` + `count` - 1, all in one article. Some contexts are
/// longer than 16 words, so that they need several windows.
inline std::string small_squad(int first, int count) {
  const char *names[] = {"Anna", "Bo", "Cleo", "Dan", "Eva"}, *places[] = {"Lund", "Oslo", "Rome", "Bern"};
  std::string paragraphs;
  for (int i = first; i < first + count; ++i) {
    const std::string name = names[i % 5], place = places[i % 4];
    std::string context;
    for (int k = 0; k < i % 7; ++k) context += "then the day was long . ";
    const std::size_t name_at = context.size();
    context += name + " went to ";
    const std::size_t place_at = context.size();
    context += place + " .";
    for (int k = 0; k < i % 3; ++k) context += " it was late .";
    const bool who = i / 4 % 2 == 0;
    paragraphs += std::string(i == first ? "" : ", ") + R"({"context": ")" + context +
                  R"(", "qas": [{"id": "q)" + std::to_string(i) + R"(", "question": ")" +
                  (who ? "who went ?" : "where to ?") + R"(", "answers": [{"text": ")" +
                  (who ? name : place) + R"(", "answer_start": )" + std::to_string(who ? name_at : place_at) +
                  "}]}]}";
  }
  return R"({"version": "1.1", "data": [{"title": "Journeys", "paragraphs": [)" + paragraphs + "]}]}\n";
}

}  // namespace encore::testing
