// PretrainedTokenizer: what the files of a Hugging Face folder say about its tokenizer; here that of a BERT,
// WordPiece, and its files written for a tokenizer of ours. Place in the flow: hugging_face_folder.cpp reads
// it, the worker's export writes it. Read next: byte_bpe_files.hpp, the same for RoBERTa.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace encore {

/// The type of tokenizer that cuts as BERT does.
inline constexpr const char* bert_tokenizer = "wordpiece";

/// An option of the tokenizer that is on or off as the folder says.
struct TokenizerFlag {
  std::string option;  ///< "lowercase"
  bool value = false;
  std::filesystem::path file;  ///< which says so
  std::string reason;          ///< `do_lower_case = true`, as messages quote it
  bool may_differ = false;     ///< a custom of use, no part of what the model was trained with
};

struct PretrainedTokenizer {
  std::string type;
  std::filesystem::path vocabulary;  ///< vocab.txt, vocab.json or tokenizer.json
  TokenizerFlag flag;
};

/// `folder` holds vocab.txt or tokenizer.json. Throws Error naming the file where the tokenizer is none of
/// WordPiece, or cuts texts in a way that this program does not.
PretrainedTokenizer read_bert_tokenizer(const std::filesystem::path& folder);

/// true, false, or nothing where the member is absent or null. Throws Error naming the file.
std::optional<bool> json_flag(const nlohmann::json& object, const char* name,
                              const std::filesystem::path& file);

/// The content of tokenizer_config.json and of special_tokens_map.json.
nlohmann::json tokenizer_config_json(bool lowercase, std::int64_t max_length);
nlohmann::json special_tokens_json();

}  // namespace encore
