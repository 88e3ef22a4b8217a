// SPDX-License-Identifier: BSD-3-Clause
// WordLabels: encodes the words of a sentence as rows, and turns the classes of rows into labels of words.
// ner/ner.cpp and tag/tag.cpp call it; runs store knowledge(), so its form must not change. Read
// word_labels.hpp first.
#include "word_labels.hpp"

#include <unordered_map>
#include <utility>

#include "label_scores.hpp"
#include "line_text.hpp"
#include "text_words.hpp"

namespace encore::tasks {
namespace {

/// The columns of an example, in the order of WordLabels::columns().
enum : std::size_t { targets, labelled, first_tokens, tags, cut_words, weights };

}  // namespace

WordLabels::WordLabels(const Options& options, const TaskContext& context, std::string cut_label)
    : max_length_(context.max_length), cut_label_(std::move(cut_label)), weights_(options) {
  ENCORE_REQUIRE(max_length_ >= 3, "max_length must leave room for the two markers and one token");
}

// --- what the training set decides ---

void WordLabels::prepare(const std::vector<std::string>& labels, const Records& train) {
  LabelNames names(labels);
  std::vector<std::int64_t> counts(labels.size());
  if (weights_.on())
    for (const std::vector<std::string>& sentence : train.lists("tags"))
      for (const std::string& label : sentence) ++counts[static_cast<std::size_t>(names.number(label))];
  weights_.prepare(labels, counts);
  names_ = std::move(names);
}

void WordLabels::restore(std::string_view knowledge) {
  names_ = LabelNames::from_text(weights_.take_mark(knowledge));
  weights_.require_classes(names_.labels().size());
}

TextCounts WordLabels::text_counts(const Records& train) {
  // Counted in a hash table, then sorted once into a map, whose order is fixed.
  std::unordered_map<std::string_view, std::int64_t> counts;
  for (const std::vector<std::string>& sentence : train.lists("words"))
    for (const std::string& word : sentence) ++counts[word];
  return {counts.begin(), counts.end()};
}

// --- encoding ---

std::vector<ColumnRule> WordLabels::columns() const {
  std::vector<ColumnRule> columns = {
      {.name = targets_column, .truth = true},           // label of a word, on the row of its first token
      {.name = "labelled"},                              // 0 on these rows, `no_target` on others
      {.name = "first_pieces", .space = Space::ragged},  // these rows, for words that were kept
      {.name = "tags", .space = Space::ragged, .truth = true},  // number of each word's label, cut or not
      {.name = "cut_words", .space = Space::sequences}};        // number of words cut at the end
  weights_.add_column(columns, Space::tokens);
  return columns;
}

void WordLabels::encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
                        EncodedExample& to) const {
  const std::vector<std::string>& words = records.lists("words")[record];
  const std::int32_t unknown = tokenizer.special(Special::unknown);
  std::vector<std::int32_t> tokens;
  to.ids.push_back(tokenizer.special(Special::start));
  for (const std::string& word : words) {
    tokens.clear();
    tokenizer.encode(word, tokens);
    if (tokens.empty()) tokens.push_back(unknown);
    if (static_cast<std::int64_t>(to.ids.size() + tokens.size()) > max_length_ - 1) break;
    to.integers(first_tokens).push_back(static_cast<std::int32_t>(to.ids.size()));
    to.ids.insert(to.ids.end(), tokens.begin(), tokens.end());
  }
  to.ids.push_back(tokenizer.special(Special::end));
  const std::vector<std::int32_t>& rows = to.integers(first_tokens);
  to.integers(cut_words).push_back(static_cast<std::int32_t>(words.size() - rows.size()));
  to.integers(labelled).assign(to.ids.size(), no_target);
  for (const std::int32_t row : rows) to.integers(labelled)[static_cast<std::size_t>(row)] = 0;
  if (!records.has("tags")) return;
  const std::vector<std::string>& truth = records.lists("tags")[record];
  if (truth.size() != words.size())
    throw Error(counted(std::ssize(words), "word has", "words have") + " " +
                counted(std::ssize(truth), "tag", "tags"));
  for (const std::string& tag : truth) to.integers(tags).push_back(names_.number(tag));
  std::vector<std::int32_t>& wanted = to.integers(targets);
  wanted.assign(to.ids.size(), no_target);
  for (std::size_t word = 0; word < rows.size(); ++word)
    if (const std::int32_t tag = to.integers(tags)[word]; names_.is_label(tag))
      wanted[static_cast<std::size_t>(rows[word])] = tag;
  if (weights_.on())
    for (const std::int32_t target : wanted) to.numbers(weights).push_back(weights_.of(target));
}

// --- outputs to labels ---

std::vector<std::string> WordLabels::true_labels(const Columns& in, std::size_t sequence) const {
  std::vector<std::string> labels;
  for (const std::int32_t tag : in.tags(sequence)) labels.push_back(names_.name(tag));
  return labels;
}

std::vector<std::string> WordLabels::predicted_labels(const Columns& in, std::size_t sequence,
                                                      const Outputs& outputs) const {
  const std::span<const std::int32_t> classes = outputs.integers(classes_output, in.set(), sequence);
  std::vector<std::string> labels;
  for (const std::int32_t row : in.first_tokens(sequence))
    labels.push_back(names_.name(classes[static_cast<std::size_t>(row)]));
  labels.resize(labels.size() + static_cast<std::size_t>(in.cut_words(sequence)), cut_label_);
  return labels;
}

Records::TextLists WordLabels::all_predicted(const ExampleSet& set, const Outputs& outputs) const {
  const Columns in(set);
  Records::TextLists predicted(set.size());
  for (std::size_t i = 0; i < set.size(); ++i) predicted[i] = predicted_labels(in, i, outputs);
  return predicted;
}

WordLabels::Scores WordLabels::scores(const Columns& in, std::size_t sequence, const Outputs& outputs) const {
  const ClassProbabilities probabilities(outputs);
  const std::span<const std::int32_t> classes = outputs.integers(classes_output, in.set(), sequence);
  const std::vector<std::string> labels = names_.labels();
  Scores scores;
  for (const std::int32_t row : in.first_tokens(sequence)) {
    const auto at = static_cast<std::size_t>(row);
    const std::vector<double> of_word = probabilities.of(in.set(), sequence, at);
    scores.predicted.push_back(of_word[static_cast<std::size_t>(classes[at])]);
    scores.all.push_back(scores_by_label<double>(labels, of_word));
  }
  const std::size_t words = scores.all.size() + static_cast<std::size_t>(in.cut_words(sequence));
  scores.predicted.resize(words);
  scores.all.resize(words);
  return scores;
}

// --- text that a user types ---

Records WordLabels::from_text(std::span<const std::string> lines) {
  Records::TextLists words(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i)
    for (const TextWord& word : split_words(lines[i])) words[i].emplace_back(word.text);
  Records records;
  records.add("text", Records::Texts(lines.begin(), lines.end()));
  records.add("words", std::move(words));
  return records;
}

std::string WordLabels::left_out(const ExampleSet& set, std::size_t sequence, const std::string& what) {
  const std::int32_t cut = Columns(set).cut_words(sequence);
  return cut == 0 ? "" : what + " its last " + counted(cut, "word", "words");
}

}  // namespace encore::tasks
