// Records of texts to windows with masks, and what the head guesses to counts and answers. How many rows a
// window picks follows from its pieces alone, which rows from a key: of the content in `encode`, of seed,
// epoch and example in `redraw`. redraw sees no tokenizer, so what it has to know of the vocabulary stands in
// a column.
#include "mlm.hpp"

#include <algorithm>
#include <charconv>

#include "whole_words.hpp"
#include "word_counts.hpp"

namespace encore::mlm {
namespace {

/// The columns of an example, in the order of Mlm::columns().
enum : std::size_t { picked, targets, specials, words };

constexpr const char* candidates_output = "candidates";
constexpr const char* probabilities_output = "probabilities";
constexpr const char* losses_output = "losses";
/// A field of records that a user typed: they are masked already.
constexpr const char* typed_field = "typed";
constexpr const char* knowledge_text = "mlm\n";

/// Dev and test sets, and the first form of a training set: no epoch of a training has this number.
constexpr std::int64_t no_epoch = -1;

std::vector<std::int32_t> specials_of(const Tokenizer& tokenizer) {
  std::vector<std::int32_t> numbers;
  for (const Special role : all_specials)
    if (const std::optional<std::int32_t> number = tokenizer.find(role)) numbers.push_back(*number);
  std::ranges::sort(numbers);
  const auto [begin, end] = std::ranges::unique(numbers);
  numbers.erase(begin, end);
  return numbers;
}

/// FNV-1a (Fowler, Noll and Vo) of the numbers of pieces.
std::uint64_t hash_of(std::span<const std::int32_t> ids) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const std::int32_t id : ids) hash = (hash ^ static_cast<std::uint32_t>(id)) * 0x100000001B3U;
  return hash;
}

/// "0.412"
std::string fixed(float value) {
  char digits[32];
  const auto written = std::to_chars(digits, digits + sizeof(digits), value, std::chars_format::fixed, 3);
  return {digits, written.ptr};
}

/// What the measures are made of, for one example.
struct Guesses {
  double masked = 0.0, correct = 0.0, loss = 0.0;
};

Guesses guesses_of(const ExampleSet& set, const Outputs& outputs, std::size_t example) {
  const auto width = static_cast<std::size_t>(outputs.get(candidates_output).rule.width);
  const Run of = set.sequences(example);
  Guesses guesses;
  for (std::size_t s = of.first; s < of.first + of.count; ++s) {
    const std::span<const std::int32_t> truth = set.integers(targets, s),          // (M)
        best = outputs.integers(candidates_output, set, s);                        // (M, width)
    const std::span<const float> losses = outputs.numbers(losses_output, set, s);  // (M)
    for (std::size_t m = 0; m < truth.size(); ++m) {
      if (truth[m] == no_target) continue;
      guesses.masked += 1.0;
      guesses.correct += best[m * width] == truth[m] ? 1.0 : 0.0;
      guesses.loss += static_cast<double>(losses[m]);
    }
  }
  return guesses;
}

/// What belongs to one window of an example whose windows are closed.
template <class T>
std::span<T> part_of(std::vector<T>& values, const std::vector<std::int32_t>& ends, std::size_t window) {
  const auto begin = window == 0 ? 0 : static_cast<std::size_t>(ends[window - 1]);
  return std::span(values).subspan(begin, static_cast<std::size_t>(ends[window]) - begin);
}

}  // namespace

Schema Mlm::options() {
  return Schema()
      .number("probability", 0.15,
              {.help = "share of a text's pieces that are picked to be guessed, at least one",
               .min = 0.0,
               .max = 1.0,
               .exclusive_min = true})
      .boolean("whole_word", false, {.help = "pick all pieces of a word together"});
}

std::vector<Measure> Mlm::measures() {
  return {{.name = "perplexity",
           .help = "e to the mean loss of the masked pieces: among how many equally likely ones it chooses",
           .better = Better::lower,
           .reducer = Reducer::exponential,
           .columns = {"loss", "masked"}},
          {.name = "accuracy",
           .title = "masked accuracy",
           .help = "share of the masked pieces that are guessed",
           .fraction = true,
           .reducer = Reducer::ratio,
           .columns = {"correct", "masked"}}};
}

Mlm::Mlm(const Options& options, const TaskContext& context)
    : max_length_(static_cast<std::size_t>(context.max_length)),
      probability_(options.number("probability")),
      whole_word_(options.flag("whole_word")) {
  ENCORE_REQUIRE(context.max_length >= 3, "max_length must leave room for the two markers and one piece");
}

// --- what the training set decides ---

void Mlm::prepare(const Records& train) {
  if (train.texts("text").empty()) throw Error("the training set has no text; there is nothing to learn");
}

std::string Mlm::knowledge() const {
  return knowledge_text;
}

void Mlm::restore(std::string_view knowledge) {
  if (knowledge != knowledge_text)
    throw Error("the run's labels are those of another task; masked language modelling has none");
}

TextCounts Mlm::text_counts(const Records& train) const {
  tasks::WordCounts counts;
  for (const std::string& text : train.texts("text")) counts.add(text);
  return counts.sorted();
}

// --- records to numbers ---

std::vector<ColumnRule> Mlm::columns() const {
  std::vector<ColumnRule> rules = {
      {.name = picked_column, .space = Space::ragged},
      {.name = targets_column, .space = Space::picked},  // no_target where the truth is not known
      // Of the first window: the number of pieces in the vocabulary, the mask piece, all special pieces.
      {.name = "specials", .space = Space::ragged}};
  if (whole_word_) rules.push_back({.name = "words", .space = Space::ragged});  // the word of each row
  return rules;
}

std::vector<OutputRule> Mlm::outputs() const {
  return {{.name = candidates_output, .space = Space::picked, .width = 0},
          {.name = probabilities_output, .space = Space::picked, .type = ColumnType::numbers, .width = 0},
          {.name = losses_output, .space = Space::picked, .type = ColumnType::numbers}};
}

Mlm::Text Mlm::text_of(const std::string& text, const Tokenizer& tokenizer) const {
  Text result;
  if (!whole_word_) {
    tokenizer.encode(text, result.pieces);
    return result;
  }
  std::vector<ByteRange> ranges;
  tokenizer.encode(text, result.pieces, ranges);
  result.words = number_words(text, ranges);
  return result;
}

void Mlm::encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
                 EncodedExample& to) const {
  const bool typed = records.has(typed_field);
  if (typed) remember_names(tokenizer);
  const std::vector<std::int32_t> special_pieces = specials_of(tokenizer);
  const Pieces pieces = {.count = static_cast<std::int32_t>(tokenizer.vocabulary().size()),
                         .mask = tokenizer.special(Special::mask),
                         .specials = special_pieces};
  to.integers(specials).push_back(pieces.count);
  to.integers(specials).push_back(pieces.mask);
  to.integers(specials).insert(to.integers(specials).end(), special_pieces.begin(), special_pieces.end());
  const Text text = text_of(records.texts("text")[record], tokenizer);
  const std::size_t room = max_length_ - 2;
  std::size_t begin = 0;
  do {
    const std::size_t end = std::min(begin + room, text.pieces.size()), first_row = to.ids.size();
    to.ids.push_back(tokenizer.special(Special::start));
    for (std::size_t i = begin; i < end; ++i) to.ids.push_back(text.pieces[i]);
    to.ids.push_back(tokenizer.special(Special::end));
    if (whole_word_) {
      to.integers(words).push_back(no_word);
      for (std::size_t i = begin; i < end; ++i)
        to.integers(words).push_back(
            std::ranges::binary_search(special_pieces, text.pieces[i]) ? no_word : text.words[i]);
      to.integers(words).push_back(no_word);
    }
    if (typed)
      pick_masks(first_row, pieces, to);
    else
      mask_window(first_row, pieces, to);
    to.end_sequence();
    begin = end;
  } while (begin < text.pieces.size());
}

/// The rows from `first_row` on are a window that nothing is masked in yet.
void Mlm::mask_window(std::size_t first_row, const Pieces& pieces, EncodedExample& to) const {
  const std::span<std::int32_t> ids = std::span(to.ids).subspan(first_row);  // (T)
  const std::vector<std::int32_t> singles =
      whole_word_ ? std::vector<std::int32_t>() : single_pieces(ids, pieces);
  const std::span<const std::int32_t> word_of =
      whole_word_ ? std::span<const std::int32_t>(to.integers(words)).subspan(first_row)
                  : std::span<const std::int32_t>(singles);  // (T)
  const std::size_t count = count_picks(word_of, probability_), before = to.integers(picked).size();
  to.integers(picked).resize(before + count);
  to.integers(targets).resize(before + count);
  const std::span<std::int32_t> rows = std::span(to.integers(picked)).subspan(before);  // (M)
  const Draw draw(0, no_epoch, hash_of(ids), 0);
  pick_rows(word_of, draw, rows);
  mask_rows(rows, pieces, draw, ids, std::span(to.integers(targets)).subspan(before));
}

/// The same of a window in which a user wrote the mask piece where something is to be guessed.
void Mlm::pick_masks(std::size_t first_row, const Pieces& pieces, EncodedExample& to) {
  for (std::size_t row = first_row; row < to.ids.size(); ++row) {
    if (to.ids[row] != pieces.mask) continue;
    to.integers(picked).push_back(static_cast<std::int32_t>(row - first_row));
    to.integers(targets).push_back(no_target);
  }
}

void Mlm::redraw(const ExampleDraw& draw, EncodedExample& to) const {
  const std::vector<std::int32_t>& known = to.integers(specials);
  const Pieces pieces = {.count = known[0], .mask = known[1], .specials = std::span(known).subspan(2)};
  for (std::size_t window = 0; window < to.ends.size(); ++window) {
    const std::span<std::int32_t> ids = part_of(to.ids, to.ends, window);  // (T)
    const std::span<std::int32_t> rows =
        part_of(to.integers(picked), to.columns[picked].counts, window);  // (M)
    const std::span<std::int32_t> truth =
        part_of(to.integers(targets), to.columns[targets].counts, window);  // (M)
    restore_rows(rows, truth, ids);
    const Draw drawn(draw.seed, draw.epoch, draw.example, window);
    if (whole_word_)
      pick_rows(part_of(to.integers(words), to.columns[words].counts, window), drawn, rows);
    else
      pick_rows(single_pieces(ids, pieces), drawn, rows);
    mask_rows(rows, pieces, drawn, ids, truth);
  }
}

SetDescription Mlm::describe(const ExampleSet& set) const {
  const std::size_t sequences = set.sequence_count(), masked = set.rows(Space::picked);
  SetDescription description;
  description.counts = {{"windows", static_cast<std::int64_t>(sequences)},
                        {"pieces", static_cast<std::int64_t>(set.rows(Space::tokens) - 2 * sequences)},
                        {"masked pieces", static_cast<std::int64_t>(masked)}};
  if (masked == 0 && set.size() > 0)
    description.notes.push_back("no piece is masked: the tokenizer knows none of the text");
  return description;
}

// --- outputs to what is reported ---

void Mlm::measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const {
  for (std::size_t i = 0; i < set.size(); ++i) {
    const Guesses guesses = guesses_of(set, outputs, i);
    statistics.begin_example();
    statistics.add("masked", guesses.masked);
    statistics.add("correct", guesses.correct);
    statistics.add("loss", guesses.loss);
  }
}

Records Mlm::label(const Records&, const ExampleSet& set, const Outputs& outputs) const {
  Records::Numbers shares;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const Guesses guesses = guesses_of(set, outputs, i);
    shares.push_back(guesses.masked > 0.0 ? guesses.correct / guesses.masked : 0.0);
  }
  Records labelled;
  labelled.add("correct", std::move(shares));
  return labelled;
}

// --- text that a user types ---

Records Mlm::from_text(std::span<const std::string> lines) const {
  Records records;
  records.add("text", Records::Texts(lines.begin(), lines.end()));
  records.add(typed_field, Records::Numbers(lines.size(), 1.0));
  return records;
}

void Mlm::remember_names(const Tokenizer& tokenizer) const {
  const std::span<const std::string> vocabulary = tokenizer.vocabulary();
  const std::lock_guard lock(mutex_);
  if (names_.size() == vocabulary.size()) return;
  names_.assign(vocabulary.begin(), vocabulary.end());
  mask_name_ = names_[static_cast<std::size_t>(tokenizer.special(Special::mask))];
}

std::string Mlm::name(std::int32_t piece) const {
  if (piece < 0 || static_cast<std::size_t>(piece) >= names_.size())
    throw Error("the head names piece " + std::to_string(piece) + ", and the vocabulary has " +
                std::to_string(names_.size()));
  return names_[static_cast<std::size_t>(piece)];
}

Records Mlm::answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const {
  const auto width = static_cast<std::size_t>(outputs.get(candidates_output).rule.width);
  Records::TextLists masks, candidates;
  Records::Texts shown;
  for (std::size_t i = 0; i < set.size(); ++i) {
    masks.emplace_back();
    candidates.emplace_back();
    const Run of = set.sequences(i);
    for (std::size_t s = of.first; s < of.first + of.count; ++s) {
      const std::span<const std::int32_t> best = outputs.integers(candidates_output, set, s);  // (M, width)
      const std::span<const float> shares = outputs.numbers(probabilities_output, set, s);     // (M, width)
      for (std::size_t m = 0; m * width < best.size(); ++m) {
        masks.back().push_back(name(best[m * width]));
        std::string list;
        for (std::size_t k = m * width; k < (m + 1) * width; ++k)
          list += (list.empty() ? "" : " ") + name(best[k]) + " " + fixed(shares[k]);
        candidates.back().push_back(std::move(list));
      }
    }
    std::string line;
    for (const std::string& list : candidates.back()) line += (line.empty() ? "" : " | ") + list;
    shown.push_back((line.empty() ? "no " + mask_name_ : line) + "\t" + records.texts("text")[i]);
  }
  Records answers;
  answers.add("text", records.texts("text"));
  answers.add("masks", std::move(masks));
  answers.add("candidates", std::move(candidates));
  answers.add("shown", std::move(shown));
  return answers;
}

}  // namespace encore::mlm
