// SPDX-License-Identifier: BSD-3-Clause
// Tests the corpus of experiments/quickstart.toml, which the generator in experiments/corpus writes: the sets
// share no sentence, a table of words cannot find the types of names while their neighbours can, and names
// occur that training lacks. It needs no model; it fails if a change of the corpus makes the quickstart
// trivial.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/load_file.hpp"
#include "base/measures.hpp"
#include "conll.hpp"
#include "measures.hpp"
#include "support/places.hpp"

namespace {

using encore::conll::Dataset;
using encore::conll::Sentence;

Dataset load(const std::string& part) {
  const std::string file = std::string(ENCORE_SOURCE_DIR) + "/experiments/corpus/" + part + ".conll";
  return encore::conll::parse(encore::load_text(file, part), file, part + " set");
}

/// Returns the keys of a guess, the most specific one first.
using Keys = std::vector<std::string> (*)(const std::vector<std::string>& words, std::size_t i);

/// Returns the F1 on `test` of guessing, for each word, the most frequent tag of the first of its keys that
/// training has, or O.
double lookup_f1(const Dataset& train, const Dataset& test, Keys keys) {
  std::map<std::string, std::map<std::string, int>> counts;
  for (const Sentence& sentence : train.sentences)
    for (std::size_t i = 0; i < sentence.words.size(); ++i)
      for (const std::string& key : keys(sentence.words, i)) ++counts[key][sentence.tags[i]];
  const auto guess = [&](const std::vector<std::string>& words, std::size_t i) -> std::string {
    for (const std::string& key : keys(words, i)) {
      const auto found = counts.find(key);
      if (found == counts.end()) continue;
      std::pair<int, std::string> best;
      for (const auto& [tag, count] : found->second) best = std::max(best, {count, tag});
      return best.second;
    }
    return "O";
  };
  encore::Statistics statistics;
  for (const Sentence& sentence : test.sentences) {
    std::vector<std::string> tags;
    for (std::size_t i = 0; i < sentence.words.size(); ++i) tags.push_back(guess(sentence.words, i));
    encore::ner::measure_sentence(sentence.tags, tags, statistics);
  }
  return encore::measure_values(encore::ner::measures(), statistics).front().second;  // F1 over all types
}

std::vector<std::string> the_word(const std::vector<std::string>& words, std::size_t i) {
  return {words[i]};
}

/// Returns the two words on either side, then one on either side, then the one before; never the word itself.
std::vector<std::string> its_neighbours(const std::vector<std::string>& words, std::size_t i) {
  const auto at = [&](std::size_t place) {
    return place < words.size() ? words[place] : std::string("<border>");
  };
  const std::string before = at(i - 1), after = at(i + 1);  // i - 1 wraps around to "no word" at the first
  return {"4 " + at(i - 2) + " " + before + " " + after + " " + at(i + 2), "2 " + before + " " + after,
          "1 " + before};
}

TEST(Corpus, HoldsFourTypesInEverySet) {
  for (const std::string part : {"train", "dev", "test"}) {
    const Dataset set = load(part);
    std::map<std::string, int> entities;
    for (const Sentence& sentence : set.sentences)
      for (const std::string& tag : sentence.tags)
        if (tag[0] == 'B') ++entities[tag.substr(2)];
    EXPECT_EQ(entities.size(), 4u) << part;
    for (const auto& [type, count] : entities) EXPECT_GT(count, 50) << part << " " << type;
    EXPECT_EQ(set.malformed_tags, 0);
  }
}

TEST(Corpus, SharesNoSentenceBetweenSets) {
  std::set<std::vector<std::string>> seen;
  std::size_t sentences = 0;
  for (const std::string part : {"train", "dev", "test"})
    for (const Sentence& sentence : load(part).sentences) {
      seen.insert(sentence.words);
      ++sentences;
    }
  EXPECT_EQ(seen.size(), sentences);
}

TEST(Corpus, DefeatsATableOfWordsWhereContextDecides) {
  const Dataset train = load("train"), test = load("test");
  const double words = lookup_f1(train, test, the_word), neighbours = lookup_f1(train, test, its_neighbours);
  EXPECT_LT(words, 0.3);
  EXPECT_GT(neighbours, words + 0.3);
}

TEST(Corpus, AsksForNamesThatTrainingLacks) {
  std::set<std::string> known;
  for (const Sentence& sentence : load("train").sentences)
    known.insert(sentence.words.begin(), sentence.words.end());
  std::int64_t names = 0, unseen = 0;
  for (const Sentence& sentence : load("test").sentences)
    for (std::size_t i = 0; i < sentence.words.size(); ++i)
      if (sentence.tags[i] != "O") {
        ++names;
        unseen += !known.contains(sentence.words[i]);
      }
  EXPECT_GT(unseen * 10, names);
}

TEST(Corpus, UsesTheSameNamesForSeveralTypes) {
  std::map<std::string, std::set<std::string>> types;
  for (const Sentence& sentence : load("train").sentences)
    for (std::size_t i = 0; i < sentence.words.size(); ++i)
      if (sentence.tags[i][0] == 'B') types[sentence.words[i]].insert(sentence.tags[i].substr(2));
  for (const std::string name : {"Jordan", "Paris", "Washington", "Amazon"})
    EXPECT_GE(types[name].size(), 3u) << name;
}

}  // namespace
