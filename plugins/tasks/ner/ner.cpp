// Records of sentences to rows, and classes of rows back to tags, entities and counts.
#include "ner.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "entities.hpp"
#include "measures.hpp"
#include "text_words.hpp"

namespace encore::ner {
namespace {

const std::string outside = "O";

/// The columns of an example, in the order of Ner::columns().
enum : std::size_t { targets, labelled, first_pieces, tags, cut_words };

/// Throws Error for a tag that is none of IOB2.
std::string type_in_iob2(const std::string& tag) {
  if (tag.size() < 3 || (tag[0] != 'B' && tag[0] != 'I') || tag[1] != '-')
    throw Error("\"" + tag + "\" is no tag of IOB2; a tag is O, or B- or I- before a type");
  return tag.substr(2);
}

/// Entities of which a word lies at or behind `kept`.
std::int64_t count_cut_entities(std::span<const std::string> tags, std::size_t kept) {
  std::int64_t cut = 0;
  if (kept < tags.size() && tags[kept][0] == 'I') ++cut;  // begun before the cut
  for (std::size_t i = kept; i < tags.size(); ++i) cut += tags[i][0] == 'B';
  return cut;
}

std::string counted(std::int64_t count, const char* one, const char* several) {
  return std::to_string(count) + " " + (count == 1 ? one : several);
}

/// "[Anna Berg PER] met the mayor of [Lund LOC] ."
std::string bracketed(const std::vector<TextWord>& words, const std::vector<Entity>& entities) {
  std::string text;
  auto next = entities.begin();
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += ' ';
    if (next != entities.end() && static_cast<std::size_t>(next->begin) == i) text += '[';
    text += words[i].text;
    if (next != entities.end() && static_cast<std::size_t>(next->end) == i + 1)
      text += " " + next++->type + "]";
  }
  return text;
}

}  // namespace

/// The columns of a set, found once.
class Ner::Columns {
 public:
  explicit Columns(const ExampleSet& set)
      : set_(set),
        tags_(set.column("tags")),
        first_pieces_(set.column("first_pieces")),
        cut_words_(set.column("cut_words")) {}
  std::span<const std::int32_t> tags(std::size_t sequence) const { return set_.integers(tags_, sequence); }
  std::span<const std::int32_t> first_pieces(std::size_t sequence) const {
    return set_.integers(first_pieces_, sequence);
  }
  std::int32_t cut_words(std::size_t sequence) const { return set_.integers(cut_words_, sequence)[0]; }

 private:
  const ExampleSet& set_;
  std::size_t tags_, first_pieces_, cut_words_;
};

Ner::Ner(const Options&, const TaskContext& context) : max_length_(context.max_length) {
  ENCORE_REQUIRE(max_length_ >= 3, "max_length must leave room for the two markers and one piece");
}

std::vector<Measure> Ner::measures() {
  return ner::measures();
}

// --- what the training set decides ---

void Ner::prepare(const Records& train) {
  std::set<std::string> types;
  for (const std::vector<std::string>& sentence : train.lists("tags"))
    for (const std::string& tag : sentence)
      if (tag != outside) types.insert(type_in_iob2(tag));
  if (types.empty())
    throw Error(
        "no word of the training set belongs to an entity (every tag is O); there is nothing to learn");
  std::vector<std::string> labels = {outside};
  for (const std::string& type : types) {
    labels.push_back("B-" + type);
    labels.push_back("I-" + type);
  }
  names_ = tasks::LabelNames(labels);
}

void Ner::extend(const Records& other) {
  for (const std::vector<std::string>& sentence : other.lists("tags"))
    for (const std::string& tag : sentence) {
      if (tag != outside) type_in_iob2(tag);
      names_.add(tag);
    }
}

TextCounts Ner::text_counts(const Records& train) const {
  // Counted in a hash table and sorted once: the map is part of the interface because its order is fixed.
  std::unordered_map<std::string_view, std::int64_t> counts;
  for (const std::vector<std::string>& sentence : train.lists("words"))
    for (const std::string& word : sentence) ++counts[word];
  return {counts.begin(), counts.end()};
}

// --- records to numbers ---

std::vector<ColumnRule> Ner::columns() const {
  return {
      {.name = targets_column, .truth = true},           // label of the first piece of each word
      {.name = "labelled"},                              // 0 on these rows, `no_target` on others
      {.name = "first_pieces", .space = Space::ragged},  // the same rows, those of words that were kept
      {.name = "tags", .space = Space::ragged, .truth = true},  // number of each word's true tag, cut or not
      {.name = "cut_words", .space = Space::sequences}};        // words at the end that did not fit
}

std::vector<OutputRule> Ner::outputs() const {
  return {{.name = classes_output, .truth = targets_column}};
}

void Ner::encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
                 EncodedExample& to) const {
  const std::vector<std::string>& words = records.lists("words")[record];
  const std::int32_t unknown = tokenizer.special(Special::unknown);
  std::vector<std::int32_t> pieces;
  to.ids.push_back(tokenizer.special(Special::start));
  for (const std::string& word : words) {
    pieces.clear();
    tokenizer.encode(word, pieces);
    if (pieces.empty()) pieces.push_back(unknown);
    if (static_cast<std::int64_t>(to.ids.size() + pieces.size()) > max_length_ - 1) break;
    to.integers(first_pieces).push_back(static_cast<std::int32_t>(to.ids.size()));
    to.ids.insert(to.ids.end(), pieces.begin(), pieces.end());
  }
  to.ids.push_back(tokenizer.special(Special::end));
  const std::vector<std::int32_t>& rows = to.integers(first_pieces);
  to.integers(cut_words).push_back(static_cast<std::int32_t>(words.size() - rows.size()));
  to.integers(labelled).assign(to.ids.size(), no_target);
  for (const std::int32_t row : rows) to.integers(labelled)[static_cast<std::size_t>(row)] = 0;
  if (!records.has("tags")) return;
  const std::vector<std::string>& truth = records.lists("tags")[record];
  if (truth.size() != words.size())
    throw Error("record " + std::to_string(record + 1) + " has " +
                counted(std::ssize(words), "word", "words") + " and " +
                counted(std::ssize(truth), "tag", "tags"));
  for (const std::string& tag : truth) to.integers(tags).push_back(names_.number(tag));
  to.integers(targets).assign(to.ids.size(), no_target);
  for (std::size_t word = 0; word < rows.size(); ++word)
    if (const std::int32_t tag = to.integers(tags)[word]; names_.is_label(tag))
      to.integers(targets)[static_cast<std::size_t>(rows[word])] = tag;
}

SetDescription Ner::describe(const ExampleSet& set) const {
  const Columns in(set);
  std::int64_t words = 0, entities = 0, unseen_words = 0, cut_sentences = 0, cut = 0, cut_entities = 0;
  std::map<std::string, std::int64_t> unseen;
  for (std::size_t i = 0; i < set.size(); ++i) {
    words += std::ssize(in.tags(i));
    for (const std::int32_t tag : in.tags(i)) {
      unseen_words += names_.is_label(tag) ? 0 : 1;
      if (names_.name(tag)[0] != 'B') continue;
      ++entities;
      if (!names_.is_label(tag)) ++unseen[names_.name(tag).substr(2)];
    }
    if (in.cut_words(i) == 0) continue;
    ++cut_sentences;
    cut += in.cut_words(i);
    cut_entities += count_cut_entities(true_tags(in, i), in.first_pieces(i).size());
  }
  SetDescription description;
  description.counts = {{"words", words},
                        {"entities", entities},
                        {"cut sentences", cut_sentences},
                        {"cut words", cut},
                        {"cut entities", cut_entities},
                        {"words with labels not in training", unseen_words}};
  std::vector<std::string>& notes = description.notes;
  if (entities == 0)
    notes.push_back(
        "no word belongs to an entity, so its F1 is 0 whatever a model finds, and chooses no checkpoint");
  if (cut_sentences > 0)
    notes.push_back(std::to_string(cut_sentences) + " of " + std::to_string(set.size()) +
                    " sentences are longer than max_length = " + std::to_string(max_length_) + ": " +
                    std::to_string(cut) + " words are cut, " + std::to_string(cut_entities) +
                    " entities with them count as missed");
  for (const auto& [type, count] : unseen)
    notes.push_back("the label \"" + type + "\" of " + counted(count, "entity", "entities") +
                    " does not stand in the training set; they are scored as missed");
  return description;
}

// --- outputs to what is reported ---

void Ner::measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const {
  const Columns in(set);
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::vector<std::string> truth = true_tags(in, i),
                                   predicted =
                                       predicted_tags(in, i, outputs.integers(classes_output, set, i));
    measure_sentence(truth, predicted, statistics);
  }
}

Records Ner::label(const Records&, const ExampleSet& set, const Outputs& outputs) const {
  Records labelled;
  labelled.add("tags", all_predicted(set, outputs));
  return labelled;
}

// --- text that a user types ---

Records Ner::from_text(std::span<const std::string> lines) const {
  Records::TextLists words(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i)
    for (const TextWord& word : split_words(lines[i])) words[i].emplace_back(word.text);
  Records records;
  records.add("text", Records::Texts(lines.begin(), lines.end()));
  records.add("words", std::move(words));
  return records;
}

Records Ner::answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const {
  const Records::Texts& texts = records.texts("text");
  const Records::TextLists predicted = all_predicted(set, outputs);
  Records::SpanLists found(texts.size());
  Records::Texts shown(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::vector<TextWord> words = split_words(texts[i]);
    const std::vector<Entity> entities = entities_of(predicted[i]);
    for (const Entity& entity : entities) {
      const TextWord& first = words[static_cast<std::size_t>(entity.begin)];
      const TextWord& last = words[static_cast<std::size_t>(entity.end - 1)];
      found[i].push_back({.label = entity.type,
                          .text = std::string(first.text.data(), last.text.data() + last.text.size()),
                          .start = static_cast<std::int64_t>(first.start),
                          .end = static_cast<std::int64_t>(last.end)});
    }
    shown[i] = bracketed(words, entities);
  }
  Records answers;
  answers.add("text", texts);
  answers.add("entities", std::move(found));
  answers.add("shown", std::move(shown));
  return answers;
}

std::string Ner::left_out(const ExampleSet& set, std::size_t sequence) const {
  const std::int32_t cut = Columns(set).cut_words(sequence);
  return cut == 0 ? "" : "entities are not looked for in its last " + counted(cut, "word", "words");
}

// --- tags of a sentence ---

std::vector<std::string> Ner::true_tags(const Columns& in, std::size_t sequence) const {
  std::vector<std::string> names;
  for (const std::int32_t tag : in.tags(sequence)) names.push_back(names_.name(tag));
  return names;
}

std::vector<std::string> Ner::predicted_tags(const Columns& in, std::size_t sequence,
                                             std::span<const std::int32_t> classes) const {
  std::vector<std::string> names;
  for (const std::int32_t row : in.first_pieces(sequence))
    names.push_back(names_.name(classes[static_cast<std::size_t>(row)]));
  names.resize(names.size() + static_cast<std::size_t>(in.cut_words(sequence)), outside);
  return names;
}

Records::TextLists Ner::all_predicted(const ExampleSet& set, const Outputs& outputs) const {
  const Columns in(set);
  Records::TextLists predicted(set.size());
  for (std::size_t i = 0; i < set.size(); ++i)
    predicted[i] = predicted_tags(in, i, outputs.integers(classes_output, set, i));
  return predicted;
}

}  // namespace encore::ner
