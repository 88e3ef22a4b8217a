// See ner_score.hpp.
#include "tasks/ner_score.hpp"

#include <cstdio>

namespace encore {
namespace {

const std::string outside = "O";

std::string table_row(const std::string& name, double precision, double recall, double f1,
                      const std::string& support) {
  char text[160];
  std::snprintf(text, sizeof text, "%-20s %9.2f %9.2f %9.2f %9s\n", name.c_str(), 100 * precision,
                100 * recall, 100 * f1, support.c_str());
  return text;
}

}  // namespace

double NerScore::token_accuracy() const {
  return words == 0 ? 0.0 : static_cast<double>(correct_words) / static_cast<double>(words);
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
  count_entities(truth, predicted, types_);
  confusion_.add(truth, predicted);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const std::string& guess = i < predicted.size() ? predicted[i] : outside;
    correct_words_ += guess == truth[i];
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

  score.confusion_names = confusion_.names();
  score.confusion = confusion_.counts();
  return score;
}

}  // namespace encore
