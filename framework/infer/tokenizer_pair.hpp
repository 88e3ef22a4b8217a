// SPDX-License-Identifier: BSD-3-Clause
// TokenizerPair: the tokenizers of a model whose sources and targets have vocabularies of their own
// ([tokenizer.target]). It cuts sources, and HasTargetTokenizer gives the one that cuts targets and decodes
// what the model writes. load_tokenizer() (setup.hpp) makes it of two tokenizers that have their
// vocabularies.
#pragma once

#include <memory>
#include <utility>

#include <encore/target_tokenizer.hpp>

namespace encore::infer {

class TokenizerPair final : public Tokenizer, public HasTargetTokenizer {
 public:
  TokenizerPair(std::unique_ptr<Tokenizer> sources, std::unique_ptr<Tokenizer> targets)
      : sources_(std::move(sources)), targets_(std::move(targets)) {}

  void load(std::vector<std::string>) override { refuse(); }
  void train(const TextCounts&) override { refuse(); }
  std::span<const std::string> vocabulary() const override { return sources_->vocabulary(); }
  std::optional<std::int32_t> find(Special role) const override { return sources_->find(role); }
  bool drops_text() const override { return sources_->drops_text(); }
  std::string decode(std::span<const std::int32_t> tokens) const override { return sources_->decode(tokens); }
  const Tokenizer& target_tokenizer() const override { return *targets_; }

 protected:
  void append_tokens(std::string_view text, std::vector<std::int32_t>& tokens,
                     std::vector<ByteRange>* ranges) const override {
    if (ranges != nullptr)
      sources_->encode(text, tokens, *ranges);
    else
      sources_->encode(text, tokens);
  }

 private:
  [[noreturn]] static void refuse() {
    throw Error("each of two tokenizers gets its own vocabulary, before they become a pair");
  }

  std::unique_ptr<Tokenizer> sources_, targets_;
};

}  // namespace encore::infer
