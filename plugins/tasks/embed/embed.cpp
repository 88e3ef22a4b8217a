// SPDX-License-Identifier: BSD-3-Clause
// The task "embed": encodes pairs as two sequences, and turns the vectors of the head "embedding" into
// cosines, ranks and measures. Trainer and inference call it through Task; runs store knowledge() and the
// names of measures, so these must not change. Read embed.hpp first.
#include "embed.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "input_places.hpp"
#include "line_text.hpp"
#include "number_bits.hpp"
#include "window_shares.hpp"
#include "word_counts.hpp"

namespace encore::embed {
namespace {

/// The columns of an example, in the order of Embed::columns().
enum : std::size_t { first, second, cut_tokens, bits, scaled };

constexpr const char *number_field = "number", *negatives_field = "negatives";
constexpr const char* embedding_output = "embedding";
/// The first line of a run's knowledge: what it learned from; with numbers, their scale follows.
constexpr std::string_view pairs_text = "pairs\n", numbers_text = "numbers ";
constexpr const char* text_fields[] = {"text", "text2"};

/// Throws Error for a number that float32 cannot hold.
double checked(double value) {
  if (!std::isfinite(static_cast<float>(value)))
    throw Error("invalid number " + std::to_string(value) + ": every pair needs a finite number");
  return value;
}

std::string written(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.4g", value);
  return text;
}

std::string counted(std::int64_t count, const char* one, const char* several) {
  return std::to_string(count) + " " + (count == 1 ? one : several);
}

/// Returns the first numbers of a vector as text for a user.
std::string shown_vector(std::span<const float> vector) {
  constexpr std::size_t most = 4;
  std::string text = "[";
  for (std::size_t c = 0; c < std::min(most, vector.size()); ++c)
    text += (c > 0 ? " " : "") + written(static_cast<double>(vector[c]));
  return text + (vector.size() > most ? " ...] (" + std::to_string(vector.size()) + ")" : "]");
}

double cosine_of_pair(const InputPlaces& places, const Vectors& vectors, std::size_t example) {
  return places.is_pair(example) ? vectors.cosine(places.of(example, 0), places.of(example, 1))
                                 : std::numeric_limits<double>::quiet_NaN();
}

/// Returns the rank, from 1: the number of second inputs of the group that are at least as near as the right
/// one. So a model that gives every input the same vector has the last rank.
std::size_t rank_of(const InputPlaces& places, const Vectors& vectors, std::size_t example,
                    const Group& group) {
  const std::size_t query = places.of(example, 0);
  const double own = vectors.cosine(query, places.of(example, 1));
  std::size_t rank = 1;
  for (std::size_t other = group.begin; other < group.end; ++other)
    if (other != example && places.is_pair(other))
      rank += vectors.cosine(query, places.of(other, 1)) >= own ? 1 : 0;
  return rank;
}

}  // namespace

Schema Embed::options() {
  return Schema()
      .integer(
          "candidates", 100,
          {.help = "for pairs without numbers: when a set is scored, consecutive pairs form groups of at "
                   "most this size, and each first text must find its own second text among those of "
                   "its group, the candidates",
           .unit = "texts",
           .min = 2,
           .max = 1048576})
      .integer("mined_negatives", 0,
               {.help = "for pairs without numbers: number of hard negatives of each training pair. They are "
                        "second inputs of other pairs that share the most words with the first one (BM25). "
                        "The loss compares the first input with them too",
                .unit = "inputs",
                .min = 0,
                .max = 32})
      .integer("stride", 0,
               {.help = "an input that is too long for data.max_length is read in windows, which share this "
                        "number of tokens; its vector is the mean of theirs, weighted by their tokens. It "
                        "must be less than data.max_length - 2. 0: the input is cut at its end",
                .unit = "tokens",
                .min = 0,
                .max = 1048576});
}

Embed::Embed(const Options& options, const TaskContext& context)
    : max_length_(static_cast<std::size_t>(context.max_length)),
      candidates_(static_cast<std::size_t>(options.integer("candidates"))),
      mined_(static_cast<std::size_t>(options.integer("mined_negatives"))),
      stride_(static_cast<std::size_t>(options.integer("stride"))) {
  ENCORE_REQUIRE(context.max_length >= 3, "max_length must leave room for the markers");
  if (stride_ >= max_length_ - 2)
    throw OptionError("stride", "stride = " + std::to_string(stride_) +
                                    ", but with data.max_length = " + std::to_string(max_length_) +
                                    " a window has " + std::to_string(max_length_ - 2) +
                                    " tokens of the input: expected a smaller stride");
}

std::vector<Measure> Embed::measures() {
  const std::vector<std::string> numbers = {"prediction", "truth"};
  return {
      {.name = "mrr",
       .title = "mean reciprocal rank",
       .help = "for pairs without numbers: mean of 1 / rank, where rank is the place of a pair's second text "
               "among the candidates, ordered by their similarity to the first text",
       .fraction = true,
       .reducer = Reducer::ratio,
       .columns = {"reciprocal_rank", "pairs"},
       .always = false},
      {.name = "accuracy",
       .title = "accuracy at 1",
       .help = "for pairs without numbers: share of the pairs whose second text is the candidate nearest to "
               "the first text",
       .fraction = true,
       .reducer = Reducer::ratio,
       .columns = {"found", "pairs"},
       .always = false},
      {.name = "spearman",
       .title = "Spearman's rho",
       .help = "for pairs with numbers: rank correlation of the cosines with the true numbers, in [-1, 1]",
       .reducer = Reducer::rank_correlation,
       .columns = numbers,
       .always = false},
      {.name = "pearson",
       .title = "Pearson's r",
       .help = "for pairs with numbers: correlation of the cosines with the true numbers, in [-1, 1]",
       .reducer = Reducer::correlation,
       .columns = numbers,
       .always = false}};
}

// --- what the training set decides ---

void Embed::prepare(const Records& train) {
  if (train.size() == 0) throw Error("the training set has no pairs to learn from");
  scale_ = {};
  negatives_.clear();
  if (!train.has(number_field)) {
    if (mined_ > 0) negatives_ = mine_negatives(train.texts("text"), train.texts("text2"), mined_);
    return;
  }
  require_no_negatives(train);
  for (const double value : train.numbers(number_field)) checked(value);
  const auto [least, most] = std::ranges::minmax(train.numbers(number_field));
  if (least == most)
    throw Error("all pairs of the training set have the number " + written(least) +
                "; there is nothing to learn");
  scale_ = {.least = least, .most = most};
}

/// Throws Error if pairs with numbers have negatives, too: their loss looks at one pair only.
void Embed::require_no_negatives(const Records& train) const {
  if (mined_ > 0)
    throw Error("mined_negatives = " + std::to_string(mined_) +
                " is for pairs without numbers, but the training set has numbers: remove it");
  if (train.has(negatives_field))
    throw Error("the training set has both numbers and negatives: expected one of them");
}

void Embed::extend(const Records& other) {
  if (scale_.is_known() && !other.has(number_field))
    throw Error("the records lack the field \"number\", which the training set has");
  if (other.has(number_field))
    for (const double value : other.numbers(number_field)) checked(value);
}

void Embed::adopt(const std::vector<std::string>&) {
  scale_ = {};
  negatives_.clear();
}

std::string Embed::knowledge() const {
  return scale_.is_known() ? std::string(numbers_text) + text_of(scale_) + "\n" : std::string(pairs_text);
}

void Embed::restore(std::string_view knowledge) {
  scale_ = {};
  negatives_.clear();
  if (knowledge == pairs_text) return;
  if (knowledge.starts_with(numbers_text) && knowledge.ends_with('\n')) {
    knowledge.remove_prefix(numbers_text.size());
    knowledge.remove_suffix(1);
    if (const auto scale = scale_in(knowledge)) {
      scale_ = *scale;
      return;
    }
  }
  throw Error("invalid knowledge of the task \"embed\"");
}

TextCounts Embed::text_counts(const Records& train) const {
  tasks::WordCounts counts;
  for (const char* field : text_fields)
    for (const std::string& text : train.texts(field)) counts.add(text);
  return counts.sorted();
}

// --- encoding ---

std::vector<ColumnRule> Embed::columns() const {
  std::vector<ColumnRule> columns = {
      {.name = "first", .space = Space::sequences},   // 0: the first text of a pair
      {.name = "second", .space = Space::sequences},  // 0: the second text, or a negative behind it
      {.name = "cut_pieces", .space = Space::sequences},
      tasks::number_bits_rule()};
  if (scale_.is_known())  // the cosine to learn
    columns.push_back(
        {.name = "similarity", .space = Space::sequences, .type = ColumnType::numbers, .truth = true});
  if (stride_ > 0) {
    columns.push_back({.name = window_column, .space = Space::sequences});  // its number within its input
    columns.push_back({.name = tasks::own_tokens_column, .space = Space::sequences});
  }
  return columns;
}

std::vector<OutputRule> Embed::outputs() const {
  return {{.name = embedding_output, .space = Space::sequences, .type = ColumnType::numbers, .width = 0}};
}

void Embed::add_text(const std::string& text, const Tokenizer& tokenizer, EncodedExample& to,
                     const std::function<void(bool)>& add_columns) const {
  std::vector<std::int32_t> tokens;
  tokenizer.encode(text, tokens);
  const std::size_t room = max_length_ - 2,
                    kept = stride_ > 0 ? tokens.size() : std::min(tokens.size(), room);
  const std::vector<TextWindow> windows = windows_of(kept, room, stride_);
  const std::vector<std::size_t> own = own_tokens(windows);
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(windows[i].first);
    to.ids.push_back(tokenizer.special(Special::start));
    to.ids.insert(to.ids.end(), begin, begin + static_cast<std::ptrdiff_t>(windows[i].count));
    to.ids.push_back(tokenizer.special(Special::end));
    to.integers(cut_tokens).push_back(static_cast<std::int32_t>(tokens.size() - kept));
    if (stride_ > 0) {
      to.integers(window_columns()).push_back(static_cast<std::int32_t>(i));
      to.integers(window_columns() + 1).push_back(static_cast<std::int32_t>(own[i]));
    }
    add_columns(i == 0);
    to.end_sequence();
  }
}

/// Returns both inputs of a pair, then its negatives; a single input, if the record has no second one.
std::vector<std::string> Embed::texts_of(const Records& records, std::size_t record) const {
  std::vector<std::string> texts = {records.texts("text")[record]};
  const std::string& second = records.texts("text2")[record];
  if (second.empty()) return texts;
  texts.push_back(second);
  const auto add = [&](const std::vector<std::string>& negatives) {
    texts.insert(texts.end(), negatives.begin(), negatives.end());
  };
  if (records.has(negatives_field)) add(records.lists(negatives_field)[record]);
  if (const auto mined = negatives_.find(texts.front()); mined != negatives_.end()) add(mined->second);
  return texts;
}

void Embed::encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
                   EncodedExample& to) const {
  const std::vector<std::string> texts = texts_of(records, record);
  const bool has_number = records.has(number_field);
  const double value = has_number ? checked(records.numbers(number_field)[record]) : 0.0;
  for (std::size_t which = 0; which < texts.size(); ++which)
    add_text(texts[which], tokenizer, to, [&](bool is_first_window) {
      // The other windows of an input are of neither side: their vectors are part of that of the first.
      to.integers(first).push_back(is_first_window && texts.size() > 1 && which == 0 ? 0 : no_target);
      to.integers(second).push_back(is_first_window && which > 0 ? 0 : no_target);
      if (!has_number) return;
      tasks::put_number(value, to.integers(bits));
      if (scale_.is_known()) to.numbers(scaled).push_back(static_cast<float>(scale_.cosine_of(value)));
    });
}

std::size_t Embed::windows(const ExampleSet& set, std::size_t example) const {
  if (stride_ == 0) return 1;
  const std::size_t column = set.column(window_column);
  const Run of = set.sequences(example);
  std::int32_t last = 0;
  for (std::size_t s = of.first; s < of.first + of.count; ++s)
    last = std::max(last, set.integers(column, s).front());
  return static_cast<std::size_t>(last) + 1;
}

SetDescription Embed::describe(const ExampleSet& set) const {
  const std::size_t cuts = set.column("cut_pieces");
  const InputPlaces places(set);
  const auto inputs = static_cast<std::int64_t>(places.inputs());
  std::int64_t texts = 0, tokens = 0, negatives = 0;
  for (std::size_t i = 0; i < set.size(); ++i)
    negatives += static_cast<std::int64_t>(std::max<std::size_t>(places.inputs(i), 2) - 2);
  for (const std::int32_t here : set.columns()[cuts].integers) {
    texts += here > 0 ? 1 : 0;
    tokens += here;
  }
  SetDescription description;
  description.counts = {{"cut texts", texts}, {"cut pieces", tokens}};
  if (negatives > 0) description.counts.emplace_back("hard negatives", negatives);
  if (const auto windows = static_cast<std::int64_t>(set.sequence_count()); windows > inputs)
    description.notes.push_back("inputs that are longer than max_length = " + std::to_string(max_length_) +
                                " are read in windows: " + counted(windows, "window", "windows") + " of " +
                                counted(inputs, "input", "inputs"));
  if (texts > 0)
    description.notes.push_back(std::to_string(texts) + " of " + counted(inputs, "input", "inputs") +
                                " are longer than max_length = " + std::to_string(max_length_) + ": " +
                                counted(tokens, "token is", "tokens are") + " cut at the end");
  if (scale_.is_known())
    description.notes.push_back("numbers from " + written(scale_.least) + " to " + written(scale_.most) +
                                ", the range of the training set, are learned as cosines from 0 to 1");
  return description;
}

// --- measures and predictions ---

void Embed::measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const {
  const Vectors vectors(set, outputs, embedding_output);
  const InputPlaces places(set);
  const bool has_numbers = set.has_column(tasks::number_bits_column);
  for (std::size_t i = 0; i < set.size(); ++i) {
    statistics.begin_example();
    if (!places.is_pair(i)) continue;
    if (has_numbers) {
      statistics.add("prediction", cosine_of_pair(places, vectors, i));
      statistics.add("truth", tasks::number_in(set.integers(set.column(tasks::number_bits_column),
                                                            set.sequences(i).first)));
    }
    if (scale_.is_known()) continue;  // a pair with a low number need not match
    const std::size_t rank = rank_of(places, vectors, i, group_of(i, set.size(), candidates_));
    statistics.add("reciprocal_rank", 1.0 / static_cast<double>(rank));
    statistics.add("found", rank == 1 ? 1 : 0);
    statistics.add("pairs", 1);
  }
}

Records Embed::label(const Records&, const ExampleSet& set, const Outputs& outputs) const {
  const Vectors vectors(set, outputs, embedding_output);
  const InputPlaces places(set);
  Records::Numbers cosines, numbers;
  for (std::size_t i = 0; i < set.size(); ++i) {
    cosines.push_back(cosine_of_pair(places, vectors, i));
    if (scale_.is_known()) numbers.push_back(scale_.number_of(cosines.back()));
  }
  Records labelled;
  labelled.add("similarity", std::move(cosines));
  if (scale_.is_known()) labelled.add(number_field, std::move(numbers));
  return labelled;
}

// --- text that a user types ---

Records Embed::from_text(std::span<const std::string> lines) const {
  Records::Texts texts(lines.begin(), lines.end()), others(lines.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::size_t tab = texts[i].find('\t');
    if (tab == std::string::npos) continue;
    if (texts[i].find('\t', tab + 1) != std::string::npos)
      throw Error(quoted_line(texts[i]) +
                  " has more than one tab: expected one text, or two with a tab between");
    others[i] = texts[i].substr(tab + 1);
    texts[i].resize(tab);
  }
  Records records;
  records.add("text", std::move(texts));
  records.add("text2", std::move(others));
  return records;
}

Records Embed::answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const {
  const Vectors vectors(set, outputs, embedding_output);
  const InputPlaces places(set);
  Records::NumberLists embeddings[2];
  Records::Texts shown;
  bool any_pair = false;
  for (std::size_t i = 0; i < set.size(); ++i) {
    for (std::size_t which = 0; which < 2; ++which) {
      const std::span<const float> vector =
          which < places.inputs(i) ? vectors.of(places.of(i, which)) : std::span<const float>();
      embeddings[which].emplace_back(vector.begin(), vector.end());
    }
    any_pair = any_pair || places.is_pair(i);
    const std::string& text = records.texts("text")[i];
    shown.push_back(places.is_pair(i) ? written(cosine_of_pair(places, vectors, i)) + "\t" + text + "\t" +
                                            records.texts("text2")[i]
                                      : shown_vector(vectors.of(places.of(i, 0))) + "\t" + text);
  }
  Records answers = any_pair ? label(records, set, outputs) : Records();
  answers.add("text", records.texts("text"));
  answers.add("embedding", std::move(embeddings[0]));
  if (any_pair) {
    answers.add("text2", records.texts("text2"));
    answers.add("embedding2", std::move(embeddings[1]));
  }
  answers.add("shown", std::move(shown));
  return answers;
}

std::string Embed::left_out(const ExampleSet& set, std::size_t example) const {
  const Run of = set.sequences(example);
  std::int64_t tokens = 0;
  for (std::size_t s = of.first; s < of.first + of.count; ++s)
    tokens += set.integers(set.column("cut_pieces"), s).front();
  return tokens == 0
             ? ""
             : "its vector does not depend on " +
                   (of.count == 1 ? "its last " + counted(tokens, "token", "tokens")
                                  : counted(tokens, "token", "tokens") + " at the ends of both inputs");
}

}  // namespace encore::embed
