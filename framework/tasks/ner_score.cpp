// See ner_score.hpp. The rules of starts and ends are those of the conlleval script (Tjong Kim Sang,
// CoNLL-2000) as seqeval 1.2 restates them.
#include "tasks/ner_score.hpp"

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include <encore/error.hpp>

namespace encore {
namespace {

char mark_of(std::string_view tag) {
  return tag.empty() ? 'O' : tag[0];
}

/// Split at the first hyphen only: types may hold hyphens ("creative-work"). A mark alone has the type "_".
std::string_view type_of(std::string_view tag) {
  if (tag == "O" || tag.empty()) return {};
  const std::size_t hyphen = tag.find('-', 1);
  const std::string_view type = hyphen == std::string_view::npos ? tag.substr(1) : tag.substr(hyphen + 1);
  return type.empty() ? std::string_view("_") : type;
}

bool ends(char previous, std::string_view previous_type, char mark, std::string_view type) {
  if (previous == 'O') return false;
  if (previous == 'E' || previous == 'S') return true;
  return mark == 'B' || mark == 'S' || mark == 'O' || previous_type != type;
}

bool starts(char previous, std::string_view previous_type, char mark, std::string_view type) {
  if (mark == 'O') return false;
  if (mark == 'B' || mark == 'S') return true;
  return previous == 'O' || previous == 'E' || previous == 'S' || previous_type != type;
}

double ratio(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

const std::string outside = "O";

std::string confusion_name(std::string_view tag) {
  return mark_of(tag) == 'O' ? outside : std::string(type_of(tag));
}

std::string table_row(const std::string& name, double precision, double recall, double f1,
                      const std::string& support) {
  char text[160];
  std::snprintf(text, sizeof text, "%-20s %9.2f %9.2f %9.2f %9s\n", name.c_str(), 100 * precision,
                100 * recall, 100 * f1, support.c_str());
  return text;
}

}  // namespace

std::vector<NerEntity> ner_entities(std::span<const std::string> tags) {
  std::vector<NerEntity> entities;
  char previous = 'O';
  std::string_view previous_type;
  std::int64_t begin = 0;
  const auto count = static_cast<std::int64_t>(tags.size());
  for (std::int64_t i = 0; i <= count; ++i) {
    const std::string_view tag = i < count ? std::string_view(tags[static_cast<std::size_t>(i)]) : outside;
    const char mark = mark_of(tag);
    const std::string_view type = type_of(tag);
    if (ends(previous, previous_type, mark, type)) entities.push_back({std::string(previous_type), begin, i});
    if (starts(previous, previous_type, mark, type)) begin = i;
    previous = mark;
    previous_type = type;
  }
  return entities;
}

double NerCounts::precision() const {
  return ratio(correct, predicted);
}
double NerCounts::recall() const {
  return ratio(correct, truth);
}
double NerCounts::f1() const {
  const double p = precision(), r = recall();
  return p + r == 0.0 ? 0.0 : 2.0 * p * r / (p + r);
}

double NerScore::token_accuracy() const {
  return ratio(correct_words, words);
}

std::string NerScore::table() const {
  char head[160];
  std::snprintf(head, sizeof head, "%-20s %9s %9s %9s %9s\n", "type", "precision", "recall", "F1",
                "entities");
  std::string text = head;
  for (const auto& [type, counts] : types)
    text += table_row(type, counts.precision(), counts.recall(), counts.f1(), std::to_string(counts.truth));
  text += table_row("micro", micro.precision(), micro.recall(), micro.f1(), std::to_string(micro.truth));
  text += table_row("macro", macro_precision, macro_recall, macro_f1, std::to_string(micro.truth));
  return text;
}

void NerScorer::add(std::span<const std::string> truth, std::span<const std::string> predicted) {
  ENCORE_REQUIRE(predicted.size() <= truth.size(), "there are more predicted tags than words");
  const std::vector<NerEntity> expected = ner_entities(truth);
  const std::vector<NerEntity> found = ner_entities(predicted);
  for (const NerEntity& entity : expected) ++types_[entity.type].truth;
  // Both lists are in the order of the words and entities of one list never overlap, so one walk finds the
  // equal ones.
  auto candidate = expected.begin();
  for (const NerEntity& entity : found) {
    NerCounts& counts = types_[entity.type];
    ++counts.predicted;
    while (candidate != expected.end() && candidate->begin < entity.begin) ++candidate;
    if (candidate != expected.end() && *candidate == entity) ++counts.correct;
  }
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const std::string& guess = i < predicted.size() ? predicted[i] : outside;
    correct_words_ += guess == truth[i];
    ++confusion_[{confusion_name(truth[i]), confusion_name(guess)}];
  }
  words_ += static_cast<std::int64_t>(truth.size());
  cut_words_ += static_cast<std::int64_t>(truth.size() - predicted.size());
}

NerScore NerScorer::score() const {
  NerScore score;
  score.types = types_;
  score.words = words_;
  score.correct_words = correct_words_;
  score.cut_words = cut_words_;
  for (const auto& [type, counts] : types_) {
    score.micro.truth += counts.truth;
    score.micro.predicted += counts.predicted;
    score.micro.correct += counts.correct;
    score.macro_precision += counts.precision();
    score.macro_recall += counts.recall();
    score.macro_f1 += counts.f1();
  }
  const double count = types_.empty() ? 1.0 : static_cast<double>(types_.size());
  score.macro_precision /= count;
  score.macro_recall /= count;
  score.macro_f1 /= count;

  std::set<std::string> names;
  for (const auto& [pair, number] : confusion_) names.insert({pair.first, pair.second});
  names.erase(outside);
  score.confusion_names.push_back(outside);
  score.confusion_names.insert(score.confusion_names.end(), names.begin(), names.end());
  const auto index = [&](const std::string& name) {
    return static_cast<std::size_t>(
        std::find(score.confusion_names.begin(), score.confusion_names.end(), name) -
        score.confusion_names.begin());
  };
  score.confusion.assign(score.confusion_names.size(),
                         std::vector<std::int64_t>(score.confusion_names.size(), 0));
  for (const auto& [pair, number] : confusion_)
    score.confusion[index(pair.first)][index(pair.second)] = number;
  return score;
}

}  // namespace encore
