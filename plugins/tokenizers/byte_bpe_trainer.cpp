// See byte_bpe_trainer.hpp.
#include "byte_bpe_trainer.hpp"

#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "byte_text.hpp"
#include "merge_neighbours.hpp"
#include "pair_queue.hpp"

namespace encore::byte_bpe {
namespace {

using tokenizers::Pair;

class Trainer {
 public:
  Trainer(const TextCounts& words, const tokenizers::Training& training)
      : training_(training), pieces_(tokenizers::special_pieces().size()) {
    std::int32_t number_of[256];
    for (const unsigned char byte : alphabet())
      number_of[byte] = add(std::string(1, static_cast<char>(byte)));
    for (const auto& [text, count] : words) {
      words_.push_back({{}, count});
      for (const char byte : text)
        words_.back().pieces.push_back(number_of[static_cast<unsigned char>(byte)]);
      change_pairs(words_.size() - 1, count);
    }
    pairs_.offer_all();
  }

  std::vector<std::string> run() {
    while (static_cast<std::int64_t>(pieces_.size()) < training_.vocab_size) {
      const std::optional<Pair> best = pairs_.take(training_.min_frequency);
      if (!best) break;
      merge(*best);
    }
    std::vector<std::string> result = tokenizers::special_pieces();
    for (std::size_t i = result.size(); i < pieces_.size(); ++i) result.push_back(printable(pieces_[i]));
    return result;
  }

 private:
  struct Word {
    std::vector<std::int32_t> pieces;
    std::int64_t count = 0;
  };

  std::int32_t add(std::string bytes) {
    const auto number = static_cast<std::int32_t>(pieces_.size());
    numbers_.emplace(bytes, number);
    pieces_.push_back(std::move(bytes));
    return number;
  }

  std::int32_t find(const std::string& bytes) const {
    const auto found = numbers_.find(bytes);
    return found == numbers_.end() ? tokenizers::PieceTable::no_piece : found->second;
  }

  /// Counts the neighbours of a word in (times > 0) or out.
  void change_pairs(std::size_t place, std::int64_t times) {
    const std::vector<std::int32_t>& pieces = words_[place].pieces;
    for (std::size_t i = 1; i < pieces.size(); ++i) pairs_.change({pieces[i - 1], pieces[i]}, times, place);
  }

  /// Every pair with this concatenation is merged with it, for `encode` sees the concatenation only.
  void merge(Pair pair) {
    const std::string bytes = piece(pair.first) + piece(pair.second);
    add(bytes);
    std::vector<std::size_t> places;
    for (std::size_t cut = 1; cut < bytes.size(); ++cut)
      pairs_.take_places({find(bytes.substr(0, cut)), find(bytes.substr(cut))}, places);
    tokenizers::sort_places(places);
    std::set<Pair> touched;
    for (const std::size_t place : places) {
      Word& word = words_[place];
      change_pairs(place, -word.count);
      merge_neighbours(
          word.pieces,
          [this](std::int32_t left, std::int32_t right) { return find(piece(left) + piece(right)); },
          std::identity());
      change_pairs(place, word.count);
      for (std::size_t i = 1; i < word.pieces.size(); ++i)
        touched.insert({word.pieces[i - 1], word.pieces[i]});
    }
    for (const Pair& each : touched) pairs_.offer(each);
  }

  const std::string& piece(std::int32_t number) const { return pieces_[static_cast<std::size_t>(number)]; }

  tokenizers::Training training_;
  std::vector<std::string> pieces_;  // bytes; empty for the special ones
  std::unordered_map<std::string, std::int32_t> numbers_;
  std::vector<Word> words_;
  tokenizers::PairQueue pairs_;
};

}  // namespace

std::vector<std::string> train_vocabulary(const TextCounts& words, const tokenizers::Training& training) {
  return Trainer(words, training).run();
}

}  // namespace encore::byte_bpe
