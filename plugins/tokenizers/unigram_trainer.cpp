// SPDX-License-Identifier: BSD-3-Clause
// Trains a unigram model with SentencePiece's trainer. It runs on one thread, because its sums depend on the
// number of threads. Unigram::train (unigram.cpp) calls it; equal counts must give an equal model. Read
// unigram_trainer.hpp first.
#include "unigram_trainer.hpp"

#include <sentencepiece_trainer.h>

#include <string_view>
#include <unordered_map>

#include <encore/error.hpp>

namespace encore::unigram {
namespace {

/// The number of bytes and special tokens; the trainer adds the characters of the text.
constexpr std::int64_t fewest_with_bytes = 256 + 5;

/// The most bytes of a sentence. The library copies each repeated part of a sentence, which takes a time that
/// grows with the square of its length.
constexpr std::size_t longest_sentence = 4096;

/// Writes each input once with its count behind a tab, in the order of the inputs. A long one is cut, at a
/// blank if it has any: no token crosses a blank.
class CountedTexts final : public sentencepiece::SentenceIterator {
 public:
  explicit CountedTexts(const TextCounts& texts) : next_(texts.begin()), end_(texts.end()) { read(); }
  bool done() const override { return next_ == end_; }
  void Next() override {
    if (begin_ == next_->first.size()) {
      ++next_;
      begin_ = 0;
    }
    read();
  }
  const std::string& value() const override { return line_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  void read() {
    if (done()) return;
    const std::string_view rest = std::string_view(next_->first).substr(begin_);
    std::size_t end = rest.size();
    if (end > longest_sentence) {
      const std::size_t blank = rest.rfind(' ', longest_sentence);
      end = blank == 0 || blank == std::string_view::npos ? whole_characters(rest) : blank;
    }
    line_ = rest.substr(0, end);
    begin_ += end;
    for (char& c : line_)
      if (c == '\t' || c == '\n' || c == '\r' || c == '\0') c = ' ';
    line_ += '\t' + std::to_string(next_->second);
  }

  /// Returns the length of the first part of a text that is too long.
  static std::size_t whole_characters(std::string_view text) {
    std::size_t end = longest_sentence;
    while (end > 1 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    return end;
  }

  TextCounts::const_iterator next_, end_;
  std::size_t begin_ = 0;  ///< beginning of the rest of the text
  std::string line_;
};

/// Reads the library's message about a size that is too small: "... required_chars. 16 vs 63. ..."
std::string tokens_needed(std::string_view message) {
  constexpr std::string_view known = "required_chars", before = " vs ";
  if (message.find(known) == std::string_view::npos) return "";
  const std::size_t at = message.find(before);
  if (at == std::string_view::npos) return "";
  message.remove_prefix(at + before.size());
  return std::string(message.substr(0, message.find_first_not_of("0123456789")));
}

}  // namespace

Training training_of(const Options& options) {
  if (options.has("vocab") == options.has("vocab_size"))
    throw OptionError("vocab",
                      options.has("vocab")
                          ? "vocab and vocab_size exclude each other: a model is read or trained"
                          : "a model is missing; give vocab = \"FILE.model\", or vocab_size to train "
                            "one");
  const Training training = {.vocab_size = options.has("vocab_size") ? options.integer("vocab_size") : 0,
                             .character_coverage = options.number("character_coverage"),
                             .byte_fallback = options.flag("byte_fallback")};
  if (training.byte_fallback && training.vocab_size > 0 && training.vocab_size < fewest_with_bytes)
    throw OptionError("vocab_size", "vocab_size = " + std::to_string(training.vocab_size) +
                                        " is too small with byte_fallback: 256 bytes and 5 special tokens "
                                        "already need " +
                                        std::to_string(fewest_with_bytes));
  return training;
}

std::string train_model(const TextCounts& texts, const Training& training) {
  if (training.vocab_size == 0)
    throw Error("this tokenizer reads its model from a file: give vocab_size to train one");
  if (texts.empty()) throw Error("no text to train a model of SentencePiece from");
  const std::unordered_map<std::string, std::string> options = {
      {"model_type", "unigram"},
      {"vocab_size", std::to_string(training.vocab_size)},
      {"hard_vocab_limit", "false"},
      {"character_coverage", std::to_string(training.character_coverage)},
      {"byte_fallback", training.byte_fallback ? "true" : "false"},
      {"input_format", "tsv"},
      {"max_sentence_length", "1073741824"},  // so that no input is left out
      {"num_threads", "1"},
      {"pad_id", "0"},
      {"unk_id", "1"},
      {"bos_id", "2"},
      {"eos_id", "3"},
      {"control_symbols", "<mask>"},
      {"minloglevel", "2"}};  // errors only, which are returned as a status
  CountedTexts sentences(texts);
  std::string file;
  const auto status = sentencepiece::SentencePieceTrainer::Train(options, &sentences, &file);
  if (status.ok()) return file;
  const std::string message = status.error_message();
  if (const std::string needed = tokens_needed(message); !needed.empty())
    throw Error("vocab_size = " + std::to_string(training.vocab_size) +
                " is too small for this text: its characters and the special tokens already need " + needed);
  throw Error("SentencePiece cannot train a model from this text: " + message);
}

}  // namespace encore::unigram
