// SPDX-License-Identifier: BSD-3-Clause
// The second half of the task "mlm": Mlm::measure, label and answer, which turn the head's predictions for
// masked rows into measures, and into answers for a user. Trainer and inference call them through Task after
// each evaluation or prediction. Runs store the names in measure(), so these never change. The first half,
// which encodes records, is mlm.cpp. Read mlm.hpp first.
#include <charconv>

#include "mlm.hpp"
#include "next_text.hpp"

namespace encore::mlm {
namespace {

/// Returns the number as "0.412".
std::string fixed(float value) {
  char digits[32];
  const auto written = std::to_chars(digits, digits + sizeof(digits), value, std::chars_format::fixed, 3);
  return {digits, written.ptr};
}

/// The sums over one example from which the measures are computed.
struct Guesses {
  double masked = 0.0, correct = 0.0, loss = 0.0;
};

Guesses guesses_of(const ExampleSet& set, const Outputs& outputs, std::size_t example) {
  const auto width = static_cast<std::size_t>(outputs.get(Mlm::candidates_output).rule.width);
  const Run of = set.sequences(example);
  Guesses guesses;
  for (std::size_t s = of.first; s < of.first + of.count; ++s) {
    const std::span<const std::int32_t> truth = set.integers(Mlm::targets, s),          // (M)
        best = outputs.integers(Mlm::candidates_output, set, s);                        // (M, width)
    const std::span<const float> losses = outputs.numbers(Mlm::losses_output, set, s);  // (M)
    for (std::size_t m = 0; m < truth.size(); ++m) {
      if (truth[m] == no_target) continue;
      guesses.masked += 1.0;
      guesses.correct += best[m * width] == truth[m] ? 1.0 : 0.0;
      guesses.loss += static_cast<double>(losses[m]);
    }
  }
  return guesses;
}

}  // namespace

// --- measures ---

void Mlm::measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const {
  for (std::size_t i = 0; i < set.size(); ++i) {
    const Guesses guesses = guesses_of(set, outputs, i);
    statistics.begin_example();
    statistics.add("masked", guesses.masked);
    statistics.add("correct", guesses.correct);
    statistics.add("loss", guesses.loss);
    if (next_sentence_) measure_pairs(set, outputs, i, statistics);
  }
}

void Mlm::measure_pairs(const ExampleSet& set, const Outputs& outputs, std::size_t example,
                        Statistics& statistics) const {
  double pairs = 0.0, correct = 0.0;
  const Run of = set.sequences(example);
  for (std::size_t s = of.first; s < of.first + of.count; ++s) {
    const std::int32_t next = set.integers(next_column(), s).front();
    if (next == no_target) continue;
    pairs += 1.0;
    correct += outputs.integers(next_output, set, s).front() == next ? 1.0 : 0.0;
  }
  statistics.add("pairs", pairs);
  statistics.add("next_correct", correct);
}

Records Mlm::label(const Records&, const ExampleSet& set, const Outputs& outputs) const {
  Records::Numbers shares;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const Guesses guesses = guesses_of(set, outputs, i);
    shares.push_back(guesses.masked > 0.0 ? guesses.correct / guesses.masked : 0.0);
  }
  Records labelled;
  labelled.add("correct", std::move(shares));
  return labelled;
}

// --- text that a user types ---

Records Mlm::from_text(std::span<const std::string> lines) const {
  Records records;
  records.add("text", Records::Texts(lines.begin(), lines.end()));
  records.add(typed_field, Records::Numbers(lines.size(), 1.0));
  return records;
}

void Mlm::remember_names(const Tokenizer& tokenizer) const {
  const std::span<const std::string> vocabulary = tokenizer.vocabulary();
  const std::lock_guard lock(mutex_);
  if (names_.size() == vocabulary.size()) return;
  names_.assign(vocabulary.begin(), vocabulary.end());
  mask_name_ = names_[static_cast<std::size_t>(tokenizer.special(Special::mask))];
}

std::string Mlm::name(std::int32_t token) const {
  if (token < 0 || static_cast<std::size_t>(token) >= names_.size())
    throw Error("the head names token " + std::to_string(token) + ", and the vocabulary has " +
                std::to_string(names_.size()));
  return names_[static_cast<std::size_t>(token)];
}

Records Mlm::answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const {
  const auto width = static_cast<std::size_t>(outputs.get(candidates_output).rule.width);
  Records::TextLists masks, candidates;
  Records::Texts shown, next;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::string& text = records.texts("text")[i];
    if (next_sentence_) {
      const bool is_pair = text.find('\t') != std::string::npos;
      const std::int32_t said = outputs.integers(next_output, set, set.sequences(i).first).front();
      next.emplace_back(!is_pair ? "" : said == follows ? "yes" : "no");
    }
    masks.emplace_back();
    candidates.emplace_back();
    const Run of = set.sequences(i);
    for (std::size_t s = of.first; s < of.first + of.count; ++s) {
      const std::span<const std::int32_t> best = outputs.integers(candidates_output, set, s);  // (M, width)
      const std::span<const float> shares = outputs.numbers(probabilities_output, set, s);     // (M, width)
      for (std::size_t m = 0; m * width < best.size(); ++m) {
        masks.back().push_back(name(best[m * width]));
        std::string list;
        for (std::size_t k = m * width; k < (m + 1) * width; ++k)
          list += (list.empty() ? "" : " ") + name(best[k]) + " " + fixed(shares[k]);
        candidates.back().push_back(std::move(list));
      }
    }
    std::string line;
    for (const std::string& list : candidates.back()) line += (line.empty() ? "" : " | ") + list;
    if (line.empty()) line = "no " + mask_name_;
    if (next_sentence_ && !next.back().empty())
      line += next.back() == "yes" ? " | follows" : " | does not follow";
    shown.push_back(line + "\t" + text);
  }
  Records answers;
  answers.add("text", records.texts("text"));
  answers.add("masks", std::move(masks));
  answers.add("candidates", std::move(candidates));
  if (next_sentence_) answers.add("follows", std::move(next));
  answers.add("shown", std::move(shown));
  return answers;
}

}  // namespace encore::mlm
