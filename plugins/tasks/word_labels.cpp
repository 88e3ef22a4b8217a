// SPDX-License-Identifier: BSD-3-Clause
// WordLabels: encodes the words of a sentence as rows, and turns the classes of rows into labels of words.
// ner/ner.cpp and tag/tag.cpp call it; runs store knowledge(), so its form must not change. Read
// word_labels.hpp first.
#include "word_labels.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "label_scores.hpp"
#include "line_text.hpp"

namespace encore::tasks {
namespace {

/// The columns of an example, in the order of WordLabels::columns().
enum : std::size_t { targets, labelled, first_tokens, tags, cut_words, weights };

}  // namespace

/// A sentence with its tokens.
struct WordLabels::Sentence {
  std::vector<std::int32_t> tokens;                 ///< of the words that are read, one after the other
  std::vector<std::size_t> counts;                  ///< number of tokens of each of these words
  std::vector<std::size_t> begins;                  ///< first token of each of these words
  std::size_t words = 0;                            ///< read or cut
  const std::vector<std::string>* truth = nullptr;  ///< of all words; null: unknown

  std::size_t cut() const { return words - counts.size(); }
};

std::vector<WordWindow> windows_of(std::span<const std::size_t> tokens, std::size_t room,
                                   std::size_t stride) {
  std::vector<WordWindow> windows;
  for (std::size_t first = 0;;) {
    std::size_t end = first, used = 0;
    while (end < tokens.size() && (end == first || used + tokens[end] <= room)) used += tokens[end++];
    const std::size_t own_first = windows.empty() ? 0 : windows.back().own_end;
    windows.push_back({.first = first, .end = end, .own_first = own_first, .own_end = end});
    if (end == tokens.size()) return windows;
    std::size_t next = end, shared = 0;
    const std::size_t most = std::min(stride, room - std::min(room, tokens[end]));
    while (next > first + 1 && shared + tokens[next - 1] <= most) shared += tokens[--next];
    windows.back().own_end = next + (end - next + 1) / 2;
    first = next;
  }
}

Schema WordLabels::with_options(Schema schema) {
  return ClassWeights::with_options(std::move(schema))
      .integer("stride", 0,
               {.help = "a sentence that is too long for data.max_length is read in windows, which share at "
                        "most this number of tokens; 0: it is cut at its end",
                .unit = "tokens",
                .min = 0,
                .max = 1048576});
}

WordLabels::WordLabels(const Options& options, const TaskContext& context, std::string cut_label)
    : max_length_(context.max_length),
      stride_(static_cast<std::size_t>(options.integer("stride"))),
      cut_label_(std::move(cut_label)),
      weights_(options) {
  ENCORE_REQUIRE(max_length_ >= 3, "max_length must leave room for the two markers and one token");
  if (static_cast<std::int64_t>(stride_) >= max_length_ - 2)
    throw OptionError("stride", "stride = " + std::to_string(stride_) +
                                    ", but with data.max_length = " + std::to_string(max_length_) +
                                    " a window has " + std::to_string(max_length_ - 2) +
                                    " tokens of the sentence: expected a smaller stride");
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
  const auto room = static_cast<std::size_t>(max_length_ - 2);
  Sentence sentence;
  sentence.words = words.size();
  if (records.has("tags")) {
    sentence.truth = &records.lists("tags")[record];
    if (sentence.truth->size() != words.size())
      throw Error(counted(std::ssize(words), "word has", "words have") + " " +
                  counted(std::ssize(*sentence.truth), "tag", "tags"));
  }
  for (const std::string& word : words) {
    const std::size_t begin = sentence.tokens.size();
    tokenizer.encode(word, sentence.tokens);
    if (sentence.tokens.size() == begin) sentence.tokens.push_back(tokenizer.special(Special::unknown));
    if (stride_ == 0 && sentence.tokens.size() > room) {
      sentence.tokens.resize(begin);
      break;
    }
    sentence.tokens.resize(std::min(sentence.tokens.size(), begin + room));
    sentence.begins.push_back(begin);
    sentence.counts.push_back(sentence.tokens.size() - begin);
  }
  const std::vector<WordWindow> windows = windows_of(sentence.counts, room, stride_);
  for (const WordWindow& window : windows) {
    encode_window(sentence, window, tokenizer, to);
    if (windows.size() > 1) to.end_sequence();
  }
}

void WordLabels::encode_window(const Sentence& sentence, const WordWindow& window, const Tokenizer& tokenizer,
                               EncodedExample& to) const {
  const std::size_t begin = to.ids.size();
  std::vector<std::size_t> rows;  // of the words that have their labels here
  to.ids.push_back(tokenizer.special(Special::start));
  for (std::size_t word = window.first; word < window.end; ++word) {
    if (word >= window.own_first && word < window.own_end) rows.push_back(to.ids.size());
    const auto first = sentence.tokens.begin() + static_cast<std::ptrdiff_t>(sentence.begins[word]);
    to.ids.insert(to.ids.end(), first, first + static_cast<std::ptrdiff_t>(sentence.counts[word]));
  }
  to.ids.push_back(tokenizer.special(Special::end));
  to.integers(cut_words).push_back(static_cast<std::int32_t>(sentence.cut()));
  to.integers(labelled).resize(to.ids.size(), no_target);
  for (const std::size_t row : rows) {
    to.integers(first_tokens).push_back(static_cast<std::int32_t>(row - begin));
    to.integers(labelled)[row] = 0;
  }
  if (sentence.truth == nullptr) return;
  std::vector<std::int32_t>& wanted = to.integers(targets);
  wanted.resize(to.ids.size(), no_target);
  for (std::size_t word = window.own_first; word < window.own_end + sentence.cut(); ++word) {
    const std::int32_t tag = names_.number((*sentence.truth)[word]);
    to.integers(tags).push_back(tag);
    if (word < window.own_end && names_.is_label(tag)) wanted[rows[word - window.own_first]] = tag;
  }
  if (weights_.on())
    for (std::size_t row = begin; row < to.ids.size(); ++row)
      to.numbers(weights).push_back(weights_.of(wanted[row]));
}

// --- outputs to labels ---

std::vector<std::int32_t> WordLabels::Columns::tags(std::size_t example) const {
  std::vector<std::int32_t> all;
  const Run windows = set_.sequences(example);
  for (std::size_t s = windows.first; s < windows.first + windows.count; ++s) {
    const std::span<const std::int32_t> here = set_.integers(tags_, s);
    all.insert(all.end(), here.begin(), here.end());
  }
  return all;
}

std::size_t WordLabels::Columns::read_words(std::size_t example) const {
  std::size_t words = 0;
  const Run windows = set_.sequences(example);
  for (std::size_t s = windows.first; s < windows.first + windows.count; ++s) words += first_tokens(s).size();
  return words;
}

std::int64_t WordLabels::Columns::windowed() const {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < set_.size(); ++i) count += set_.sequences(i).count > 1 ? 1 : 0;
  return count;
}

std::vector<std::string> WordLabels::true_labels(const Columns& in, std::size_t example) const {
  std::vector<std::string> labels;
  for (const std::int32_t tag : in.tags(example)) labels.push_back(names_.name(tag));
  return labels;
}

std::vector<std::string> WordLabels::predicted_labels(const Columns& in, std::size_t example,
                                                      const Outputs& outputs) const {
  std::vector<std::string> labels;
  const Run windows = in.set().sequences(example);
  for (std::size_t s = windows.first; s < windows.first + windows.count; ++s) {
    const std::span<const std::int32_t> classes = outputs.integers(classes_output, in.set(), s);
    for (const std::int32_t row : in.first_tokens(s))
      labels.push_back(names_.name(classes[static_cast<std::size_t>(row)]));
  }
  labels.resize(labels.size() + static_cast<std::size_t>(in.cut_words(example)), cut_label_);
  return labels;
}

Records::TextLists WordLabels::all_predicted(const ExampleSet& set, const Outputs& outputs) const {
  const Columns in(set);
  Records::TextLists predicted(set.size());
  for (std::size_t i = 0; i < set.size(); ++i) predicted[i] = predicted_labels(in, i, outputs);
  return predicted;
}

WordLabels::Scores WordLabels::scores(const Columns& in, std::size_t example, const Outputs& outputs) const {
  const ClassProbabilities probabilities(outputs);
  const std::vector<std::string> labels = names_.labels();
  const Run windows = in.set().sequences(example);
  Scores scores;
  for (std::size_t s = windows.first; s < windows.first + windows.count; ++s) {
    const std::span<const std::int32_t> classes = outputs.integers(classes_output, in.set(), s);
    for (const std::int32_t row : in.first_tokens(s)) {
      const auto at = static_cast<std::size_t>(row);
      const std::vector<double> of_word = probabilities.of(in.set(), s, at);
      scores.predicted.push_back(of_word[static_cast<std::size_t>(classes[at])]);
      scores.all.push_back(scores_by_label<double>(labels, of_word));
    }
  }
  const std::size_t words = scores.all.size() + static_cast<std::size_t>(in.cut_words(example));
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

std::string WordLabels::left_out(const ExampleSet& set, std::size_t example, const std::string& what) {
  const std::int32_t cut = Columns(set).cut_words(example);
  return cut == 0 ? "" : what + " its last " + counted(cut, "word", "words");
}

}  // namespace encore::tasks
