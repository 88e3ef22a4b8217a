// SPDX-License-Identifier: BSD-3-Clause
// The task "qa": encodes questions with windows of their context, and turns the answers of answers.hpp into
// measures, labels and text. Trainer and inference call it through Task; runs store tune() and the names of
// measures, so these must not change. Read qa.hpp first.
#include "qa.hpp"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "columns.hpp"
#include "label_scores.hpp"
#include "line_text.hpp"
#include "measures.hpp"
#include "spans.hpp"
#include "text_column.hpp"
#include "threshold.hpp"
#include "word_counts.hpp"

namespace encore::qa {
namespace {

using tasks::put_text;

constexpr std::string_view white_space = " \t\r\n\v\f";
constexpr const char* none_shown = "(no answer)";
constexpr std::string_view knowledge_text = "questions about contexts\n";
constexpr std::size_t markers = 3;                                // [CLS], [SEP] and [SEP]
constexpr std::size_t most_context_bytes = std::size_t{1} << 24;  // a column counts bytes in 32 bits

/// The columns of an example, in the order of Qa::columns().
enum : std::size_t { start, end, segments, cut_tokens, ranges, context, answers };

bool is_blank(std::string_view question) {
  return question.find_first_not_of(white_space) == std::string_view::npos;
}

/// Returns the bytes of an answer. Throws Error if the context does not contain it at its position.
ByteRange bytes_of(const TextSpan& answer, std::string_view text) {
  const std::optional<std::size_t> begin = byte_of_code_point(text, answer.start);
  if (!begin || answer.text.empty() || text.substr(*begin, answer.text.size()) != answer.text)
    throw Error("the answer \"" + answer.text + "\" is not at position " + std::to_string(answer.start) +
                " of its context");
  return {*begin, *begin + answer.text.size()};
}

}  // namespace

Schema Qa::options() {
  return Schema()
      .integer("stride", 128,
               {.help = "number of context tokens that a window shares with the window before it; a context "
                        "that is too long for data.max_length is read in windows. The stride must be below "
                        "data.max_length - max_question - 3, the most context tokens of a window",
                .unit = "tokens",
                .min = 0.0})
      .integer("max_question", 64,
               {.help = "largest number of tokens of a question; longer questions are cut at the end",
                .unit = "tokens",
                .min = 1.0})
      .integer("max_answer", 30,
               {.help = "largest number of tokens of an answer", .unit = "tokens", .min = 1.0})
      .boolean("no_answer", false,
               {.help = "allow questions without an answer (SQuAD 2.0); no_answer_threshold says when the "
                        "model gives no answer"})
      .number("no_answer_threshold", 0.0,
              {.help = "with no_answer: the model gives no answer if the score of [CLS] exceeds that of the "
                       "best part of the context by more than this number. The score of a part is the sum "
                       "of two outputs of the head: one for its first token, one for its last"})
      .boolean(
          "tune_no_answer", false,
          {.help = "with no_answer: instead of no_answer_threshold, use the threshold with the best F1 on "
                   "the development set, chosen again at each evaluation"});
}

Qa::Qa(const Options& options, const TaskContext& context)
    : max_length_(static_cast<std::size_t>(context.max_length)),
      stride_(static_cast<std::size_t>(options.integer("stride"))),
      max_question_(static_cast<std::size_t>(options.integer("max_question"))),
      max_answer_(static_cast<std::size_t>(options.integer("max_answer"))),
      no_answer_(options.flag("no_answer")),
      no_answer_threshold_(options.number("no_answer_threshold")),
      tunes_(options.flag("tune_no_answer")) {
  if (tunes_ && !no_answer_)
    throw OptionError("tune_no_answer", "tune_no_answer = true needs no_answer = true");
  const std::string of_length = "data.max_length = " + std::to_string(max_length_),
                    of_question = "max_question = " + std::to_string(max_question_);
  if (max_length_ < max_question_ + markers + 1)
    throw OptionError("max_question", of_question +
                                          " and three markers leave no room for the context in a "
                                          "window of " +
                                          of_length + "; lower task.max_question");
  const std::size_t room = max_length_ - max_question_ - markers;
  if (stride_ >= room)
    throw OptionError("stride", "stride = " + std::to_string(stride_) + ", but with " + of_length + " and " +
                                    of_question + " a window may have no more than " +
                                    counted(static_cast<std::int64_t>(room), "token", "tokens") +
                                    " of the context; the stride must be smaller");
}

std::vector<Measure> Qa::measures() {
  return qa::measures();
}

// --- what the training set decides ---

void Qa::prepare(const Records& train) {
  const Records::SpanLists& all = train.spans("answers");
  if (all.empty()) throw Error("the training set has no questions to learn from");
  if (std::ranges::all_of(all, [](const std::vector<TextSpan>& each) { return each.empty(); }))
    throw Error("no question of the training set has an answer, so there is nothing to learn");
}

std::string Qa::knowledge() const {
  return std::string(knowledge_text);
}

void Qa::restore(std::string_view knowledge) {
  if (knowledge != knowledge_text) throw Error("invalid knowledge of the task \"qa\"");
}

TextCounts Qa::text_counts(const Records& train) const {
  tasks::WordCounts counts;
  std::unordered_set<std::string_view> contexts;
  for (const std::string& text : train.texts("context"))
    if (contexts.insert(text).second) counts.add(text);
  for (const std::string& text : train.texts("question")) counts.add(text);
  return counts.sorted();
}

// --- encoding ---

std::vector<ColumnRule> Qa::columns() const {
  return {{.name = "start",
           .space = Space::sequences,
           .truth = true},  // rows of the answer in its window; 0: none
          {.name = "end", .space = Space::sequences, .truth = true},
          {.name = segments_column},                          // 0: [CLS] question [SEP]; 1: window [SEP]
          {.name = "cut_pieces", .space = Space::sequences},  // tokens cut at the end of the question
          {.name = "ranges", .space = Space::ragged},         // bytes [begin, end) of each context token
          {.name = "context", .space = Space::ragged},        // its text, in the first window
          {.name = "answers", .space = Space::ragged, .truth = true}};  // all true ones, in the first window
}

std::vector<OutputRule> Qa::outputs() const {
  return {{.name = "spans", .type = ColumnType::numbers, .width = 2}};
}

void Qa::encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
                EncodedExample& to) const {
  const std::string& text = records.texts("context")[record];
  if (text.size() > most_context_bytes)
    throw Error("the context has " + std::to_string(text.size()) + " bytes: expected at most " +
                std::to_string(most_context_bytes));
  std::vector<std::int32_t> question, tokens;
  std::vector<ByteRange> bytes;
  tokenizer.encode(records.texts("question")[record], question);
  const std::size_t asked = std::min(question.size(), max_question_), cut = question.size() - asked;
  question.resize(asked);
  tokenizer.encode(text, tokens, bytes);

  const bool known = records.has("answers");
  std::optional<std::pair<std::size_t, std::size_t>> answer;  // its first and last token
  put_text(text, to.integers(context));
  if (known) {
    const std::vector<TextSpan>& truths = records.spans("answers")[record];
    for (const TextSpan& truth : truths) put_text(truth.text, to.integers(answers));
    if (!truths.empty()) answer = tokens_of(bytes, bytes_of(truths.front(), text));
  }
  for (const Window& window : windows_of(tokens.size(), max_length_ - markers - asked, stride_)) {
    const std::size_t begin = to.ids.size(), first_row = asked + 2, last_token = window.first + window.count;
    to.ids.push_back(tokenizer.special(Special::start));
    to.ids.insert(to.ids.end(), question.begin(), question.end());
    to.ids.push_back(tokenizer.special(Special::separator));
    for (std::size_t token = window.first; token < last_token; ++token) {
      to.ids.push_back(tokens[token]);
      to.integers(ranges).push_back(static_cast<std::int32_t>(bytes[token].begin));
      to.integers(ranges).push_back(static_cast<std::int32_t>(bytes[token].end));
    }
    to.ids.push_back(tokenizer.special(Special::end));
    for (std::size_t row = 0; row < to.ids.size() - begin; ++row)
      to.integers(segments).push_back(row < first_row ? 0 : 1);
    to.integers(cut_tokens).push_back(static_cast<std::int32_t>(cut));
    if (known) {
      const bool whole = answer && window.first <= answer->first && answer->second < last_token;
      const auto row_of = [&](std::size_t token) {
        return static_cast<std::int32_t>(first_row + token - window.first);
      };
      to.integers(start).push_back(whole ? row_of(answer->first) : 0);
      to.integers(end).push_back(whole ? row_of(answer->second) : 0);
    }
    to.end_sequence();
  }
}

SetDescription Qa::describe(const ExampleSet& set) const {
  const Columns in(set);
  std::int64_t several = 0, cut = 0, without = 0, outside = 0;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const Run windows = set.sequences(i);
    several += windows.count > 1 ? 1 : 0;
    cut += in.cut_tokens(i) > 0 ? 1 : 0;
    if (!in.known()) continue;
    bool found = false;
    for (std::size_t s = windows.first; s < windows.first + windows.count; ++s)
      found = found || in.is_answered(s);
    const bool has_answer = !in.answers(i).empty();
    without += has_answer ? 0 : 1;
    outside += has_answer && !found ? 1 : 0;
  }
  SetDescription description;
  description.counts = {{"windows", static_cast<std::int64_t>(set.sequence_count())},
                        {"questions with several windows", several},
                        {"questions without an answer", without},
                        {"cut questions", cut},
                        {"answers in no window", outside}};
  std::vector<std::string>& notes = description.notes;
  const std::string of_all = " of " + counted(static_cast<std::int64_t>(set.size()), "question", "questions");
  if (several > 0)
    notes.push_back("the contexts of " + std::to_string(several) + of_all +
                    " are longer than a window of max_length = " + std::to_string(max_length_) + ": " +
                    counted(static_cast<std::int64_t>(set.sequence_count()), "window", "windows") +
                    " in all");
  if (cut > 0)
    notes.push_back(std::to_string(cut) + of_all + " are longer than max_question = " +
                    std::to_string(max_question_) + " tokens and cut at the end");
  if (outside > 0)
    notes.push_back("the answer to " + std::to_string(outside) + of_all +
                    " is in no window, so it is not learned; a larger stride makes windows overlap "
                    "more");
  if (without > 0 && !no_answer_)
    notes.push_back(std::to_string(without) + of_all +
                    " have no answer, but the model always gives one: set task.no_answer = true");
  return description;
}

// --- measures and predictions ---

Answer Qa::find(const Columns& in, std::size_t example, const Outputs& outputs, double threshold) const {
  const std::optional<double> none_above = no_answer_ ? std::optional(threshold) : std::nullopt;
  return find_answer(in, example, outputs, max_answer_, none_above);
}

std::vector<Answer> Qa::find_all(const Records& records, const ExampleSet& set,
                                 const Outputs& outputs) const {
  const Columns in(set);
  std::vector<Answer> all;
  for (std::size_t i = 0; i < set.size(); ++i) {
    all.push_back(find(in, i, outputs, threshold()));
    if (is_blank(records.texts("question")[i])) all.back().span.reset();
  }
  return all;
}

void Qa::measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const {
  const Columns in(set);
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::vector<std::string> truths = in.answers(i);
    const Answer found = find(in, i, outputs, threshold());
    const char* kind = truths.empty() ? "unanswerable" : "answerable";
    measure_question(score_answer(found.span ? found.span->text : "", truths, no_answer_),
                     no_answer_ ? kind : "", statistics);
  }
}

Records Qa::label(const Records& records, const ExampleSet& set, const Outputs& outputs) const {
  Records::SpanLists given;
  for (Answer& found : find_all(records, set, outputs)) {
    given.emplace_back();
    if (found.span) given.back().push_back(std::move(*found.span));
  }
  Records labelled;
  labelled.add("answers", std::move(given));
  return labelled;
}

// --- what the development set decides ---

std::string Qa::tune(const ExampleSet& dev, const Outputs& outputs) const {
  if (!tunes_ || dev.size() == 0) return "";
  const Columns in(dev);
  std::vector<Judged> questions;
  for (std::size_t i = 0; i < dev.size(); ++i) {
    const std::vector<std::string> truths = in.answers(i);
    const Answer found = find(in, i, outputs, std::numeric_limits<double>::infinity());
    if (!found.span) continue;  // the context has no possible answer
    questions.push_back(
        {.lead = found.null_lead,
         .gain = score_answer(found.span->text, truths, true).f1 - score_answer("", truths, true).f1});
  }
  return threshold_text(best_threshold(std::move(questions), no_answer_threshold_));
}

void Qa::use(std::string_view tuned) {
  tuned_.reset();
  if (!tuned.empty()) tuned_ = threshold_from_text(tuned);
}

// --- text that a user types ---

Records Qa::from_text(std::span<const std::string> lines) const {
  Records::Texts questions, contexts;
  for (const std::string& line : lines) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos && line.find_first_not_of(white_space) != std::string::npos)
      throw Error(quoted_line(line) +
                  " has no context: expected a question, a tab and the text that holds the "
                  "answer");
    questions.push_back(line.substr(0, tab));
    contexts.push_back(tab == std::string::npos ? "" : line.substr(tab + 1));
  }
  Records records;
  records.add("question", std::move(questions));
  records.add("context", std::move(contexts));
  return records;
}

Records Qa::answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const {
  std::vector<Answer> found = find_all(records, set, outputs);
  Records::Numbers probabilities;
  Records::Texts shown;
  for (const Answer& each : found) {
    probabilities.push_back(each.probability);
    shown.push_back(each.span ? each.span->text : none_shown);
  }
  return answers_of(records, std::move(found), std::move(probabilities), std::move(shown));
}

Records Qa::scored_answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const {
  const Columns in(set);
  std::vector<Answer> found = find_all(records, set, outputs);
  Records::Numbers scores;
  Records::Texts shown;
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::optional<TextSpan>& span = found[i].span;
    scores.push_back(is_blank(records.texts("question")[i])
                         ? 1.0
                         : score_of(in, i, outputs, max_answer_, no_answer_, found[i]));
    shown.push_back((span ? span->text : none_shown) + " " + tasks::score_text(scores.back()));
    if (span) span->score = scores.back();
  }
  return answers_of(records, std::move(found), std::move(scores), std::move(shown));
}

Records Qa::answers_of(const Records& records, std::vector<Answer> found, Records::Numbers scores,
                       Records::Texts shown) {
  Records::SpanLists given;
  for (std::size_t i = 0; i < found.size(); ++i) {
    shown[i] += "\t" + records.texts("question")[i];
    given.emplace_back();
    if (found[i].span) given.back().push_back(std::move(*found[i].span));
  }
  Records all;
  all.add("question", records.texts("question"));
  all.add("context", records.texts("context"));
  all.add("answers", std::move(given));
  all.add("score", std::move(scores));
  all.add("shown", std::move(shown));
  return all;
}

std::string Qa::left_out(const ExampleSet& set, std::size_t example) const {
  const std::int32_t cut = Columns(set).cut_tokens(example);
  if (cut == 0) return "";
  return "its question is read without its last " + counted(cut, "token", "tokens") +
         " (task.max_question = " + std::to_string(max_question_) + ")";
}

}  // namespace encore::qa
