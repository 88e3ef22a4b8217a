// See encode.hpp.
#include "data/encode.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include <encore/error.hpp>
#include <encore/head.hpp>

namespace encore {
namespace {

/// Fills ids, first_pieces and cut_words. `pieces` is scratch.
Example place_pieces(std::span<const std::string> words, const Tokenizer& tokenizer, std::int64_t max_length,
                     std::vector<std::int32_t>& pieces) {
  const SpecialPieces special = tokenizer.special();
  Example example;
  example.ids.push_back(special.start);
  for (const std::string& word : words) {
    pieces.clear();
    tokenizer.encode(word, pieces);
    if (pieces.empty()) pieces.push_back(special.unknown);
    if (static_cast<std::int64_t>(example.ids.size() + pieces.size()) > max_length - 1) break;
    example.first_pieces.push_back(static_cast<std::int32_t>(example.ids.size()));
    example.ids.insert(example.ids.end(), pieces.begin(), pieces.end());
  }
  example.ids.push_back(special.end);
  example.cut_words = static_cast<std::int32_t>(words.size() - example.first_pieces.size());
  example.targets.assign(example.ids.size(), no_target);
  return example;
}

/// Entities of which a word lies at or behind `kept`.
std::int64_t count_cut_entities(std::span<const std::string> tags, std::size_t kept) {
  std::int64_t cut = 0;
  if (kept < tags.size() && tags[kept][0] == 'I') ++cut;  // begun before the cut
  for (std::size_t i = kept; i < tags.size(); ++i) cut += tags[i][0] == 'B';
  return cut;
}

void check_max_length(std::int64_t max_length) {
  ENCORE_REQUIRE(max_length >= 3, "max_length must leave room for [CLS], one piece and [SEP]");
}

}  // namespace

std::string EncodeReport::cut_message(std::int64_t sentences, std::int64_t max_length) const {
  if (cut_sentences == 0) return {};
  return std::to_string(cut_sentences) + " of " + std::to_string(sentences) +
         " sentences are longer than max_length = " + std::to_string(max_length) + ": " +
         std::to_string(cut_words) + " words are cut, " + std::to_string(cut_entities) +
         " entities with them count as missed";
}

std::vector<std::int32_t> EncodedSet::lengths() const {
  std::vector<std::int32_t> lengths(examples.size());
  std::transform(examples.begin(), examples.end(), lengths.begin(),
                 [](const Example& example) { return static_cast<std::int32_t>(example.ids.size()); });
  return lengths;
}

EncodedSet encode_sentences(std::span<const Sentence> sentences, const Tokenizer& tokenizer,
                            const Labels& labels, std::int64_t max_length) {
  check_max_length(max_length);
  EncodedSet set;
  set.examples.reserve(sentences.size());
  EncodeReport& report = set.report;
  const std::int32_t unknown = tokenizer.special().unknown;
  std::vector<std::int32_t> pieces;
  std::unordered_map<std::string_view, std::int32_t> numbers;
  for (std::size_t i = 0; i < labels.names().size(); ++i)
    numbers.emplace(labels.names()[i], static_cast<std::int32_t>(i));

  for (const Sentence& sentence : sentences) {
    Example example = place_pieces(sentence.words, tokenizer, max_length, pieces);
    for (std::size_t word = 0; word < example.first_pieces.size(); ++word) {
      const auto found = numbers.find(sentence.tags[word]);
      if (found != numbers.end())
        example.targets[static_cast<std::size_t>(example.first_pieces[word])] = found->second;
    }
    for (const std::string& tag : sentence.tags)
      if (tag[0] == 'B' && !numbers.contains(tag)) ++report.unseen_entities[tag.substr(2)];
    const auto rows = static_cast<std::int64_t>(example.ids.size());
    report.rows += rows;
    report.pieces += rows - 2;
    report.longest = std::max(report.longest, rows);
    report.unknown_pieces += std::count(example.ids.begin() + 1, example.ids.end() - 1, unknown);
    if (example.cut_words > 0) {
      ++report.cut_sentences;
      report.cut_words += example.cut_words;
      report.cut_entities += count_cut_entities(sentence.tags, example.first_pieces.size());
    }
    set.examples.push_back(std::move(example));
  }
  return set;
}

Example encode_words(std::span<const std::string> words, const Tokenizer& tokenizer,
                     std::int64_t max_length) {
  check_max_length(max_length);
  std::vector<std::int32_t> pieces;
  Example example = place_pieces(words, tokenizer, max_length, pieces);
  for (const std::int32_t row : example.first_pieces) example.targets[static_cast<std::size_t>(row)] = 0;
  return example;
}

}  // namespace encore
