// SPDX-License-Identifier: BSD-3-Clause
// The task "tag": uses the labels of words as they are in the data, and counts correct words. Trainer and
// inference call it through Task; runs store knowledge() and the names of measures, so these must not change.
// Read tag.hpp first.
#include "tag.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "class_measures.hpp"
#include "label_scores.hpp"
#include "line_text.hpp"

namespace encore::tag {
namespace {

using tasks::WordLabels;

/// The predicted label of a word that was cut. The data never contain it, so the word counts as wrong.
const std::string cut_label = "(cut)";

/// Throws Error if the text cannot name a class.
const std::string& checked(const std::string& label) {
  if (label.empty()) throw Error("a label is empty; every word needs a label");
  if (label.find('\n') != std::string::npos)
    throw Error("the label \"" + label + "\" has a line break in it");
  return label;
}

/// Returns the text of each record. Records of a file have only words, which are then joined by one blank.
Records::Texts texts_of(const Records& records) {
  if (records.has("text")) return records.texts("text");
  Records::Texts texts(records.size());
  for (std::size_t i = 0; i < texts.size(); ++i) tasks::join_words(records.lists("words")[i], texts[i]);
  return texts;
}

}  // namespace

Tag::Tag(const Options& options, const TaskContext& context)
    : max_length_(context.max_length), words_(options, context, cut_label) {}

std::vector<Measure> Tag::measures() {
  return tasks::class_measures("words");
}

// --- what the training set decides ---

void Tag::prepare(const Records& train) {
  std::set<std::string> labels;
  for (const std::vector<std::string>& sentence : train.lists("tags"))
    for (const std::string& label : sentence) labels.insert(checked(label));
  if (labels.size() < 2)
    throw Error(labels.empty() ? "the training set has no words to learn from"
                               : "all words of the training set have the label \"" + *labels.begin() +
                                     "\"; there is nothing to learn");
  words_.prepare({labels.begin(), labels.end()}, train);
}

void Tag::extend(const Records& other) {
  for (const std::vector<std::string>& sentence : other.lists("tags"))
    for (const std::string& label : sentence) words_.add(checked(label));
}

SetDescription Tag::describe(const ExampleSet& set) const {
  const WordLabels::Columns in(set);
  std::map<std::int32_t, std::int64_t> words;  // by label; empty if the truth is unknown
  std::int64_t all = 0, cut_sentences = 0, cut = 0, unseen = 0;
  for (std::size_t i = 0; i < set.size(); ++i) {
    all += static_cast<std::int64_t>(in.read_words(i)) + in.cut_words(i);
    for (const std::int32_t label : in.tags(i)) ++words[label];
    cut_sentences += in.cut_words(i) > 0 ? 1 : 0;
    cut += in.cut_words(i);
  }
  SetDescription description;
  std::vector<std::string>& notes = description.notes;
  const auto most = std::ranges::max_element(words, {}, [](const auto& each) { return each.second; });
  if (words.size() > 1)
    notes.push_back("the most frequent label, \"" + words_.names().name(most->first) + "\", is that of " +
                    std::to_string(most->second) + " of " + counted(all, "word", "words"));
  if (cut > 0)
    notes.push_back(std::to_string(cut_sentences) + " of " +
                    counted(static_cast<std::int64_t>(set.size()), "sentence", "sentences") +
                    " are longer than max_length = " + std::to_string(max_length_) + ": " +
                    counted(cut, "word is", "words are") + " cut and counted as wrong");
  for (const auto& [label, count] : words) {
    if (words_.names().is_label(label)) continue;
    unseen += count;
    notes.push_back("the label \"" + words_.names().name(label) + "\" of " + counted(count, "word", "words") +
                    " is not in the training set; it always counts as wrong");
  }
  description.counts = {{"words", all},
                        {"labels", std::ssize(words)},
                        {"cut sentences", cut_sentences},
                        {"cut words", cut},
                        {"words with labels not in training", unseen}};
  if (const std::int64_t windowed = in.windowed(); windowed > 0)
    description.counts.emplace_back("sentences in windows", windowed);
  return description;
}

// --- measures and labels ---

void Tag::measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const {
  const WordLabels::Columns in(set);
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::vector<std::string> truth = words_.true_labels(in, i),
                                   predicted = words_.predicted_labels(in, i, outputs);
    std::map<std::pair<std::string_view, std::string_view>, std::int64_t> pairs;
    for (std::size_t word = 0; word < truth.size(); ++word) ++pairs[{truth[word], predicted[word]}];
    statistics.begin_example();
    for (const auto& [pair, count] : pairs) tasks::add_class(pair.first, pair.second, count, statistics);
  }
}

Records Tag::label(const Records&, const ExampleSet& set, const Outputs& outputs) const {
  Records labelled;
  labelled.add("tags", words_.all_predicted(set, outputs));
  return labelled;
}

// --- text that a user types ---

/// Returns answers whose line for a user is "Anna/NOUN sleeps/VERB".
Records Tag::answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const {
  const Records::TextLists& words = records.lists("words");
  Records::TextLists tags = words_.all_predicted(set, outputs);
  Records::Texts shown(words.size());
  for (std::size_t i = 0; i < words.size(); ++i)
    for (std::size_t word = 0; word < words[i].size(); ++word)
      shown[i] += (word > 0 ? " " : "") + words[i][word] + "/" + tags[i][word];
  Records answers;
  answers.add("text", texts_of(records));
  answers.add("words", words);
  answers.add("tags", std::move(tags));
  answers.add("shown", std::move(shown));
  return answers;
}

/// Returns answers whose line for a user is "Anna/NOUN/0.981 sleeps/VERB/0.964".
Records Tag::scored_answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const {
  const WordLabels::Columns in(set);
  const Records::TextLists& words = records.lists("words");
  Records::TextLists tags = words_.all_predicted(set, outputs);
  Records::Texts shown(words.size());
  Records::NumberLists predicted;
  Records::NumberMapLists all;
  for (std::size_t i = 0; i < words.size(); ++i) {
    WordLabels::Scores scores = words_.scores(in, i, outputs);
    for (std::size_t word = 0; word < words[i].size(); ++word)
      shown[i] += (word > 0 ? " " : "") + words[i][word] + "/" + tags[i][word] + "/" +
                  tasks::score_text(scores.predicted[word]);
    predicted.push_back(std::move(scores.predicted));
    all.push_back(std::move(scores.all));
  }
  Records answers;
  answers.add("text", texts_of(records));
  answers.add("words", words);
  answers.add("tags", std::move(tags));
  answers.add("score", std::move(predicted));
  answers.add("scores", std::move(all));
  answers.add("shown", std::move(shown));
  return answers;
}

}  // namespace encore::tag
