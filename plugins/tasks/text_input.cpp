// SPDX-License-Identifier: BSD-3-Clause
// TextInput: encodes a text or a text pair as rows, and describes which tokens were cut. The tasks classify,
// multilabel and regress call it; results of runs depend on how a pair is cut, so it must not change. Read
// text_input.hpp first.
#include "text_input.hpp"

#include <algorithm>
#include <utility>

#include "line_text.hpp"
#include "word_counts.hpp"

namespace encore::tasks {
namespace {

// A stored name, so it stays. The column counts tokens.
constexpr const char* cut_column = "cut_pieces";

void cut(std::vector<std::int32_t>& ids, std::size_t begin, std::size_t kept) {
  ids.resize(std::min(ids.size(), begin + kept));
}

/// Throws Error unless the line is a pair, two parts with a tab between. A blank line is a pair of two empty
/// parts.
void require_pair(const std::string& line) {
  const std::ptrdiff_t tabs = std::ranges::count(line, '\t');
  if (tabs == 1 || (tabs == 0 && trimmed(line).empty())) return;
  throw Error(quoted_line(line) + " has " + counted(tabs, "tab", "tabs") +
              ", but this model reads pairs: expected two parts with a tab between");
}

}  // namespace

// Cuts the longer text first, until both are equally long; then both keep half of the room.
KeptTokens longest_first(std::size_t first, std::size_t second, std::size_t room) {
  const bool is_swapped = first > second;
  std::size_t shorter = std::min(first, second), longer = std::max(first, second);
  if (shorter + longer > room) {
    longer = std::max(shorter, room - std::min(shorter, room));
    if (shorter + longer > room) {
      shorter = room / 2;
      longer = room - shorter;
    }
  }
  return is_swapped ? KeptTokens{longer, shorter} : KeptTokens{shorter, longer};
}

TextInput::TextInput(std::int64_t max_length) : max_length_(static_cast<std::size_t>(max_length)) {
  ENCORE_REQUIRE(max_length >= 3, "max_length must leave room for the markers");
}

void TextInput::require_texts(const Records& records) const {
  if (pairs_ && !records.has(second_field))
    throw Error(std::string("the records lack the field \"") + second_field +
                "\", the second text, which the training set has");
}

std::string_view TextInput::take_mark(std::string_view knowledge) {
  pairs_ = knowledge.starts_with('\n');
  return knowledge.substr(pairs_ ? 1 : 0);
}

TextCounts TextInput::text_counts(const Records& train) const {
  WordCounts counts;
  for (const std::string& text : train.texts("text")) counts.add(text);
  if (train.has(second_field))  // training of a vocabulary comes before prepare
    for (const std::string& text : train.texts(second_field)) counts.add(text);
  return counts.sorted();
}

void TextInput::add_columns(std::vector<ColumnRule>& columns) const {
  columns.push_back({.name = cut_column, .space = Space::sequences});  // number of tokens cut at the ends
  if (pairs_) columns.push_back({.name = segments_column, .space = Space::tokens});
}

void TextInput::encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
                       EncodedExample& to, std::size_t first_column) const {
  to.ids.push_back(tokenizer.special(Special::start));
  tokenizer.encode(records.texts("text")[record], to.ids);
  const std::size_t first = to.ids.size() - 1;
  if (!pairs_) {
    const std::size_t kept = std::min(first, max_length_ - 2);
    cut(to.ids, 1, kept);
    to.ids.push_back(tokenizer.special(Special::end));
    to.integers(first_column).push_back(static_cast<std::int32_t>(first - kept));
    return;
  }
  require_texts(records);
  std::vector<std::int32_t> tokens;
  tokenizer.encode(records.texts(second_field)[record], tokens);
  const KeptTokens kept = longest_first(first, tokens.size(), max_length_ - 3);
  to.integers(first_column)
      .push_back(static_cast<std::int32_t>(first + tokens.size() - kept.first - kept.second));
  cut(to.ids, 1, kept.first);
  to.ids.push_back(tokenizer.special(Special::end));
  std::vector<std::int32_t>& segments = to.integers(first_column + 1);
  segments.insert(segments.end(), to.ids.size(), 0);
  cut(tokens, 0, kept.second);
  to.ids.insert(to.ids.end(), tokens.begin(), tokens.end());
  to.ids.push_back(tokenizer.special(Special::end));
  segments.insert(segments.end(), tokens.size() + 1, 1);
}

void TextInput::describe(const ExampleSet& set, SetDescription& description) const {
  const std::size_t cuts = set.column(cut_column);
  std::int64_t texts = 0, tokens = 0;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::int32_t here = set.integers(cuts, i).front();
    texts += here > 0 ? 1 : 0;
    tokens += here;
  }
  description.counts.emplace_back("cut texts", texts);
  description.counts.emplace_back("cut pieces", tokens);
  if (texts > 0)
    description.notes.push_back(
        std::to_string(texts) + " of " +
        (pairs_ ? counted(static_cast<std::int64_t>(set.size()), "pair", "pairs")
                : counted(static_cast<std::int64_t>(set.size()), "example", "examples")) +
        " are longer than max_length = " + std::to_string(max_length_) + ": " +
        counted(tokens, "token is", "tokens are") + (pairs_ ? " cut at the ends" : " cut at the end"));
}

std::string TextInput::left_out(const ExampleSet& set, std::size_t sequence,
                                const std::string& answer) const {
  const std::int32_t tokens = set.integers(set.column(cut_column), sequence).front();
  if (tokens == 0) return "";
  return answer + " does not depend on " +
         (pairs_ ? counted(tokens, "token", "tokens") + " at the ends of both inputs"
                 : "its last " + counted(tokens, "token", "tokens"));
}

Records TextInput::from_text(std::span<const std::string> lines) const {
  Records::Texts first(lines.begin(), lines.end()), second(pairs_ ? lines.size() : 0);
  for (std::size_t i = 0; i < second.size(); ++i) {
    require_pair(first[i]);
    const std::size_t tab = std::min(first[i].find('\t'), first[i].size());
    second[i] = first[i].substr(std::min(tab + 1, first[i].size()));
    first[i].resize(tab);
  }
  Records records;
  records.add("text", std::move(first));
  if (pairs_) records.add(second_field, std::move(second));
  return records;
}

std::string TextInput::shown(const Records& records, std::size_t record) const {
  return records.texts("text")[record] + (pairs_ ? "\t" + records.texts(second_field)[record] : "");
}

void TextInput::add_texts(const Records& records, Records& answers) const {
  answers.add("text", records.texts("text"));
  if (pairs_) answers.add(second_field, records.texts(second_field));
}

}  // namespace encore::tasks
