// SPDX-License-Identifier: BSD-3-Clause
// require_same_sentencepiece(): compares the model in tokenizer.json with spiece.model, token by token.
// tokenizer_settings.cpp calls it. A difference must be refused, because it would change tokens silently.
// Read tokenizer_settings.hpp first, which says why.
#include "pretrained/tokenizer_settings.hpp"

#include <string>

#include <encore/base64.hpp>
#include <encore/error.hpp>

#include "config/value.hpp"
#include "data/vocabulary.hpp"
#include "pretrained/hugging_face_folder.hpp"

namespace encore::pretrained {
namespace {

using nlohmann::json;

json member_or_null(const json& object, const char* name) {
  return object.is_object() ? object.value(name, json()) : json();
}

/// Returns the precompiled_charsmap of the first normalizer that has one, as T5Tokenizer does; empty if there
/// is none.
std::string charsmap_in(const json& normalizer) {
  const bool is_sequence = member_or_null(normalizer, "type") == "Sequence";
  const json list = is_sequence ? member_or_null(normalizer, "normalizers") : normalizer;
  for (const json& one : list.is_array() ? list : json::array({list}))
    if (const json map = member_or_null(one, "precompiled_charsmap");
        member_or_null(one, "type") == "Precompiled" && map.is_string())
      return map.get<std::string>();
  return "";
}

/// Returns whether the value is an entry of model.vocab: a token and its score.
bool is_entry(const json& entry) {
  return entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_number();
}

}  // namespace

void require_same_sentencepiece(const TokenizerJson& files, const std::filesystem::path& model) {
  const data::SentencepieceContents own =
      data::sentencepiece_contents(data::sentencepiece_model(files.lines, "model"));
  const std::span<const std::string> tokens = files.tokens();
  const std::string place = files.file(tokenizer_file).string() + ": ";
  const std::string other = model.string() + "; they belong to different models";
  const json vocab = member_or_null(member_or_null(files.whole, "model"), "vocab");
  if (!vocab.is_array() || vocab.size() < own.tokens.size())
    throw Error(place + "model.vocab has no list of the " + std::to_string(own.tokens.size()) +
                " tokens of " + other);
  for (std::size_t i = 0; i < vocab.size(); ++i) {
    const json& entry = vocab[i];
    bool same =
        is_entry(entry) && i < tokens.size() && entry[0] == tokens[i];  // the gaps follow behind the tokens
    if (same && i < own.tokens.size()) same = entry[1].get<float>() == own.tokens[i].second;
    if (!same)
      throw Error(place + "token " + std::to_string(i) + " of model.vocab is " +
                  config::shortened(entry.dump()) + ", but not in " + other);
  }
  if (charsmap_in(member_or_null(files.whole, "normalizer")) != to_base64(own.charsmap))
    throw Error(place + "the precompiled_charsmap of the normalizer is not that of " + other);
}

}  // namespace encore::pretrained
