// SPDX-License-Identifier: BSD-3-Clause
// TextInput: encodes a text or a text pair as rows, and describes which tokens were cut. The tasks classify,
// multilabel and regress call it; results of runs depend on how a pair is cut, so it must not change. Read
// text_input.hpp first.
#include "text_input.hpp"

#include <algorithm>
#include <utility>

#include "line_text.hpp"
#include "window_shares.hpp"
#include "word_counts.hpp"

namespace encore::tasks {
namespace {

// A stored name, so it stays. The column counts tokens.
constexpr const char* cut_column = "cut_pieces";

std::int32_t number_of(std::size_t tokens) {
  return static_cast<std::int32_t>(tokens);
}

/// Appends a part of a text's tokens.
void append(const std::vector<std::int32_t>& tokens, TextWindow part, std::vector<std::int32_t>& ids) {
  const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(part.first);
  ids.insert(ids.end(), begin, begin + static_cast<std::ptrdiff_t>(part.count));
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

Schema TextInput::with_options(Schema schema) {
  return std::move(schema).integer(
      "stride", 0,
      {.help = "a text that is too long for data.max_length is read in windows, which share this number of "
               "tokens; of a pair the longer text is. It must be less than half of data.max_length - 3. 0: "
               "the text is cut at its end",
       .unit = "tokens",
       .min = 0,
       .max = 1048576});
}

TextInput::TextInput(const Options& options, std::int64_t max_length)
    : max_length_(static_cast<std::size_t>(max_length)),
      stride_(static_cast<std::size_t>(options.integer("stride"))) {
  ENCORE_REQUIRE(max_length >= 3, "max_length must leave room for the markers");
  // A window of a pair has at least half of the room for the longer text, and must show something new.
  if (stride_ > 0 && 2 * stride_ >= max_length_ - 3)
    throw OptionError("stride", "stride = " + std::to_string(stride_) +
                                    ", but with data.max_length = " + std::to_string(max_length_) +
                                    " windows can share fewer than " + std::to_string((max_length_ - 2) / 2) +
                                    " tokens: expected a smaller stride");
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
  if (stride_ > 0) columns.push_back({.name = own_tokens_column, .space = Space::sequences});
}

void TextInput::encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
                       EncodedExample& to, std::size_t first_column,
                       const std::function<void()>& add_truth) const {
  require_texts(records);
  Tokens tokens;
  tokenizer.encode(records.texts("text")[record], tokens.first);
  if (pairs_) tokenizer.encode(records.texts(second_field)[record], tokens.second);
  const std::size_t first = tokens.first.size(), second = tokens.second.size();
  const KeptTokens kept = longest_first(first, second, max_length_ - markers());
  TextWindow of_first = {.first = 0, .count = kept.first}, of_second = {.first = 0, .count = kept.second};
  const std::size_t cut = first - kept.first + second - kept.second;
  if (stride_ == 0 || cut == 0) {
    add_sequence(tokens, of_first, of_second, tokenizer, to, first_column);
    to.integers(first_column).push_back(number_of(cut));
    if (stride_ > 0) to.integers(own_column(first_column)).push_back(number_of(first + second));
    add_truth();
    return;
  }
  const bool reads_first = first > second;  // in windows; of equally long ones the second text, as it is cut
  TextWindow& window = reads_first ? of_first : of_second;
  const std::size_t shorter_cut = reads_first ? second - kept.second : first - kept.first;
  const std::vector<TextWindow> windows = encore::windows_of(std::max(first, second), window.count, stride_);
  const std::vector<std::size_t> own = own_tokens(windows);
  for (std::size_t i = 0; i < windows.size(); ++i) {
    window = windows[i];
    add_sequence(tokens, of_first, of_second, tokenizer, to, first_column);
    to.integers(first_column).push_back(number_of(shorter_cut));
    to.integers(own_column(first_column)).push_back(number_of(own[i]));
    add_truth();
    to.end_sequence();
  }
}

void TextInput::add_sequence(const Tokens& tokens, TextWindow first, TextWindow second,
                             const Tokenizer& tokenizer, EncodedExample& to, std::size_t first_column) const {
  to.ids.push_back(tokenizer.special(Special::start));
  append(tokens.first, first, to.ids);
  to.ids.push_back(tokenizer.special(Special::end));
  if (!pairs_) return;
  append(tokens.second, second, to.ids);
  to.ids.push_back(tokenizer.special(Special::end));
  std::vector<std::int32_t>& segments = to.integers(first_column + 1);
  segments.insert(segments.end(), first.count + 2, 0);
  segments.insert(segments.end(), second.count + 1, 1);
}

void TextInput::describe(const ExampleSet& set, SetDescription& description) const {
  const std::size_t cuts = set.column(cut_column);
  std::int64_t texts = 0, tokens = 0, windowed = 0;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::int32_t here = set.integers(cuts, first_window(set, i)).front();
    texts += here > 0 ? 1 : 0;
    tokens += here;
    windowed += set.sequences(i).count > 1 ? 1 : 0;
  }
  const std::string of_all =
      " of " + (pairs_ ? counted(static_cast<std::int64_t>(set.size()), "pair", "pairs")
                       : counted(static_cast<std::int64_t>(set.size()), "example", "examples"));
  const std::string too_long = " longer than max_length = " + std::to_string(max_length_) + ": ";
  description.counts.emplace_back("cut texts", texts);
  description.counts.emplace_back("cut pieces", tokens);
  if (stride_ > 0) description.counts.emplace_back("inputs in windows", windowed);
  if (windowed > 0)
    description.notes.push_back(
        std::to_string(windowed) + of_all + " are" + too_long +
        counted(static_cast<std::int64_t>(set.sequence_count()), "window", "windows") + " in all");
  if (texts > 0)
    description.notes.push_back(std::to_string(texts) + of_all + (stride_ > 0 ? " have two inputs" : " are") +
                                too_long + counted(tokens, "token is", "tokens are") +
                                (stride_ > 0 ? " cut at the ends of the shorter ones"
                                 : pairs_    ? " cut at the ends"
                                             : " cut at the end"));
}

std::string TextInput::left_out(const ExampleSet& set, std::size_t example, const std::string& answer) const {
  const std::int32_t tokens = set.integers(set.column(cut_column), first_window(set, example)).front();
  if (tokens == 0) return "";
  return answer + " does not depend on " +
         (!pairs_       ? "its last " + counted(tokens, "token", "tokens")
          : stride_ > 0 ? counted(tokens, "token", "tokens") + " at the end of its shorter input"
                        : counted(tokens, "token", "tokens") + " at the ends of both inputs");
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
