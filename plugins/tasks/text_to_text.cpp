// SPDX-License-Identifier: BSD-3-Clause
// TextToText: encodes text pairs as rows of an encoder and a decoder, and turns the decoder's outputs into
// statistics and answers. The tasks translate and summarize derive from it. Trainer and inference call it
// through Task; imported models fix the order of the special tokens around source and target, so it must not
// change. Read text_to_text.hpp first.
#include "text_to_text.hpp"

#include <algorithm>
#include <utility>

#include <encore/target_tokenizer.hpp>

#include "line_text.hpp"
#include "text_column.hpp"
#include "word_counts.hpp"

namespace encore::tasks {
namespace {

/// The columns of an example, in the order of TextToText::columns().
enum : std::size_t { targets, references, cut_source, cut_target };

constexpr const char* candidates_output = "candidates";
constexpr const char* losses_output = "losses";

constexpr const char* source_field = "source";
constexpr const char* target_field = "target";

/// Returns generated text without the white space that tokens bring along: byte_bpe puts a blank in front
/// of every word.
std::string written_text(const GeneratedText& of) {
  return std::string(trimmed(of.text));
}

Special special_named(std::string_view name) {
  return *std::ranges::find_if(all_specials, [&](Special role) { return name_of(role) == name; });
}

/// Appends the tokens of a text, at most `room`. Returns how many were cut.
std::int32_t append_tokens(const std::string& text, const Tokenizer& tokenizer, std::size_t room,
                           std::vector<std::int32_t>& to) {
  const std::size_t before = to.size();
  tokenizer.encode(text, to);
  const std::size_t tokens = to.size() - before, kept = std::min(tokens, room);
  to.resize(before + kept);
  return static_cast<std::int32_t>(tokens - kept);
}

/// Counts the cut inputs and cut tokens of a column with one count per sequence.
struct Cuts {
  std::int64_t texts = 0, tokens = 0;
};

Cuts cuts_in(const ExampleSet& set, std::size_t column) {
  Cuts cuts;
  for (const std::int32_t count : set.columns()[column].integers) {
    cuts.texts += count > 0 ? 1 : 0;
    cuts.tokens += count;
  }
  return cuts;
}

std::size_t first_sequence(const ExampleSet& set, std::size_t example) {
  return set.sequences(example).first;
}

/// Returns the best generated text of an example, or "" if there is none.
std::string best_text(const ExampleSet& set, const Outputs& outputs, std::size_t example) {
  const std::vector<GeneratedText>& texts = outputs.texts(first_sequence(set, example));
  return texts.empty() ? "" : written_text(texts.front());
}

}  // namespace

Schema TextToText::options() {
  return Schema()
      .boolean("decode", true,
               {.help = "true: generate text for the development and the test set and score it; false: only "
                        "the tokens are scored, `exp predict` is refused, and train.select must be set, such "
                        "as \"min dev/perplexity\""})
      .integer("beam", 1,
               {.help = "number of hypotheses of the beam search; 1: take the most probable token each time",
                .min = 1,
                .max = 32})
      .number("length_penalty", 1.0,
              {.help = "a text of n tokens has the score log p / n^length_penalty, where n counts the end "
                       "token and, with target_begins, the token `start`; a larger value prefers longer text",
               .min = 0.0})
      .integer("beyond_source", 50,
               {.help = "how many more tokens a generated text may have than its source, whose special "
                        "tokens count too; -1: no limit",
                .unit = "tokens",
                .min = -1})
      .integer("max_pieces", 0,
               {.help = "largest number of tokens of a generated text; 0: no such limit. The limits of "
                        "data.max_length and of beyond_source hold in addition",
                .unit = "tokens",
                .min = 0})
      .boolean("source_start", false,
               {.help = "begin a source with the token `start` ([CLS] or `<s>`), as BART does"})
      .choice("target_start", "start", {"start", "end", "padding"},
              {.help = "the role of the token that the decoder reads before it writes its first token: "
                       "`start` is [CLS] or `<s>`, `end` is [SEP] or `</s>`, and `padding` is [PAD] or "
                       "`<pad>`; `end` for BART"})
      .boolean("target_begins", false,
               {.help = "begin each target and each generated text with the token `start` ([CLS] or "
                        "`<s>`), as BART does"});
}

std::vector<Measure> TextToText::token_measures() {
  return {{.name = "perplexity",
           .help = "e^(mean loss of the target's tokens and its end token), where each is predicted from the "
                   "true tokens before it; with task.target_begins the token `start` counts too",
           .better = Better::lower,
           .reducer = Reducer::exponential,
           .columns = {"loss", "pieces"}},
          {.name = "accuracy",
           .title = "token accuracy",
           .help = "share of the target's tokens, with the end token, that the model predicts correctly when "
                   "it is given the true tokens before them; with task.target_begins the token `start` "
                   "counts too",
           .fraction = true,
           .reducer = Reducer::ratio,
           .columns = {"correct", "pieces"}}};
}

TextToText::TextToText(const Options& options, const TaskContext& context, std::string name,
                       std::string written, std::string all_written)
    : max_length_(static_cast<std::size_t>(context.max_length)),
      source_start_(options.flag("source_start")),
      target_begins_(options.flag("target_begins")),
      target_start_(special_named(options.text("target_start"))),
      name_(std::move(name)),
      written_(std::move(written)),
      all_written_(std::move(all_written)) {
  ENCORE_REQUIRE(context.max_length >= 2, "max_length must leave room for a marker and one token");
  if (context.max_length < 3 && (source_start_ || target_begins_))
    throw OptionError(source_start_ ? "source_start" : "target_begins",
                      "must be false where data.max_length is 2: two markers leave no room for a token");
  if (options.flag("decode"))
    decoding_ = {.beam = options.integer("beam"),
                 .length_penalty = options.number("length_penalty"),
                 .max_tokens = options.integer("max_pieces"),
                 .beyond_source = options.integer("beyond_source"),
                 .given = static_cast<std::int64_t>(given())};
}

// --- what the training set decides ---

void TextToText::prepare(const Records& train) {
  if (train.texts(source_field).empty() || train.texts(target_field).empty())
    throw Error("the training set has no pairs to learn from");
}

void TextToText::restore(std::string_view knowledge) {
  if (knowledge != this->knowledge())
    throw Error("the run has labels of another task; " + name_ + " has no labels");
}

TextCounts TextToText::text_counts(const Records& train) const {
  WordCounts counts;
  for (const char* field : {source_field, target_field})
    for (const std::string& text : train.texts(field)) counts.add(text);
  return counts.sorted();
}

// --- encoding ---

std::vector<ColumnRule> TextToText::columns() const {
  return {{.name = targets_column, .space = Space::target, .truth = true},
          {.name = "references", .space = Space::ragged, .truth = true},  // the bytes of the target
          {.name = "cut_source", .space = Space::sequences},              // number of cut tokens
          {.name = "cut_target", .space = Space::sequences, .truth = true}};
}

void TextToText::encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
                        EncodedExample& to) const {
  if (source_start_) to.ids.push_back(tokenizer.special(Special::start));
  const std::size_t room = max_length_ - (source_start_ ? 2 : 1);
  to.integers(cut_source)
      .push_back(append_tokens(records.texts(source_field)[record], tokenizer, room, to.ids));
  to.ids.push_back(tokenizer.special(Special::end));
  const Tokenizer& of_targets = target_tokenizer_of(tokenizer);
  to.target_ids.push_back(of_targets.special(target_start_));
  if (target_begins_) to.target_ids.push_back(of_targets.special(Special::start));
  if (!records.has(target_field)) return;
  const std::string& target = records.texts(target_field)[record];
  to.integers(cut_target).push_back(append_tokens(target, of_targets, max_length_ - given(), to.target_ids));
  to.integers(targets).assign(to.target_ids.begin() + 1, to.target_ids.end());
  to.integers(targets).push_back(of_targets.special(Special::end));
  put_text(target, to.integers(references));
}

SetDescription TextToText::describe(const ExampleSet& set) const {
  const auto tokens = [&](Space space, std::size_t markers) {
    return static_cast<std::int64_t>(set.rows(space) - markers * set.sequence_count());
  };
  SetDescription description;
  description.counts = {{"source pieces", tokens(Space::tokens, source_start_ ? 2 : 1)},
                        {"target pieces", tokens(Space::target, given())}};
  const Cuts sources = cuts_in(set, set.column("cut_source")),
             of_targets = set.has_column("cut_target") ? cuts_in(set, set.column("cut_target")) : Cuts();
  description.counts.emplace_back("cut sources", sources.texts);
  description.counts.emplace_back("cut targets", of_targets.texts);
  description.counts.emplace_back("cut pieces", sources.tokens + of_targets.tokens);
  if (sources.texts + of_targets.texts > 0)
    description.notes.push_back(counted(sources.texts, "source", "sources") + " and " +
                                counted(of_targets.texts, "target", "targets") + " of " +
                                counted(static_cast<std::int64_t>(set.size()), "pair", "pairs") +
                                " are longer than max_length = " + std::to_string(max_length_) + ": " +
                                counted(sources.tokens + of_targets.tokens, "token is", "tokens are") +
                                " cut at the end");
  return description;
}

std::vector<OutputRule> TextToText::outputs() const {
  return {{.name = candidates_output, .space = Space::target, .truth = targets_column},
          {.name = losses_output, .space = Space::target, .type = ColumnType::numbers}};
}

// --- measures and predictions ---

void TextToText::measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const {
  const std::size_t truth_column = set.column(targets_column), texts_column = set.column("references");
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::size_t sequence = first_sequence(set, i);
    const std::span<const std::int32_t> truth = set.integers(truth_column, sequence),  // (T2)
        best = outputs.integers(candidates_output, set, sequence);                     // (T2)
    double correct = 0.0, loss = 0.0;
    for (std::size_t row = 0; row < truth.size(); ++row) correct += best[row] == truth[row] ? 1.0 : 0.0;
    for (const float of_row : outputs.numbers(losses_output, set, sequence))
      loss += static_cast<double>(of_row);
    statistics.begin_example();
    statistics.add("pieces", static_cast<double>(truth.size()));
    statistics.add("correct", correct);
    statistics.add("loss", loss);
    if (outputs.has_texts())
      add_scores(best_text(set, outputs, i), texts_in(set.integers(texts_column, sequence)).front(),
                 statistics);
  }
}

Records TextToText::label(const Records&, const ExampleSet& set, const Outputs& outputs) const {
  Records::Texts written(set.size());
  if (outputs.has_texts())
    for (std::size_t i = 0; i < set.size(); ++i) written[i] = best_text(set, outputs, i);
  Records labelled;
  labelled.add(target_field, std::move(written));
  return labelled;
}

// --- text that a user types ---

Records TextToText::from_text(std::span<const std::string> lines) const {
  Records records;
  records.add(source_field, Records::Texts(lines.begin(), lines.end()));
  return records;
}

Records TextToText::answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const {
  if (!outputs.has_texts())
    throw Error(
        "the model was trained with task.decode = false, so it cannot generate text: train it with decode "
        "= true");
  Records::Texts best(set.size());
  Records::Numbers score(set.size(), 0.0);
  Records::TextLists all(set.size());
  Records::NumberLists scores(set.size());
  bool several = false;
  for (std::size_t i = 0; i < set.size(); ++i) {
    best[i] = best_text(set, outputs, i);
    for (const GeneratedText& text : outputs.texts(first_sequence(set, i))) {
      all[i].push_back(written_text(text));
      scores[i].push_back(text.score);
    }
    if (!scores[i].empty()) score[i] = scores[i].front();
    several = several || all[i].size() > 1;
  }
  Records answers;
  answers.add("text", records.texts(source_field));
  answers.add(written_, best);
  answers.add("score", std::move(score));
  if (several) {
    answers.add(all_written_, std::move(all));
    answers.add("scores", std::move(scores));
  }
  for (std::string& line : best) std::ranges::replace(line, '\n', ' ');
  answers.add("shown", std::move(best));
  return answers;
}

std::string TextToText::left_out(const ExampleSet& set, std::size_t example) const {
  const std::int32_t tokens = set.integers(set.column("cut_source"), first_sequence(set, example)).front();
  if (tokens == 0) return "";
  return "its " + written_ + " does not depend on its last " + counted(tokens, "token", "tokens");
}

}  // namespace encore::tasks
