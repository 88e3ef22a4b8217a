// SPDX-License-Identifier: BSD-3-Clause
// The fuzz target "tokenizer": the lines of a vocabulary file, options and a text are mutated; the tokenizer
// of that name loads the vocabulary, encodes the text and decodes it. A vocabulary is also trained from the
// text. fuzz.cpp calls the target; read shipped_tokenizers.hpp first.
#include <encore/base64.hpp>
#include <nlohmann/json.hpp>

#include "data/vocabulary.hpp"
#include "fuzz/model_folders.hpp"
#include "fuzz/scratch.hpp"
#include "fuzz/shipped_tokenizers.hpp"
#include "fuzz/target.hpp"

namespace encore::fuzz {

namespace {

/// The line between vocabulary and text.
constexpr std::string_view text_begins = "\n===\n";

/// A first line: the tokenizer, then its options: names of flags, "added=..." for each added token.
struct Case {
  std::string tokenizer, vocabulary, text;
  Options options;
};

Case case_of(const std::string& input) {
  const NamedInput named = NamedInput::of(input);
  const std::size_t cut = named.content.find(text_begins);
  Case result;
  result.vocabulary = named.content.substr(0, cut);
  if (cut != std::string::npos) result.text = named.content.substr(cut + text_begins.size());
  std::vector<std::string> words, added;
  for (std::size_t at = 0; at <= named.name.size();) {
    const std::size_t end = std::min(named.name.find('\t', at), named.name.size());
    words.push_back(named.name.substr(at, end - at));
    at = end + 1;
  }
  result.tokenizer = words.front();
  bool trains = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.starts_with("added="))
      added.push_back(word.substr(6));
    else if (word == "train")
      trains = true;
    else
      result.options.set(word, true);
  }
  if (!added.empty()) result.options.set("added_tokens", added);
  if (trains)
    result.options.set("vocab_size", std::int64_t{300});
  else
    result.options.set("vocab", std::string("vocab.txt"));
  return result;
}

std::string unigram_lines(const std::string& model) {
  const SentencePieceFile file = sentencepiece_file(model);
  std::vector<std::string> all = file.tokens;
  all.emplace_back("<extra_id_0>");
  all.emplace_back(data::sentencepiece_header);
  all.push_back("model " + to_base64(file.bytes));
  return data::vocabulary_text(all);
}

std::string wordpiece_lines() {
  return model_folders().at("bert").at("vocab.txt");
}

std::string byte_lines(bool with_merges) {
  return data::vocabulary_text(byte_tokens({"<s>", "<pad>", "</s>", "<unk>", "<mask>"})) +
         (with_merges ? byte_merges : "");
}

class TokenizerTarget final : public Target {
 public:
  std::string name() const override { return "tokenizer"; }

  std::vector<std::string> corpus() override {
    const std::string text =
        "The lowest Turm, don't! new york [E9] 2026 na\u00efve \u65e5\u672c a\u0301\u0327";
    const std::string short_lines = "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nthe\n\u65e5\nlow\n";
    std::vector<std::string> inputs;
    const auto add = [&](const std::string& head, const std::string& vocabulary) {
      inputs.push_back(NamedInput{head, vocabulary}.text() + std::string(text_begins) + text);
    };
    add("wordpiece\tlowercase\tadded=special [E9]\tadded=lstrip,rstrip,single_word new york",
        wordpiece_lines());
    add("wordpiece\tadded=normalized new york", wordpiece_lines());
    add("wordpiece\ttrain", "");
    add("byte_bpe", byte_lines(true));
    add("byte_bpe\tadd_prefix_space\tadded=plain low", byte_lines(false));
    add("byte_bpe\ttrain", "");
    add("character\tlowercase\twhite_space", "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nt\n\u240a\n\u65e5\n\u00ef\n");
    add("character\ttrain", "");
    add("word", short_lines);
    add("word\ttrain", "");
    for (const Offer& offer : tokenizer_offers()) {
      if (offer.name != "unigram") continue;
      add("unigram\tadded=special </s>\tadded=plain owe", unigram_lines("plain"));
      add("unigram", unigram_lines("bytes"));
    }
    return inputs;
  }

  void mutate(std::string& input, const std::vector<std::string>& others, Random& random) override {
    static const Words words = {"\n",
                                "[MASK]\n",
                                "##",
                                "\u0120",
                                "\u2581",
                                "l o\n",
                                "\n===\n",
                                "\tadded=plain x",
                                "\tadded=",
                                "\tlowercase",
                                "[UNK]",
                                "<mask>",
                                "<extra_id_",
                                ">>de<<",
                                "<0xE4>",
                                "\u0301",
                                "\u0327",
                                "\u00a0",
                                "\u2028",
                                "\xff",
                                "\xed\xa0\x80",
                                "\U0001F642",
                                "\u212b",
                                "\ufb01",
                                "\u0130",
                                "\u1e9e",
                                "#version: 0.2\n",
                                "#sentencepiece\nmodel ",
                                "source ",
                                "target ",
                                " ",
                                "  ",
                                std::string(1, '\0')};
    // The text is a small part of an input, but most of the code reads it.
    const std::size_t cut = input.rfind(text_begins);
    if (random.once_in(2) && cut != std::string::npos) {
      std::string text = input.substr(cut + text_begins.size());
      mutate_bytes(text, words, others, random);
      input.replace(cut + text_begins.size(), std::string::npos, text);
      return;
    }
    if (random.once_in(2) && input.starts_with("unigram") && mutate_model(input, others, random)) return;
    mutate_bytes(input, words, others, random);
  }

  void take(const std::string& input) override {
    const Case given = case_of(input);
    const auto tokenizer = make_tokenizer(given.tokenizer, given.options);
    if (given.options.has("vocab_size")) {
      TextCounts counts;
      counts[given.text] = 3;
      counts[given.vocabulary] += 2;
      tokenizer->train(counts);
    } else {
      write_bytes(folder_ / "vocab.txt", given.vocabulary);
      tokenizer->load(data::load_vocabulary(folder_ / "vocab.txt"));
    }
    require_sound(*tokenizer, given.text);
    for (const std::string& text : hostile_texts()) require_sound(*tokenizer, text);
  }

 private:
  /// Mutates the bytes of a SentencePiece model, which a vocabulary holds in base64. Changes of single
  /// characters would rarely leave valid base64.
  static bool mutate_model(std::string& input, const std::vector<std::string>& others, Random& random) {
    static const Words words = {"\x0A", "\x80\x01", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", "\x12",
                                "\x18\x06"};
    const std::size_t line = input.find("\nmodel ");
    if (line == std::string::npos) return false;
    const std::size_t begin = line + std::string_view("\nmodel ").size(), end = input.find('\n', begin);
    std::string model = from_base64(std::string_view(input).substr(begin, end - begin));
    mutate_bytes(model, words, {random.any_of(others)}, random);
    input.replace(begin, end - begin, to_base64(model));
    return true;
  }

  Scratch folder_;
};

}  // namespace

std::unique_ptr<Target> make_tokenizer_target() {
  return std::make_unique<TokenizerTarget>();
}

}  // namespace encore::fuzz
