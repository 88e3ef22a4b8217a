// SPDX-License-Identifier: BSD-3-Clause
// The task "multilabel": encodes a list of labels as a 0 or 1 for each label of the training set, and turns
// probabilities into lists of labels and counts. Trainer and inference call it through Task; runs store
// knowledge(), tuned thresholds and the names of measures, so their forms must not change. Read
// multilabel.hpp first.
#include "multilabel.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "label_scores.hpp"
#include "measures.hpp"
#include "window_shares.hpp"

namespace encore::multilabel {
namespace {

/// The columns of an example, in the order of Multilabel::columns(); those of TextInput come last.
enum : std::size_t { targets, known, truth, of_texts };

constexpr const char* scores_output = "scores";

/// Throws Error if the text cannot name a label.
const std::string& checked(const std::string& label) {
  if (label.empty()) throw Error("a label is empty; leave it out of its list");
  if (label.find('\n') != std::string::npos)
    throw Error("the label \"" + label + "\" has a line break in it");
  return label;
}

std::string rounded(float probability) {
  char text[16];
  std::snprintf(text, sizeof(text), "%.2f", static_cast<double>(probability));
  return text;
}

}  // namespace

Schema Multilabel::options() {
  return tasks::TextInput::with_options({})
      .number("threshold", 0.5,
              {.help = "a text gets the labels whose probability is above this number",
               .min = 0.0,
               .max = 1.0,
               .exclusive_max = true})
      .boolean("tune_thresholds", false,
               {.help = "use for each label the threshold with the best F1 on the development set, chosen "
                        "again at each evaluation; labels that the development set lacks keep threshold"});
}

Multilabel::Multilabel(const Options& options, const TaskContext& context)
    : threshold_(static_cast<float>(options.number("threshold"))),
      tunes_(options.flag("tune_thresholds")),
      texts_(options, context.max_length) {}

std::vector<Measure> Multilabel::measures() {
  return multilabel::measures();
}

// --- what the training set decides ---

void Multilabel::prepare(const Records& train) {
  std::set<std::string> labels;
  for (const std::vector<std::string>& list : train.lists("labels"))
    for (const std::string& label : list) labels.insert(checked(label));
  if (labels.empty())
    throw Error(train.size() == 0 ? "the training set has no text to learn from"
                                  : "no text of the training set has a label, so there is nothing to learn");
  names_ = tasks::LabelNames({labels.begin(), labels.end()});
  texts_.prepare(train);
}

void Multilabel::extend(const Records& other) {
  texts_.require_texts(other);
  for (const std::vector<std::string>& list : other.lists("labels"))
    for (const std::string& label : list) names_.add(checked(label));
}

void Multilabel::restore(std::string_view knowledge) {
  names_ = tasks::LabelNames::from_text(texts_.take_mark(knowledge));
}

// --- encoding ---

std::vector<ColumnRule> Multilabel::columns() const {
  std::vector<ColumnRule> columns = {
      {.name = targets_column,
       .space = Space::sequences,
       .type = ColumnType::numbers,
       .truth = true,
       .width = static_cast<std::int64_t>(names_.labels().size())},
      {.name = "known", .space = Space::sequences, .truth = true},  // 0: the example has targets
      {.name = "truth",
       .space = Space::ragged,
       .truth = true}};  // numbers of all labels, also those that training lacks
  texts_.add_columns(columns);
  return columns;
}

std::vector<OutputRule> Multilabel::outputs() const {
  return {{.name = scores_output,
           .space = Space::sequences,
           .type = ColumnType::numbers,
           .width = static_cast<std::int64_t>(names_.labels().size()),
           .truth = targets_column}};
}

void Multilabel::encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
                        EncodedExample& to) const {
  const bool has_labels = records.has("labels");
  std::set<std::int32_t> numbers;
  if (has_labels)
    for (const std::string& label : records.lists("labels")[record]) numbers.insert(names_.number(label));
  texts_.encode(records, record, tokenizer, to, of_texts, [&] {
    if (!has_labels) return;
    std::vector<float>& wanted = to.numbers(targets);
    const std::size_t begin = wanted.size();
    wanted.resize(begin + names_.labels().size(), 0.0F);
    for (const std::int32_t number : numbers) {
      to.integers(truth).push_back(number);
      if (names_.is_label(number)) wanted[begin + static_cast<std::size_t>(number)] = 1.0F;
    }
    to.integers(known).push_back(0);
  });
}

SetDescription Multilabel::describe(const ExampleSet& set) const {
  std::map<std::int32_t, std::int64_t> texts;  // by label; empty if the truth is unknown
  std::int64_t given = 0, without = 0, unseen = 0;
  for (std::size_t i = 0; i < set.size() && set.has_column("truth"); ++i) {
    const auto numbers = set.integers(set.column("truth"), tasks::first_window(set, i));
    for (const std::int32_t number : numbers) {
      ++texts[number];
      unseen += names_.is_label(number) ? 0 : 1;
    }
    given += static_cast<std::int64_t>(numbers.size());
    without += numbers.empty() ? 1 : 0;
  }
  SetDescription description;
  description.counts = {{"labels", static_cast<std::int64_t>(texts.size())},
                        {"labels of texts", given},
                        {"texts without a label", without}};
  const std::string all = counted(static_cast<std::int64_t>(set.size()), "example", "examples");
  const auto most = std::ranges::max_element(texts, {}, [](const auto& each) { return each.second; });
  if (texts.size() > 1)
    description.notes.push_back("the most frequent label, \"" + names_.name(most->first) +
                                "\", is given to " + std::to_string(most->second) + " of " + all);
  texts_.describe(set, description);
  description.counts.emplace_back("labels of texts that training lacks", unseen);
  for (const auto& [number, count] : texts)
    if (!names_.is_label(number))
      description.notes.push_back("the label \"" + names_.name(number) + "\" of " +
                                  counted(count, "example", "examples") +
                                  " is not in the training set; it always counts as missed");
  return description;
}

// --- measures and labels ---

void Multilabel::measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const {
  const std::vector<std::string> labels = names_.labels();
  const std::size_t truths = set.column("truth");
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::vector<float> scores = scores_of(set, outputs, i);
    Labelling text{.predicted = above_thresholds(scores), .scores = scores};
    for (const std::int32_t number : set.integers(truths, tasks::first_window(set, i)))
      text.truth.push_back(names_.name(number));
    measure_text(labels, text, statistics);
  }
}

Records Multilabel::label(const Records&, const ExampleSet& set, const Outputs& outputs) const {
  Records::TextLists lists;
  for (std::size_t i = 0; i < set.size(); ++i) lists.push_back(above_thresholds(scores_of(set, outputs, i)));
  Records labelled;
  labelled.add("labels", std::move(lists));
  return labelled;
}

// --- what the development set decides ---

std::string Multilabel::tune(const ExampleSet& dev, const Outputs& outputs) const {
  if (!tunes_) return "";
  const std::vector<std::string> labels = names_.labels();
  const std::size_t wanted = dev.column(targets_column);
  std::vector<std::vector<float>> scores;  // by text, then by label
  for (std::size_t i = 0; i < dev.size(); ++i) scores.push_back(scores_of(dev, outputs, i));
  std::vector<float> thresholds;
  for (std::size_t k = 0; k < labels.size(); ++k) {
    std::vector<Judged> texts;
    for (std::size_t i = 0; i < dev.size(); ++i)
      texts.emplace_back(scores[i][k], dev.numbers(wanted, tasks::first_window(dev, i))[k] > 0.5F);
    thresholds.push_back(best_threshold(std::move(texts), threshold_));
  }
  return thresholds_text(thresholds, labels);
}

void Multilabel::use(std::string_view tuned) {
  if (tuned.empty())
    tuned_.clear();
  else
    tuned_ = thresholds_from_text(tuned, names_.labels());
}

// --- text that a user types ---

Records Multilabel::answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const {
  Records answers = label(records, set, outputs);
  const std::vector<std::string> labels = names_.labels();
  Records::Texts shown;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::vector<float> scores = scores_of(set, outputs, i);
    std::string line;
    for (std::size_t k = 0; k < labels.size(); ++k)
      if (scores[k] > threshold_of(k))
        line += (line.empty() ? "" : ", ") + labels[k] + " " + rounded(scores[k]);
    shown.push_back((line.empty() ? "-" : line) + "\t" + texts_.shown(records, i));
  }
  texts_.add_texts(records, answers);
  answers.add("shown", std::move(shown));
  return answers;
}

Records Multilabel::scored_answer(const Records& records, const ExampleSet& set,
                                  const Outputs& outputs) const {
  Records answers = answer(records, set, outputs);
  const std::vector<std::string> labels = names_.labels();
  Records::NumberLists given;
  Records::NumberMaps all;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::vector<float> scores = scores_of(set, outputs, i);
    given.emplace_back();
    for (std::size_t k = 0; k < labels.size(); ++k)
      if (scores[k] > threshold_of(k)) given.back().push_back(static_cast<double>(scores[k]));
    all.push_back(tasks::scores_by_label<float>(labels, scores));
  }
  answers.add("score", std::move(given));
  answers.add("scores", std::move(all));
  return answers;
}

std::string Multilabel::left_out(const ExampleSet& set, std::size_t example) const {
  return texts_.left_out(set, example, "what labels it gets");
}

std::vector<float> Multilabel::scores_of(const ExampleSet& set, const Outputs& outputs, std::size_t example) {
  const Run windows = set.sequences(example);
  const auto of_window = [&](std::size_t sequence) { return outputs.numbers(scores_output, set, sequence); };
  const std::span<const float> first = of_window(windows.first);
  std::vector<float> scores(first.begin(), first.end());
  for (std::size_t s = windows.first + 1; s < windows.first + windows.count; ++s)
    for (std::size_t k = 0; k < scores.size(); ++k) scores[k] = std::max(scores[k], of_window(s)[k]);
  return scores;
}

std::vector<std::string> Multilabel::above_thresholds(std::span<const float> scores) const {
  std::vector<std::string> labels;
  for (std::size_t k = 0; k < scores.size(); ++k)
    if (scores[k] > threshold_of(k)) labels.push_back(names_.name(static_cast<std::int32_t>(k)));
  return labels;
}

}  // namespace encore::multilabel
