// SPDX-License-Identifier: BSD-3-Clause
// The task "ner": encodes sentences as rows, and turns the classes of rows into tags, entities and counts.
// Trainer and inference call it through Task; runs store knowledge() and the names of measures, so these must
// not change. Read ner.hpp first.
#include "ner.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "entities.hpp"
#include "label_scores.hpp"
#include "line_text.hpp"
#include "measures.hpp"

namespace encore::ner {
namespace {

using tasks::TextWord;

const std::string outside = "O";

/// Returns the type of the tag. Throws Error if the tag is not one of IOB2.
std::string type_in_iob2(const std::string& tag) {
  if (tag.size() < 3 || (tag[0] != 'B' && tag[0] != 'I') || tag[1] != '-')
    throw Error("invalid tag \"" + tag + "\": expected O, or B- or I- before a type (IOB2)");
  return tag.substr(2);
}

/// Returns the number of entities that have a word at or after index `kept`.
std::int64_t count_cut_entities(std::span<const std::string> tags, std::size_t kept) {
  std::int64_t cut = 0;
  if (kept < tags.size() && tags[kept][0] == 'I') ++cut;  // it began before the cut
  for (std::size_t i = kept; i < tags.size(); ++i) cut += tags[i][0] == 'B';
  return cut;
}

/// Gives each entity the mean and the lowest score of its words.
void score_entities(const std::vector<Entity>& entities, std::span<const double> word_scores,
                    std::vector<TextSpan>& found) {
  for (std::size_t e = 0; e < entities.size(); ++e) {
    const auto begin = static_cast<std::size_t>(entities[e].begin),
               count = static_cast<std::size_t>(entities[e].end) - begin;
    const std::span<const double> scores = word_scores.subspan(begin, count);
    double sum = 0.0;
    for (const double score : scores) sum += score;
    found[e].score = sum / static_cast<double>(count);
    found[e].least_score = *std::ranges::min_element(scores);
  }
}

/// Returns "[Anna Berg PER] met the mayor of [Lund LOC] .", or with scores "[Anna Berg PER 0.981] met ..."
std::string bracketed(const std::vector<TextWord>& words, const std::vector<Entity>& entities,
                      const std::vector<TextSpan>& found) {
  std::string text;
  auto next = entities.begin();
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += ' ';
    if (next != entities.end() && static_cast<std::size_t>(next->begin) == i) text += '[';
    text += words[i].text;
    if (next != entities.end() && static_cast<std::size_t>(next->end) == i + 1) {
      const TextSpan& span = found[static_cast<std::size_t>(next - entities.begin())];
      text += " " + next++->type + (span.score ? " " + tasks::score_text(*span.score) : "") + "]";
    }
  }
  return text;
}

}  // namespace

Ner::Ner(const Options& options, const TaskContext& context)
    : max_length_(context.max_length), words_(options, context, outside) {}

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
  words_.prepare(labels, train);
}

/// Takes the classes of an imported model. Classes of BILOU become those of BIOES with the same meaning.
void Ner::adopt(const std::vector<std::string>& classes) {
  std::vector<std::string> tags = classes;
  for (std::string& tag : tags) {
    const char mark = tag.size() > 2 && tag[1] == '-' ? tag[0] : '?';
    if (tag != outside && std::string_view("BIESLU").find(mark) == std::string_view::npos)
      throw Error(
          "invalid class \"" + tag +
          "\" (id2label): expected the tag of an entity, such as O, B-PER or I-PER; if the classes are other "
          "labels of words, import the folder for the task tag");
    if (mark == 'L') tag[0] = 'E';
    if (mark == 'U') tag[0] = 'S';
  }
  words_.adopt(tags);
  find_scheme();
}

void Ner::restore(std::string_view knowledge) {
  words_.restore(knowledge);
  find_scheme();
}

void Ner::find_scheme() {
  bioes_ = std::ranges::any_of(words_.names().labels(), [](const std::string& tag) {
    return tag.starts_with("E-") || tag.starts_with("S-");
  });
}

std::vector<std::string> Ner::iob2(std::vector<std::string> tags) const {
  return bioes_ ? tags_in_iob2(tags) : tags;
}

std::vector<std::string> Ner::own_tags(const std::vector<std::string>& iob2) const {
  return bioes_ ? tags_in_bioes(iob2) : iob2;
}

void Ner::encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
                 EncodedExample& to) const {
  if (!bioes_ || !records.has("tags")) return words_.encode(records, record, tokenizer, to);
  Records one;
  one.add("words", Records::TextLists{records.lists("words")[record]});
  one.add("tags", Records::TextLists{own_tags(records.lists("tags")[record])});
  words_.encode(one, 0, tokenizer, to);
}

void Ner::extend(const Records& other) {
  for (const std::vector<std::string>& sentence : other.lists("tags")) {
    for (const std::string& tag : sentence)
      if (tag != outside) type_in_iob2(tag);
    for (const std::string& tag : own_tags(sentence)) words_.add(tag);
  }
}

SetDescription Ner::describe(const ExampleSet& set) const {
  const tasks::LabelNames& names = words_.names();
  const tasks::WordLabels::Columns in(set);
  std::int64_t words = 0, entities = 0, unseen_words = 0, cut_sentences = 0, cut = 0, cut_entities = 0;
  std::map<std::string, std::int64_t> unseen;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::vector<std::int32_t> tags = in.tags(i);
    words += std::ssize(tags);
    for (const std::int32_t tag : tags) {
      unseen_words += names.is_label(tag) ? 0 : 1;
      if (const char mark = names.name(tag)[0]; mark != 'B' && mark != 'S') continue;
      ++entities;
      if (!names.is_label(tag)) ++unseen[names.name(tag).substr(2)];
    }
    if (in.cut_words(i) == 0) continue;
    ++cut_sentences;
    cut += in.cut_words(i);
    cut_entities += count_cut_entities(iob2(words_.true_labels(in, i)), in.read_words(i));
  }
  SetDescription description;
  description.counts = {{"words", words},
                        {"entities", entities},
                        {"cut sentences", cut_sentences},
                        {"cut words", cut},
                        {"cut entities", cut_entities},
                        {"words with labels not in training", unseen_words}};
  if (const std::int64_t windowed = in.windowed(); windowed > 0)
    description.counts.emplace_back("sentences in windows", windowed);
  std::vector<std::string>& notes = description.notes;
  if (entities == 0)
    notes.push_back(
        "no word belongs to an entity, so F1 is 0 for every model and cannot select a checkpoint");
  if (cut_sentences > 0)
    notes.push_back(std::to_string(cut_sentences) + " of " + std::to_string(set.size()) +
                    " sentences are longer than max_length = " + std::to_string(max_length_) + ": " +
                    std::to_string(cut) + " words are cut, " + std::to_string(cut_entities) +
                    " entities with them count as missed");
  for (const auto& [type, count] : unseen)
    notes.push_back("the label \"" + type + "\" of " + counted(count, "entity", "entities") +
                    " is not in the training set; it always counts as missed");
  return description;
}

// --- measures and labels ---

void Ner::measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const {
  const tasks::WordLabels::Columns in(set);
  for (std::size_t i = 0; i < set.size(); ++i)
    measure_sentence(iob2(words_.true_labels(in, i)), iob2(words_.predicted_labels(in, i, outputs)),
                     statistics);
}

Records Ner::label(const Records&, const ExampleSet& set, const Outputs& outputs) const {
  Records::TextLists tags = words_.all_predicted(set, outputs);
  for (std::vector<std::string>& sentence : tags) sentence = iob2(std::move(sentence));
  Records labelled;
  labelled.add("tags", std::move(tags));
  return labelled;
}

// --- text that a user types ---

Records Ner::answers_of(const Records& records, const ExampleSet& set, const Outputs& outputs,
                        bool with_scores) const {
  const Records::TextLists& given = records.lists("words");
  Records::Texts texts = records.has("text") ? records.texts("text") : Records::Texts(records.size());
  const Records::TextLists predicted = words_.all_predicted(set, outputs);
  Records::SpanLists found(texts.size());
  Records::Texts shown(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::vector<TextWord> words = tasks::split_words(texts[i]);
    // A file may have words without their text, or beside another one.
    if (!std::ranges::equal(words, given[i], {}, &TextWord::text))
      words = tasks::join_words(given[i], texts[i]);
    const std::vector<Entity> entities = entities_of(predicted[i]);
    for (const Entity& entity : entities) {
      const TextWord& first = words[static_cast<std::size_t>(entity.begin)];
      const TextWord& last = words[static_cast<std::size_t>(entity.end - 1)];
      found[i].push_back({.label = entity.type,
                          .text = std::string(first.text.data(), last.text.data() + last.text.size()),
                          .start = static_cast<std::int64_t>(first.start),
                          .end = static_cast<std::int64_t>(last.end)});
    }
    if (with_scores)
      score_entities(entities, words_.scores(tasks::WordLabels::Columns(set), i, outputs).predicted,
                     found[i]);
    shown[i] = bracketed(words, entities, found[i]);
  }
  Records answers;
  answers.add("text", std::move(texts));
  answers.add("entities", std::move(found));
  answers.add("shown", std::move(shown));
  return answers;
}

}  // namespace encore::ner
