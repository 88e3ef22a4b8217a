// SPDX-License-Identifier: BSD-3-Clause
// The task "lm": encodes each text as windows in which each row's target is the next token, and turns losses
// into counts. A window does not see what lies before it, so its first tokens are the hardest to predict.
// Trainer and inference call it through Task; runs store the names of measures, and the order of the columns
// in the enum is that of Lm::columns(). Read lm.hpp first.
#include "lm.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

#include "text_places.hpp"
#include "word_counts.hpp"

namespace encore::lm {
namespace {

/// The columns of an example, in the order of Lm::columns().
enum : std::size_t { targets, characters };

constexpr const char* characters_column = "characters";
constexpr const char* candidates_output = "candidates";
constexpr const char* losses_output = "losses";
/// A field that marks records typed by a user, whose text continues.
constexpr const char* typed_field = "typed";
constexpr const char* knowledge_text = "lm\n";

/// The sums over one text from which the measures are computed.
struct Prediction {
  double tokens = 0.0, correct = 0.0, loss = 0.0, characters = 0.0;

  double bits() const { return loss / std::numbers::ln2; }
  double perplexity() const { return std::exp(loss / std::max(1.0, tokens)); }
  double bits_per_character() const { return bits() / std::max(1.0, characters); }
};

Prediction prediction_of(const ExampleSet& set, const Outputs& outputs, std::size_t example) {
  const std::size_t target = set.column(targets_column), count = set.column(characters_column);
  const Run of = set.sequences(example);
  Prediction found;
  for (std::size_t s = of.first; s < of.first + of.count; ++s) {
    const std::span<const std::int32_t> truth = set.integers(target, s),           // (T)
        best = outputs.integers(candidates_output, set, s);                        // (T)
    const std::span<const float> losses = outputs.numbers(losses_output, set, s);  // (T)
    for (std::size_t row = 0; row < truth.size(); ++row) {
      if (truth[row] == no_target) continue;
      found.tokens += 1.0;
      found.correct += best[row] == truth[row] ? 1.0 : 0.0;
      found.loss += static_cast<double>(losses[row]);
    }
    for (const std::int32_t each : set.integers(count, s)) found.characters += each;
  }
  return found;
}

/// Returns the number as "12.345".
std::string fixed(double value) {
  char digits[512];
  const auto written = std::to_chars(digits, digits + sizeof(digits), value, std::chars_format::fixed, 3);
  return {digits, written.ptr};
}

}  // namespace

Schema Lm::options() {
  return Schema().boolean(
      "markers", true,
      {.help = "begin each text with the token that opens a sequence and end it with the token that closes "
               "one, so that the model learns where a text begins and ends"});
}

std::vector<Measure> Lm::measures() {
  return {{.name = "perplexity",
           .help = "e^(mean loss of the tokens); a model that chooses among N equally likely tokens has the "
                   "perplexity N",
           .better = Better::lower,
           .reducer = Reducer::exponential,
           .columns = {"loss", "pieces"}},
          {.name = "bits_per_character",
           .title = "bits per character",
           .help = "sum of -log2 p(token), divided by the number of characters of the text; comparable "
                   "between tokenizers",
           .better = Better::lower,
           .reducer = Reducer::ratio,
           .columns = {"bits", "characters"}},
          {.name = "accuracy",
           .title = "token accuracy",
           .help = "share of the tokens to which the model gives the highest probability",
           .fraction = true,
           .reducer = Reducer::ratio,
           .columns = {"correct", "pieces"}}};
}

Lm::Lm(const Options& options, const TaskContext& context)
    : max_length_(static_cast<std::size_t>(context.max_length)), markers_(options.flag("markers")) {}

// --- what the training set decides ---

void Lm::prepare(const Records& train) {
  if (train.texts("text").empty()) throw Error("the training set has no text to learn from");
}

std::string Lm::knowledge() const {
  return knowledge_text;
}

void Lm::restore(std::string_view knowledge) {
  if (knowledge != knowledge_text)
    throw Error("the run has labels of another task; language modelling has no labels");
}

TextCounts Lm::text_counts(const Records& train) const {
  tasks::WordCounts counts;
  for (const std::string& text : train.texts("text")) counts.add_with_blanks(text);
  return counts.sorted();
}

// --- encoding ---

std::vector<ColumnRule> Lm::columns() const {
  return {{.name = targets_column, .space = Space::tokens},
          {.name = characters_column, .space = Space::ragged}};  // one number, in the first window
}

std::vector<OutputRule> Lm::outputs() const {
  return {{.name = candidates_output, .space = Space::tokens, .truth = targets_column},
          {.name = losses_output, .space = Space::tokens, .type = ColumnType::numbers}};
}

Lm::Text Lm::text_of(const std::string& text, bool goes_on, const Tokenizer& tokenizer) const {
  Text result;
  std::vector<ByteRange> ranges;
  if (markers_) result.tokens.push_back(tokenizer.special(Special::start));
  tokenizer.encode(text, result.tokens, ranges);
  if (markers_ && !goes_on) result.tokens.push_back(tokenizer.special(Special::end));
  // Without a start marker, the first token is not predicted.
  const std::size_t first_byte = markers_ || ranges.empty() ? 0 : ranges.front().end;
  result.characters =
      static_cast<std::int32_t>(code_points_before(text, text.size()) - code_points_before(text, first_byte));
  return result;
}

void Lm::encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
                EncodedExample& to) const {
  const bool typed = records.has(typed_field);
  const Text text = text_of(records.texts("text")[record], typed, tokenizer);
  const std::size_t rows = typed || text.tokens.empty() ? text.tokens.size() : text.tokens.size() - 1;
  // The markers of an empty text alone teach nothing.
  const std::size_t least = typed ? 1 : markers_ ? 2 : 1;
  if (typed && rows < least) throw Error("the text \"" + records.texts("text")[record] + "\" has no token");
  if (rows < least)
    throw Error(std::string("the text ") + (markers_ ? "has no token" : "has fewer than two tokens") +
                ", so nothing in it can be predicted: leave it out" +
                (markers_ ? "" : ", or set markers = true"));
  to.integers(characters).push_back(text.characters);
  for (std::size_t row = 0; row < rows; ++row) {
    if (row > 0 && row % max_length_ == 0) to.end_sequence();
    to.ids.push_back(text.tokens[row]);
    to.integers(targets).push_back(row + 1 < text.tokens.size() ? text.tokens[row + 1] : no_target);
  }
  to.end_sequence();
}

SetDescription Lm::describe(const ExampleSet& set) const {
  const auto known = std::ranges::count_if(set.columns()[set.column(targets_column)].integers,
                                           [](std::int32_t target) { return target != no_target; });
  SetDescription description;
  description.counts = {{"windows", static_cast<std::int64_t>(set.sequence_count())},
                        {"predicted pieces", static_cast<std::int64_t>(known)}};
  return description;
}

// --- measures ---

void Lm::measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const {
  for (std::size_t i = 0; i < set.size(); ++i) {
    const Prediction found = prediction_of(set, outputs, i);
    statistics.begin_example();
    statistics.add("pieces", found.tokens);
    statistics.add("correct", found.correct);
    statistics.add("loss", found.loss);
    statistics.add("bits", found.bits());
    statistics.add("characters", found.characters);
  }
}

Records Lm::label(const Records&, const ExampleSet& set, const Outputs& outputs) const {
  Records::Numbers perplexities;
  for (std::size_t i = 0; i < set.size(); ++i)
    perplexities.push_back(prediction_of(set, outputs, i).perplexity());
  Records labelled;
  labelled.add("perplexity", std::move(perplexities));
  return labelled;
}

// --- text that a user types ---

Records Lm::from_text(std::span<const std::string> lines) const {
  Records records;
  records.add("text", Records::Texts(lines.begin(), lines.end()));
  records.add(typed_field, Records::Numbers(lines.size(), 1.0));
  return records;
}

Records Lm::answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const {
  Records::Numbers tokens, probabilities, perplexities, bits;
  Records::Texts shown;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const Prediction found = prediction_of(set, outputs, i);
    tokens.push_back(found.tokens);
    probabilities.push_back(-found.loss);
    perplexities.push_back(found.perplexity());
    bits.push_back(found.bits_per_character());
    shown.push_back((found.tokens > 0.0 ? "perplexity " + fixed(found.perplexity()) + ", log-probability " +
                                              fixed(-found.loss) + ", " + fixed(found.bits_per_character()) +
                                              " bits per character"
                                        : "no token is predicted") +
                    "\t" + records.texts("text")[i]);
  }
  Records answers;
  answers.add("text", records.texts("text"));
  answers.add("pieces", std::move(tokens));
  answers.add("log_probability", std::move(probabilities));
  answers.add("perplexity", std::move(perplexities));
  answers.add("bits_per_character", std::move(bits));
  answers.add("shown", std::move(shown));
  return answers;
}

}  // namespace encore::lm
