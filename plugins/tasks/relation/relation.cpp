// SPDX-License-Identifier: BSD-3-Clause
// The task "relation": splits a text into five parts (before the first span, the span, between, the second
// span, after) and encodes them with signs around the spans. Trainer and inference call it through Task; runs
// store knowledge() and the signs are tokens of vocabularies, so neither must change. Read relation.hpp
// first.
#include "relation.hpp"

#include <algorithm>
#include <utility>

#include "class_measures.hpp"
#include "label_scores.hpp"
#include "line_text.hpp"
#include "marked_spans.hpp"
#include "word_counts.hpp"

namespace encore::relation {
namespace {

constexpr std::size_t markers = 2;                                   // [CLS] and [SEP]
constexpr std::array<std::string_view, 2> signs = {"$", "#"};        // around e1 and e2
constexpr std::array<std::size_t, 5> cut_order = {4, 0, 2, 3, 1};    // the order in which parts are cut
constexpr std::array<std::size_t, 5> kept_tokens = {0, 1, 0, 1, 0};  // at least, of each part

/// The parts of a text, and which span comes first.
struct Parts {
  std::array<std::string_view, 5> texts = {};
  std::size_t first_span = 0;  ///< 0 if e1 comes before e2
};

/// Throws Error where there are no two spans within the text, one behind the other.
Parts parts_of(std::string_view text, const std::vector<TextSpan>& spans) {
  if (spans.size() == 2) {
    Parts parts{.first_span = spans[0].start <= spans[1].start ? std::size_t{0} : std::size_t{1}};
    std::size_t done = 0;
    bool sound = true;
    for (std::size_t i = 0; i < 2 && sound; ++i) {
      const TextSpan& span = spans[i == 0 ? parts.first_span : 1 - parts.first_span];
      const auto begin = byte_of_code_point(text, span.start), end = byte_of_code_point(text, span.end);
      sound = begin && end && done <= *begin && *begin < *end;
      if (!sound) break;
      parts.texts[2 * i] = text.substr(done, *begin - done);
      parts.texts[2 * i + 1] = text.substr(*begin, *end - *begin);
      done = *end;
    }
    parts.texts[4] = text.substr(std::min(done, text.size()));
    if (sound) return parts;
  }
  throw Error("expected two spans within the text, one behind the other");
}

}  // namespace

Schema Relation::options() {
  return tasks::ClassWeights::with_options(std::move(Schema().boolean(
      "signs", true,
      {.help = "put `$` on both sides of the span e1 and `#` on both sides of the span e2, whichever comes "
               "first (Wu and He 2019)"})));
}

Relation::Relation(const Options& options, const TaskContext& context)
    : signs_(options.flag("signs")),
      max_length_(static_cast<std::size_t>(context.max_length)),
      class_(options) {
  const std::size_t least = markers + 2 + (signs_ ? 4 : 0);
  if (max_length_ < least)
    throw OptionError("signs", "data.max_length = " + std::to_string(max_length_) +
                                   " leaves no room for two spans" + (signs_ ? " and their signs" : "") +
                                   ": expected at least " + std::to_string(least));
}

std::vector<Measure> Relation::measures() {
  return tasks::class_measures("examples");
}

TextCounts Relation::text_counts(const Records& train) const {
  tasks::WordCounts counts;
  for (const std::string& text : train.texts("text")) {
    counts.add(text);
    for (const std::string_view sign : signs)
      for (int side = 0; signs_ && side < 2; ++side) counts.add(sign);
  }
  return counts.sorted();
}

// --- encoding ---

std::vector<ColumnRule> Relation::columns() const {
  std::vector<ColumnRule> columns = class_.columns();
  columns.push_back({.name = "spans", .space = Space::sequences, .width = 4});
  columns.push_back({.name = "cut_pieces", .space = Space::sequences});
  return columns;
}

void Relation::encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
                      EncodedExample& to) const {
  const std::size_t spans_column = class_.column_count(), cut_column = spans_column + 1;
  const Parts parts = parts_of(records.texts("text")[record], records.spans("spans")[record]);
  std::array<std::vector<std::int32_t>, 5> tokens;
  std::size_t all = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokenizer.encode(parts.texts[i], tokens[i]);
    if (tokens[i].size() < kept_tokens[i]) tokens[i].push_back(tokenizer.special(Special::unknown));
    all += tokens[i].size();
  }
  std::array<std::vector<std::int32_t>, 2> sign_tokens;
  for (std::size_t i = 0; i < signs.size() && signs_; ++i) {
    tokenizer.encode(signs[i], sign_tokens[i]);
    sign_tokens[i].resize(1, tokenizer.special(Special::unknown));
  }
  const std::size_t room = max_length_ - markers - (signs_ ? 4 : 0);
  const std::size_t cut = all > room ? all - room : 0;
  std::size_t left = cut;
  for (const std::size_t i : cut_order) {
    const std::size_t away = std::min(left, tokens[i].size() - kept_tokens[i]);
    // The part before the first span is cut at its beginning, every other part at its end.
    const auto begin = i == 0 ? tokens[i].begin() : tokens[i].end() - static_cast<std::ptrdiff_t>(away);
    tokens[i].erase(begin, begin + static_cast<std::ptrdiff_t>(away));
    left -= away;
  }

  std::array<std::int32_t, 4> rows = {};
  to.ids.push_back(tokenizer.special(Special::start));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool is_span = i % 2 == 1;
    const std::size_t span = i == 1 ? parts.first_span : 1 - parts.first_span;
    const auto add = [&](const std::vector<std::int32_t>& ids) {
      to.ids.insert(to.ids.end(), ids.begin(), ids.end());
    };
    if (is_span) {
      add(sign_tokens[span]);
      rows[2 * span] = static_cast<std::int32_t>(to.ids.size());
      rows[2 * span + 1] = rows[2 * span] + static_cast<std::int32_t>(tokens[i].size()) - 1;
    }
    add(tokens[i]);
    if (is_span) add(sign_tokens[span]);
  }
  to.ids.push_back(tokenizer.special(Special::end));
  to.integers(spans_column).assign(rows.begin(), rows.end());
  to.integers(cut_column).push_back(static_cast<std::int32_t>(cut));
  class_.encode(records, record, to);
}

SetDescription Relation::describe(const ExampleSet& set) const {
  SetDescription description;
  class_.describe_labels(set, description);
  const std::size_t cuts = set.column("cut_pieces");
  std::int64_t texts = 0, tokens = 0;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::int32_t here = set.integers(cuts, i).front();
    texts += here > 0 ? 1 : 0;
    tokens += here;
  }
  description.counts.emplace_back("cut texts", texts);
  description.counts.emplace_back("cut pieces", tokens);
  if (texts > 0)
    description.notes.push_back(std::to_string(texts) + " of " +
                                counted(static_cast<std::int64_t>(set.size()), "example", "examples") +
                                " are longer than max_length = " + std::to_string(max_length_) + ": " +
                                counted(tokens, "token is", "tokens are") + " cut, around the spans first");
  class_.describe_unseen(set, description);
  return description;
}

// --- text that a user types ---

Records Relation::from_text(std::span<const std::string> lines) const {
  Records::Texts texts;
  Records::SpanLists spans;
  MarkedText marked;
  for (const std::string& line : lines) {
    if (const std::string problem = take_marked(line, marked); !problem.empty())
      throw Error("line " + std::to_string(texts.size() + 1) + ": " + problem);
    texts.push_back(std::move(marked.text));
    spans.push_back(std::move(marked.spans));
  }
  Records records;
  records.add("text", std::move(texts));
  records.add("spans", std::move(spans));
  return records;
}

Records Relation::completed(const Records& records, Records answers) {
  Records::Texts shown = answers.texts("label");
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (answers.has("score")) shown[i] += " " + tasks::score_text(answers.numbers("score")[i]);
    shown[i] += "\t" + marked_text(records.texts("text")[i], records.spans("spans")[i]);
  }
  answers.add("text", records.texts("text"));
  answers.add("spans", records.spans("spans"));
  answers.add("shown", std::move(shown));
  return answers;
}

std::string Relation::left_out(const ExampleSet& set, std::size_t sequence) const {
  const std::int32_t cut = set.integers(set.column("cut_pieces"), sequence).front();
  return cut == 0 ? "" : "its label does not depend on " + counted(cut, "token", "tokens") + " of it";
}

}  // namespace encore::relation
