// SPDX-License-Identifier: BSD-3-Clause
// The measures of the task "ner", and what a sentence adds to them. Column names are literals of this file
// only; runs store them, so they never change. ner.cpp calls it. Read measures.hpp first.
#include "measures.hpp"

#include <map>
#include <string_view>
#include <utility>

#include <encore/error.hpp>

#include "entities.hpp"

namespace encore::ner {
namespace {

std::string_view type_or_outside(std::string_view tag) {
  const std::string_view type = entity_type(tag);
  return type.empty() ? std::string_view("O") : type;
}

}  // namespace

std::vector<Measure> measures() {
  const std::vector<std::string> f1 = {"correct", "predicted", "truth"}, precision = {"correct", "predicted"},
                                 recall = {"correct", "truth"};
  return {{.name = "f1",
           .title = "F1",
           .help = "F1 of the entities of all types; an entity is right if its words and its type are",
           .fraction = true,
           .reducer = Reducer::harmonic_mean,
           .columns = f1},
          {.name = "precision",
           .help = "share of the predicted entities that are right",
           .fraction = true,
           .reducer = Reducer::ratio,
           .columns = precision},
          {.name = "recall",
           .help = "share of the true entities that are predicted",
           .fraction = true,
           .reducer = Reducer::ratio,
           .columns = recall},
          {.name = "f1_macro",
           .title = "macro F1",
           .help = "mean of the F1 of each entity type",
           .fraction = true,
           .reducer = Reducer::macro_harmonic_mean,
           .columns = f1},
          {.name = "token_accuracy",
           .title = "token accuracy",
           .help = "share of the words with the right tag",
           .fraction = true,
           .reducer = Reducer::ratio,
           .columns = {"correct_words", "words"}},
          // Not `always`: which types occur depends on the data.
          {.name = "f1/{label}",
           .title = "F1",
           .help = "F1 of one entity type",
           .fraction = true,
           .reducer = Reducer::harmonic_mean,
           .columns = f1,
           .always = false},
          {.name = "precision/{label}",
           .help = "precision of one entity type",
           .fraction = true,
           .reducer = Reducer::ratio,
           .columns = precision,
           .always = false},
          {.name = "recall/{label}",
           .help = "recall of one entity type",
           .fraction = true,
           .reducer = Reducer::ratio,
           .columns = recall,
           .always = false},
          {.name = "confusion",
           .help = "number of words for each pair of true and predicted entity type; O: outside of entities",
           .better = Better::neither,
           .reducer = Reducer::matrix,
           .columns = {"confusion"}}};
}

void measure_sentence(std::span<const std::string> truth, std::span<const std::string> predicted,
                      Statistics& statistics) {
  ENCORE_REQUIRE(truth.size() == predicted.size(), "every word has a true and a predicted tag");
  statistics.begin_example();
  std::map<std::string, EntityCounts> types;
  count_entities(truth, predicted, types);
  for (const auto& [type, counts] : types) {
    statistics.add("correct", static_cast<double>(counts.correct), type);
    statistics.add("predicted", static_cast<double>(counts.predicted), type);
    statistics.add("truth", static_cast<double>(counts.truth), type);
  }
  std::map<std::pair<std::string_view, std::string_view>, int> pairs;
  double correct = 0;
  for (std::size_t word = 0; word < truth.size(); ++word) {
    correct += truth[word] == predicted[word] ? 1 : 0;
    ++pairs[{type_or_outside(truth[word]), type_or_outside(predicted[word])}];
  }
  statistics.add("correct_words", correct);
  statistics.add("words", static_cast<double>(truth.size()));
  for (const auto& [pair, count] : pairs) statistics.add("confusion", count, pair.first, pair.second);
}

}  // namespace encore::ner
