// SPDX-License-Identifier: BSD-3-Clause
// The checks of tokenizers (tokenizer_checks, called by suite.cpp): each trains a vocabulary from a small
// text, then encodes and decodes other inputs. Plugins of other authors must pass them, so a check may demand
// only what encore/tokenizer.hpp promises. Read suite.hpp first.
#include <algorithm>
#include <span>

#include <encore/vocabulary_lines.hpp>

#include "contract/at_once.hpp"
#include "contract/suite.hpp"
#include "plugin_host/make_offer.hpp"

namespace encore::contract {
namespace {

const TextCounts& small_text() {
  static const TextCounts words = {{"the", 40},  {"then", 12}, {"other", 9}, {"Paris", 7},
                                   {"paris", 1}, {"low", 5},   {"lower", 4}, {"lowest", 3},
                                   {"new", 6},   {"newer", 5}, {"wide", 2},  {"widest", 3},
                                   {".", 30},    {"naïve", 1}, {"Ωmega", 1}, {"2026", 2}};
  return words;
}

/// Returns inputs with characters that the small text lacks.
const std::vector<std::string>& odd_texts() {
  static const std::vector<std::string> texts = {"unseen",
                                                 "Zürich",
                                                 "\xF0\x9F\x99\x82",
                                                 "a-b",
                                                 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                                                 " the  low, newer\tParis\n",
                                                 "nai\u0308ve 日本 한국 İ",
                                                 "[the] lower [SEP]?"};
  return texts;
}

std::unique_ptr<Tokenizer> untrained(const Offer& offer) {
  Options options = plugin_host::default_options(offer.options);
  if (offer.options.find("vocab_size") != nullptr) options.set("vocab_size", std::int64_t{400});
  return plugin_host::make_offer<Kind::tokenizer>(offer, options, {});
}

std::unique_ptr<Tokenizer> trained(const Offer& offer) {
  std::unique_ptr<Tokenizer> tokenizer = untrained(offer);
  tokenizer->train(small_text());
  return tokenizer;
}

std::vector<std::int32_t> encode_all(const Tokenizer& tokenizer) {
  std::vector<std::int32_t> tokens;
  for (const auto& [word, count] : small_text()) tokenizer.encode(word, tokens);
  for (const std::string& text : odd_texts()) tokenizer.encode(text, tokens);
  return tokens;
}

/// Returns lines with white space, as in a language model's training text.
const TextCounts& long_texts() {
  static const TextCounts texts = {{"the low other", 4}, {" new  paper\tnew lower\n", 3}, {"the widest", 2}};
  return texts;
}

/// Words of lower-case letters that are frequent enough in the small text for any tokenizer.
constexpr std::string_view simple_words[] = {"the", "then", "other", "low", "lower", "new"};

bool is_white_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

std::string trimmed(const std::string& text) {
  const auto first = std::find_if_not(text.begin(), text.end(), is_white_space);
  const auto last = std::find_if_not(text.rbegin(), text.rend(), is_white_space).base();
  return first < last ? std::string(first, last) : std::string();
}

std::string check_training(const Offer& offer) {
  const auto one = trained(offer), two = trained(offer);
  require(!one->vocabulary().empty(), "training leaves an empty vocabulary");
  require(std::ranges::equal(one->vocabulary(), two->vocabulary()),
          "training twice on one text gives two vocabularies");
  return std::to_string(one->vocabulary().size()) + " tokens from a small text, the same ones twice";
}

std::string check_texts(const Offer& offer) {
  const auto tokenizer = untrained(offer);
  tokenizer->train(long_texts());
  for (const auto& [text, count] : long_texts()) {
    std::vector<std::int32_t> tokens;
    tokenizer->encode(text, tokens);
    require(
        tokens.size() > 1 && std::ranges::count(tokens, tokenizer->special(Special::unknown)) == 0,
        "after training on \"" + text +
            "\" its words are not known; white space within a text of train() separates words, as it does "
            "in encode");
  }
  return "lines with white space are split as encode splits them";
}

std::string check_roles(const Offer& offer) {
  const auto tokenizer = trained(offer);
  const auto size = static_cast<std::int32_t>(tokenizer->vocabulary().size());
  std::string found;
  for (const Special role : all_specials) {
    const std::string name(name_of(role));
    const std::optional<std::int32_t> token = tokenizer->find(role);
    require(token || role == Special::separator || role == Special::mask,
            "no token has the role \"" + name + "\", which every vocabulary needs");
    require(!token || (*token >= 0 && *token < size),
            "the token with the role \"" + name + "\" has the number " + std::to_string(token.value_or(0)) +
                ", which is not in the vocabulary");
    if (token) found += (found.empty() ? "" : ", ") + name;
  }
  return "tokens of the vocabulary for " + found;
}

std::string check_encoding(const Offer& offer) {
  const auto tokenizer = trained(offer);
  const auto size = static_cast<std::int32_t>(tokenizer->vocabulary().size());
  for (const auto& [word, count] : small_text()) {
    std::vector<std::int32_t> tokens;
    tokenizer->encode(word, tokens);
    require(!tokens.empty(), "\"" + word + "\" has no token");
  }
  for (const std::int32_t token : encode_all(*tokenizer))
    require(token >= 0 && token < size,
            "encode gives the number " + std::to_string(token) + " of " + std::to_string(size));
  std::vector<std::int32_t> tokens{-5};
  tokenizer->encode("low", tokens);
  require(tokens.front() == -5, "encode overwrites what is in the list; it must append");
  tokens.clear();
  tokenizer->encode("", tokens);
  require(tokens.empty(), "the empty text has tokens");
  return "numbers within the vocabulary, appended to the list";
}

/// Returns the error in the byte ranges of one text; empty if there is none.
std::string problem_of(std::span<const ByteRange> ranges, std::string_view text, bool drops_text) {
  std::size_t covered = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const ByteRange range = ranges[i];
    const std::string name = "range " + std::to_string(i) + " is [" + std::to_string(range.begin) + ", " +
                             std::to_string(range.end) + ")";
    if (range.begin > range.end || range.end > text.size())
      return name + ", which is not a part of its " + std::to_string(text.size()) + " bytes";
    if (i > 0 && (range.begin < ranges[i - 1].begin || range.end < ranges[i - 1].end))
      return name + " and lies before the one in front of it";
    for (; covered < range.begin; ++covered)
      if (!drops_text && !is_white_space(text[covered]))
        return "byte " + std::to_string(covered) + " lies in no range, and drops_text() is false";
    covered = std::max(covered, range.end);
  }
  for (; covered < text.size(); ++covered)
    if (!drops_text && !is_white_space(text[covered]))
      return "byte " + std::to_string(covered) + " lies in no range, and drops_text() is false";
  return "";
}

std::string check_ranges(const Offer& offer) {
  const auto tokenizer = trained(offer);
  std::size_t count = 0;
  for (const std::string& text : odd_texts()) {
    const std::string where = "of \"" + text + "\": ";
    std::vector<std::int32_t> plain, tokens{-5};
    std::vector<ByteRange> ranges{{7, 8}};
    tokenizer->encode(text, plain);
    tokenizer->encode(text, tokens, ranges);
    require(!tokens.empty() && tokens.front() == -5 && !ranges.empty() && ranges.front() == ByteRange{7, 8},
            where + "encode overwrites what is in the lists; it must append");
    require(std::equal(plain.begin(), plain.end(), tokens.begin() + 1, tokens.end()),
            where + "encode gives other tokens where ranges are asked for");
    require(tokens.size() == ranges.size(), where + std::to_string(plain.size()) + " tokens have " +
                                                std::to_string(ranges.size() - 1) + " ranges");
    const std::string problem = problem_of(std::span(ranges).subspan(1), text, tokenizer->drops_text());
    require(problem.empty(), where + problem);
    count += plain.size();
  }
  return std::to_string(count) + " tokens with ranges in order" +
         (tokenizer->drops_text() ? "" : ", which leave out nothing but white space");
}

std::string check_decoding(const Offer& offer) {
  const auto tokenizer = trained(offer);
  for (const std::string_view word : simple_words) {
    std::vector<std::int32_t> tokens;
    tokenizer->encode(word, tokens);
    const std::string text = tokenizer->decode(tokens);
    require(trimmed(text) == word,
            "decode makes \"" + text + "\" of the tokens of \"" + std::string(word) + "\"");
    for (const Special role : all_specials)
      if (const std::optional<std::int32_t> token = tokenizer->find(role)) {
        std::vector<std::int32_t> framed = tokens;
        framed.insert(framed.begin(), *token);
        framed.push_back(*token);
        require(tokenizer->decode(framed) == text,
                "decode does not leave out the token with the role \"" + std::string(name_of(role)) + "\"");
      }
  }
  for (const std::string& text : odd_texts()) {
    std::vector<std::int32_t> tokens;
    tokenizer->encode(text, tokens);
    tokenizer->decode(tokens);
  }
  return "simple words come back, special tokens are left out";
}

std::string check_loading(const Offer& offer) {
  const auto first = trained(offer);
  const std::vector<std::string> vocabulary = vocabulary_lines_of(*first);
  const std::size_t tokens = first->vocabulary().size();
  require(vocabulary.size() >= tokens &&
              std::ranges::equal(std::span(vocabulary).first(tokens), first->vocabulary()),
          "the lines of the vocabulary do not begin with its tokens");
  require(std::ranges::none_of(
              vocabulary,
              [](const std::string& line) { return line.empty() || line.find('\n') != std::string::npos; }),
          "a line of the vocabulary is empty or holds a line end");
  const auto second = untrained(offer);
  second->load(vocabulary);
  require(encode_all(*first) == encode_all(*second),
          "a tokenizer that loads the trained vocabulary encodes otherwise");
  std::vector<std::string> without = vocabulary, twice = vocabulary;
  without.erase(without.begin() + first->special(Special::unknown));
  twice.push_back(vocabulary.back());
  for (const auto& [broken, what] :
       {std::pair{without, "without the unknown token"}, std::pair{twice, "with a token twice"}}) {
    const auto refusing = untrained(offer);
    bool refused = false;
    try {
      refusing->load(broken);
    } catch (const Error&) {
      refused = true;
    }
    require(refused, std::string("a vocabulary ") + what + " is accepted");
  }
  return "a loaded vocabulary encodes as the trained one; broken ones are refused";
}

/// Returns distinct inputs, so that a table of known ones grows while other threads read it.
std::vector<std::string> many_texts() {
  std::vector<std::string> texts = odd_texts();
  for (const auto& [word, count] : small_text()) texts.push_back(word);
  for (int i = 0; i < 300; ++i) texts.push_back("low" + std::to_string(i * 7919) + "er");
  return texts;
}

std::string check_threads(const Offer& offer) {
  constexpr int rounds = 200;
  const auto one = trained(offer);
  const std::vector<std::string> vocabulary = vocabulary_lines_of(*one), texts = many_texts();
  std::vector<std::vector<std::int32_t>> expected;
  std::vector<std::string> spelled;
  for (const std::string& text : texts) {
    one->encode(text, expected.emplace_back());
    spelled.push_back(one->decode(expected.back()));
  }
  for (int round = 0; round < rounds; ++round) {
    const auto tokenizer = untrained(offer);  // its cache is empty again
    tokenizer->load(vocabulary);
    const bool equal = at_once([&](std::size_t thread) {
      bool same = true;
      for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::size_t at =
            (i + (round % 2 == 0 ? 0 : thread * texts.size() / threads_at_once)) % texts.size();
        std::vector<std::int32_t> tokens;
        tokenizer->encode(texts[at], tokens);
        same = same && tokens == expected[at] && tokenizer->decode(tokens) == spelled[at];
      }
      return same;
    });
    require(equal,
            "four threads that encode and decode at once disturb each other; const functions are called from "
            "several threads, so guard their state with a lock");
  }
  return "four threads at once encode and decode as one, in " + std::to_string(rounds) +
         " rounds; a build with the thread sanitizer finds every race";
}

}  // namespace

std::vector<Check> tokenizer_checks(const Offer& offer) {
  return {{"training", [&] { return check_training(offer); }},
          {"training on lines", [&] { return check_texts(offer); }},
          {"special tokens", [&] { return check_roles(offer); }},
          {"encoding", [&] { return check_encoding(offer); }},
          {"ranges", [&] { return check_ranges(offer); }},
          {"decoding", [&] { return check_decoding(offer); }},
          {"loading", [&] { return check_loading(offer); }},
          {"parallel encoding", [&] { return check_threads(offer); }}};
}

}  // namespace encore::contract
