// BertTokenizer: what the files of a Hugging Face folder say about its WordPiece tokenizer, and those files
// written for a tokenizer of ours. Place in the flow: hugging_face_folder.cpp reads it, the worker's export
// writes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace encore {

/// The type of tokenizer that cuts as BERT does.
inline constexpr const char* bert_tokenizer = "wordpiece";

struct BertTokenizer {
  std::filesystem::path vocabulary;  ///< vocab.txt, or tokenizer.json where there is none
  bool lowercase = true;             ///< accents are dropped too
  std::filesystem::path lowercase_file;
  std::string lowercase_reason;  ///< `do_lower_case = true`, as messages quote it
};

/// `folder` holds vocab.txt or tokenizer.json. Throws Error naming the file where the tokenizer is none of
/// WordPiece, or cuts texts in a way that this program does not.
BertTokenizer read_bert_tokenizer(const std::filesystem::path& folder);

/// The content of tokenizer_config.json and of special_tokens_map.json.
nlohmann::json tokenizer_config_json(bool lowercase, std::int64_t max_length);
nlohmann::json special_tokens_json();

}  // namespace encore
