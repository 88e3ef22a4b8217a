// Tokenizer "my_plugin": cuts a word into stretches of `length` letters: with 3, "Paris" into "Par" and "is".
// A stretch that is not in the vocabulary is [UNK]. Training keeps the most frequent stretches. Tasks call it
// through Tokenizer (encore/tokenizer.hpp). You may change everything here; README.md lists the rules.
#include <algorithm>
#include <unordered_map>

#include <encore/plugin.hpp>

namespace my_plugin_tokenizer {

using namespace encore;

/// Returns the end of the letter that begins at `begin`: continuation bytes in UTF-8 are 10xxxxxx.
std::size_t next_letter(std::string_view text, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  return end;
}

bool is_blank(char letter) {
  return static_cast<unsigned char>(letter) <= ' ' || letter == 0x7F;
}

class MyPluginTokenizer final : public Tokenizer {
 public:
  static Schema options() {
    return Schema()
        .integer("length", 3, {.help = "longest token", .unit = "letters", .min = 1, .max = 16})
        .optional("vocab", OptionType::path, {.help = "vocabulary file, one token per line"})
        .optional("vocab_size", OptionType::integer,
                  {.help = "instead of vocab: train one of this size from the training text",
                   .unit = "tokens",
                   .min = 5});
  }

  MyPluginTokenizer(const Options& options, const TokenizerContext&)
      : length_(options.integer("length")),
        vocab_size_(options.has("vocab_size") ? options.integer("vocab_size") : 0) {
    if (options.has("vocab") == options.has("vocab_size"))
      throw OptionError("vocab", "give either vocab = \"FILE\", or vocab_size to train a vocabulary");
  }

  void load(std::vector<std::string> vocabulary) override {
    std::unordered_map<std::string, std::int32_t> numbers;
    for (const std::string& token : vocabulary)
      if (!numbers.emplace(token, static_cast<std::int32_t>(numbers.size())).second)
        throw Error("the vocabulary holds the token \"" + token + "\" twice");
    std::map<Special, std::int32_t> special;
    for (const Special role : all_specials) {
      const std::string token(usual_token(role));
      if (numbers.contains(token))
        special[role] = numbers.at(token);
      else if (role != Special::mask)
        throw Error("the vocabulary lacks " + token);
    }
    // Without this, the text "[SEP]" would become the special token.
    for (const Special role : all_specials) numbers.erase(std::string(usual_token(role)));
    special_ = std::move(special);
    tokens_ = std::move(vocabulary);
    numbers_ = std::move(numbers);
  }

  /// The special tokens, then the stretches by falling count, equal counts in the order of their bytes. A
  /// text may hold several words.
  void train(const TextCounts& texts) override {
    std::vector<std::string> vocabulary = {"[PAD]", "[UNK]", "[CLS]", "[SEP]"};
    std::map<std::string, std::int64_t> counts;
    for (const auto& [text, times] : texts)
      for (const std::string_view stretch : cut(text)) counts[std::string(stretch)] += times;
    for (const std::string& token : vocabulary) counts.erase(token);
    std::vector<std::pair<std::int64_t, std::string>> ranked;
    for (const auto& [stretch, count] : counts) ranked.emplace_back(-count, stretch);
    std::sort(ranked.begin(), ranked.end());
    for (const auto& [count, stretch] : ranked)
      if (static_cast<std::int64_t>(vocabulary.size()) < vocab_size_) vocabulary.push_back(stretch);
    load(std::move(vocabulary));
  }

  std::span<const std::string> vocabulary() const override { return tokens_; }
  std::optional<std::int32_t> find(Special role) const override {
    const auto found = special_.find(role);
    return found == special_.end() ? std::nullopt : std::optional(found->second);
  }

  /// Returns the text without white space, which has no token.
  std::string decode(std::span<const std::int32_t> tokens) const override {
    std::string text;
    for (const std::int32_t number : tokens)
      if (const std::string& token = tokens_.at(static_cast<std::size_t>(number)); numbers_.contains(token))
        text += token;
    return text;
  }

 protected:
  /// `encode` calls it from several threads at once, so it changes only `tokens` and `ranges`.
  void append_tokens(std::string_view text, std::vector<std::int32_t>& tokens,
                     std::vector<ByteRange>* ranges) const override {
    for (const std::string_view stretch : cut(text)) {
      const auto found = numbers_.find(std::string(stretch));
      tokens.push_back(found == numbers_.end() ? special_.at(Special::unknown) : found->second);
      if (ranges == nullptr) continue;
      const auto begin = static_cast<std::size_t>(stretch.data() - text.data());
      ranges->push_back({begin, begin + stretch.size()});
    }
  }

 private:
  std::vector<std::string_view> cut(std::string_view text) const {
    std::vector<std::string_view> stretches;
    for (std::size_t begin = 0; begin < text.size();) {
      std::size_t end = begin;
      for (std::int64_t letters = 0; letters < length_ && end < text.size() && !is_blank(text[end]);
           ++letters)
        end = next_letter(text, end);
      if (end > begin) stretches.push_back(text.substr(begin, end - begin));
      begin = std::max(end, begin + 1);
    }
    return stretches;
  }

  std::int64_t length_, vocab_size_;
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, std::int32_t> numbers_;  // of tokens that stand for text
  std::map<Special, std::int32_t> special_;
};

}  // namespace my_plugin_tokenizer

ENCORE_PLUGIN("my_plugin", "1.0.0") {
  plugin.add<encore::Kind::tokenizer, my_plugin_tokenizer::MyPluginTokenizer>("my_plugin");
}
