// SPDX-License-Identifier: BSD-3-Clause
// Makes labels of words from the true ones, with some mistakes, and spans from these labels. Mistakes and
// probabilities follow from a hash of the words, so they are equal on every machine. step_samples.cpp calls
// it. Read word_label_samples.hpp first.
#include "contract/word_label_samples.hpp"

#include <algorithm>
#include <cstdint>

namespace encore::contract {
namespace {

/// A number in [0, 1) that follows from a text.
double share_of(const std::string& text) {
  std::uint64_t state = 14695981039346656037ULL;
  for (const char letter : text)
    state = (state ^ static_cast<unsigned char>(letter)) * 1099511628211ULL;  // FNV-1a
  state = (state ^ (state >> 30U)) * 0xBF58476D1CE4E5B9ULL;                   // mixed as in SplitMix64
  state = (state ^ (state >> 27U)) * 0x94D049BB133111EBULL;
  return static_cast<double>((state ^ (state >> 31U)) >> 11U) * 0x1.0p-53;
}

/// The words of one record with their labels and the probabilities of these.
struct Labelled {
  std::string text;
  std::vector<std::string> tags;
  std::vector<double> scores;
  std::vector<TextSpan> spans;
};

std::int64_t code_points(const std::string& word) {
  return std::ranges::count_if(word, [](char byte) { return (byte & 0xC0) != 0x80; });
}

Labelled labelled(const std::vector<std::string>& words, const std::vector<std::string>* truth,
                  const std::string& key) {
  Labelled answer;
  std::int64_t point = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const double draw = share_of(key + " " + std::to_string(i) + " " + words[i]);
    const std::string tag = draw < 0.9 && truth != nullptr ? (*truth)[i] : draw < 0.95 ? "O" : "B-PER";
    answer.tags.push_back(tag);
    answer.scores.push_back(0.5 + 0.5 * share_of(words[i] + key));
    const std::int64_t start = i == 0 ? 0 : point + 1;
    point = start + code_points(words[i]);
    answer.text += (i == 0 ? "" : " ") + words[i];
    if (tag == "O") continue;
    const double score = answer.scores.back();
    const std::string label = tag.substr(2);
    const bool continues = tag[0] == 'I' && !answer.spans.empty() && answer.spans.back().label == label &&
                           answer.spans.back().end + 1 == start;
    if (!continues) {
      answer.spans.push_back({.label = label,
                              .text = words[i],
                              .start = start,
                              .end = point,
                              .score = score,
                              .least_score = score});
      continue;
    }
    TextSpan& span = answer.spans.back();
    span.text += " " + words[i];
    span.end = point;
    span.least_score = std::min(*span.least_score, score);
  }
  return answer;
}

}  // namespace

bool reads_word_labels(const std::vector<std::string>& fields) {
  const auto reads = [&](const char* end) {
    return std::ranges::any_of(fields, [&](const std::string& field) { return field.ends_with(end); });
  };
  return std::ranges::find(fields, "words") != fields.end() && (reads(".tags") || reads(".entities"));
}

std::optional<Records::Values> word_label_values(const std::string& field, const Records& records,
                                                 const std::string& set) {
  const Records::TextLists& words = records.lists("words");
  const Records::TextLists* truth = records.has("tags") ? &records.lists("tags") : nullptr;
  Records::Texts texts;
  Records::TextLists tags;
  Records::NumberLists scores;
  Records::SpanLists spans;
  for (std::size_t i = 0; i < words.size(); ++i) {
    Labelled answer =
        labelled(words[i], truth == nullptr ? nullptr : &(*truth)[i], set + " " + std::to_string(i));
    texts.push_back(std::move(answer.text));
    tags.push_back(std::move(answer.tags));
    scores.push_back(std::move(answer.scores));
    spans.push_back(std::move(answer.spans));
  }
  if (field == "text") return texts;
  if (field == "tags") return tags;
  if (field == "score") return scores;
  if (field == "entities") return spans;
  return std::nullopt;
}

}  // namespace encore::contract
