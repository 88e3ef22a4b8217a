// A small set of questions in SQuAD format for tests: each asks who went to a place, and the answer stands in
// the context, early or late.
#pragma once

#include <string>

namespace encore::testing {

/// Returns questions first .. first + count - 1. Every context belongs to one article; some are longer than
/// 16 words.
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
