// SPDX-License-Identifier: BSD-3-Clause
// The fuzz target "sentencepiece": models of SentencePiece as the control program reads them, without the
// library (data::sentencepiece_tokens). fuzz.cpp calls the target; read target.hpp first.
#include "data/vocabulary.hpp"
#include "fuzz/target.hpp"

namespace encore::fuzz {
namespace {

/// Returns a field of a protocol buffer whose content has fewer than 128 bytes.
std::string field(char number, const std::string& content) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(content.size())} + content;
}

class SentencePieceTarget final : public Target {
 public:
  std::string name() const override { return "sentencepiece"; }

  std::vector<std::string> corpus() override {
    const std::string score = "\x15\x33\x33\x13\xC0", type = "\x18\x02";  // a float32 and an integer
    return {field(1, field(1, "<unk>") + score + type) + field(1, field(1, "▁the") + score) +
                field(1, field(1, "é") + score) + field(2, "\x20\xE8\x07") + field(3, field(1, "nmt_nfkc")),
            field(1, field(1, "a"))};
  }

  void mutate(std::string& input, const std::vector<std::string>& others, Random& random) override {
    static const std::vector<std::string> words = {"\x0A", "\x80\x01",
                                                   "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", "\n", "\x12"};
    mutate_bytes(input, words, others, random);
  }

  void take(const std::string& input) override { data::sentencepiece_tokens(input); }
};

}  // namespace

std::unique_ptr<Target> make_sentencepiece_target() {
  return std::make_unique<SentencePieceTarget>();
}

}  // namespace encore::fuzz
