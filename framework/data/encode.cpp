// See encode.hpp.
#include "data/encode.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include <encore/error.hpp>
#include <encore/head.hpp>

#include "data/parallel.hpp"

namespace encore {
namespace {

/// The arrays of a set while they grow.
struct Storage {
  std::vector<std::int32_t> rows, kept_words, cut_words, ids, targets, first_pieces;

  ExampleArrays arrays() const { return {rows, kept_words, cut_words, ids, targets, first_pieces}; }
  void append(const Storage& other) {
    for (const auto member : {&Storage::rows, &Storage::kept_words, &Storage::cut_words, &Storage::ids,
                              &Storage::targets, &Storage::first_pieces})
      (this->*member).insert((this->*member).end(), (other.*member).begin(), (other.*member).end());
  }
};

/// What one piece of work makes of its sentences; `pieces` is scratch.
struct Part {
  Storage storage;
  EncodeReport report;
  std::vector<std::int32_t> pieces;
};

/// Sentences of one piece of work.
constexpr std::int64_t sentences_per_part = 1024;

/// Appends one example without targets; returns its first row.
std::size_t append_example(std::span<const std::string> words, const Tokenizer& tokenizer,
                           std::int64_t max_length, Part& part) {
  const SpecialPieces special = tokenizer.special();
  Storage& to = part.storage;
  const std::size_t begin = to.ids.size();
  std::int32_t kept = 0;
  to.ids.push_back(special.start);
  for (const std::string& word : words) {
    part.pieces.clear();
    tokenizer.encode(word, part.pieces);
    if (part.pieces.empty()) part.pieces.push_back(special.unknown);
    const std::size_t row = to.ids.size() - begin;
    if (static_cast<std::int64_t>(row + part.pieces.size()) > max_length - 1) break;
    to.first_pieces.push_back(static_cast<std::int32_t>(row));
    to.ids.insert(to.ids.end(), part.pieces.begin(), part.pieces.end());
    ++kept;
  }
  to.ids.push_back(special.end);
  to.targets.resize(to.ids.size(), no_target);
  to.rows.push_back(static_cast<std::int32_t>(to.ids.size() - begin));
  to.kept_words.push_back(kept);
  to.cut_words.push_back(static_cast<std::int32_t>(words.size()) - kept);
  return begin;
}

/// encode(i, part) appends example i.
template <class Encode>
EncodedSet encode_all(std::size_t count, int threads, const Encode& encode) {
  const auto examples = static_cast<std::int64_t>(count);
  std::vector<Part> parts(static_cast<std::size_t>((examples + sentences_per_part - 1) / sentences_per_part));
  run_pieces(static_cast<std::int64_t>(parts.size()), threads, [&](std::int64_t piece) {
    const std::int64_t first = piece * sentences_per_part;
    for (std::int64_t i = first; i < std::min(first + sentences_per_part, examples); ++i)
      encode(static_cast<std::size_t>(i), parts[static_cast<std::size_t>(piece)]);
  });
  const auto storage = std::make_shared<Storage>();
  EncodeReport report;
  for (const Part& part : parts) {
    storage->append(part.storage);
    report.add(part.report);
  }
  return {storage->arrays(), std::move(report), storage};
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

void EncodeReport::add(const EncodeReport& other) {
  rows += other.rows;
  longest = std::max(longest, other.longest);
  pieces += other.pieces;
  unknown_pieces += other.unknown_pieces;
  cut_sentences += other.cut_sentences;
  cut_words += other.cut_words;
  cut_entities += other.cut_entities;
  for (const auto& [type, entities] : other.unseen_entities) unseen_entities[type] += entities;
}

EncodedSet::EncodedSet(const ExampleArrays& all, EncodeReport counted, std::shared_ptr<const void> keeper)
    : arrays(all), report(std::move(counted)), owner(std::move(keeper)) {
  const std::size_t count = all.rows.size();
  bool sound =
      all.kept_words.size() == count && all.cut_words.size() == count && all.ids.size() == all.targets.size();
  examples.reserve(count);
  std::size_t row = 0, word = 0;
  for (std::size_t i = 0; sound && i < count; ++i) {
    const auto rows = static_cast<std::size_t>(all.rows[i]),
               kept = static_cast<std::size_t>(all.kept_words[i]);
    sound = rows <= all.ids.size() - row && kept <= all.first_pieces.size() - word;
    if (!sound) break;
    examples.push_back({all.ids.subspan(row, rows), all.targets.subspan(row, rows),
                        all.first_pieces.subspan(word, kept), all.cut_words[i]});
    row += rows;
    word += kept;
  }
  if (!sound || row != all.ids.size() || word != all.first_pieces.size())
    throw Error("the arrays of the encoded set do not add up");
}

std::vector<std::int32_t> EncodedSet::lengths() const {
  return {arrays.rows.begin(), arrays.rows.end()};
}

EncodedSet encode_sentences(std::span<const Sentence> sentences, const Tokenizer& tokenizer,
                            const Labels& labels, std::int64_t max_length, int threads) {
  check_max_length(max_length);
  const std::int32_t unknown = tokenizer.special().unknown;
  std::unordered_map<std::string_view, std::int32_t> numbers;
  for (std::size_t i = 0; i < labels.names().size(); ++i)
    numbers.emplace(labels.names()[i], static_cast<std::int32_t>(i));

  return encode_all(sentences.size(), threads, [&](std::size_t i, Part& part) {
    const Sentence& sentence = sentences[i];
    const std::size_t begin = append_example(sentence.words, tokenizer, max_length, part);
    Storage& storage = part.storage;
    const auto kept = static_cast<std::size_t>(storage.kept_words.back());
    const std::int32_t* first_pieces = storage.first_pieces.data() + storage.first_pieces.size() - kept;
    for (std::size_t word = 0; word < kept; ++word)
      if (const auto found = numbers.find(sentence.tags[word]); found != numbers.end())
        storage.targets[begin + static_cast<std::size_t>(first_pieces[word])] = found->second;

    EncodeReport& report = part.report;
    for (const std::string& tag : sentence.tags)
      if (tag[0] == 'B' && !numbers.contains(tag)) ++report.unseen_entities[tag.substr(2)];
    const std::int64_t rows = storage.rows.back();
    report.rows += rows;
    report.pieces += rows - 2;
    report.longest = std::max(report.longest, rows);
    report.unknown_pieces += std::count(storage.ids.begin() + static_cast<std::ptrdiff_t>(begin) + 1,
                                        storage.ids.end() - 1, unknown);
    if (storage.cut_words.back() > 0) {
      ++report.cut_sentences;
      report.cut_words += storage.cut_words.back();
      report.cut_entities += count_cut_entities(sentence.tags, kept);
    }
  });
}

EncodedSet encode_words(std::span<const std::vector<std::string>> texts, const Tokenizer& tokenizer,
                        std::int64_t max_length) {
  check_max_length(max_length);
  return encode_all(texts.size(), 1, [&](std::size_t i, Part& part) {
    const std::size_t begin = append_example(texts[i], tokenizer, max_length, part);
    const auto kept = static_cast<std::ptrdiff_t>(part.storage.kept_words.back());
    for (auto row = part.storage.first_pieces.end() - kept; row != part.storage.first_pieces.end(); ++row)
      part.storage.targets[begin + static_cast<std::size_t>(*row)] = 0;
  });
}

}  // namespace encore
