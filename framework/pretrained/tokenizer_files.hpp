// SPDX-License-Identifier: BSD-3-Clause
// TokenizerFiles: how a Hugging Face folder keeps a kind of tokenizer: which files are read, what they say,
// and how they are written. Each is one constant (bert_tokenizer.cpp, byte_bpe_files.cpp,
// sentencepiece_files.cpp), to which a Family points. Place in the flow: hugging_face_folder.cpp reads, the
// worker's export writes. Other programs read the files, so their form must not change. Read next:
// bert_tokenizer.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <encore/options.hpp>
#include <encore/tokenizer.hpp>

#include "config/value.hpp"

namespace encore::pretrained {

/// An option of the tokenizer that is on or off in the folder.
struct TokenizerFlag {
  std::string option;  ///< "lowercase"
  bool value = false;
  std::filesystem::path file;  ///< the file that says so
  std::string reason;          ///< `do_lower_case = true`, as messages quote it
  bool may_differ = false;     ///< a matter of use, not of what the model was trained with
};

struct PretrainedTokenizer {
  std::string type;
  std::filesystem::path vocabulary;  ///< as load_vocabulary takes it (data/vocabulary.hpp)
  std::optional<TokenizerFlag> flag = {};
};

/// An option of the experiment that one file of a folder decides.
struct FolderOption {
  std::vector<std::string> path;  ///< {"tokenizer", "strip_accents"}
  config::Value value;
  std::filesystem::path file;
  std::string reason;       ///< `strip_accents = false`, as messages quote it
  bool may_differ = false;  ///< as ImpliedOption has it
  bool is_default = false;  ///< likewise
};

/// A tokenizer of ours that is to be written.
struct WrittenTokenizer {
  std::string tokenizer_class;         ///< of tokenizer_config.json; empty: the usual one of its kind
  Options options;                     ///< of [tokenizer]
  std::span<const std::string> lines;  ///< of its vocabulary file
  std::array<std::string, all_specials.size()> specials = {};  ///< spelling by role, "" where there is none
  std::vector<std::int32_t> special_numbers = {};              ///< of all there are
  std::int64_t max_length = 0;                                 ///< data.max_length
};

struct TokenizerFiles {
  const char* type;     ///< of Encore's tokenizer
  const char* missing;  ///< "neither vocab.txt nor tokenizer.json": what a folder without it has
  bool names_markers;   ///< config.json has the numbers of the tokens at both ends of a text
  /// Returns the files of the folder that are read; none if its tokenizer is unknown.
  std::vector<std::string> (*in)(const std::filesystem::path& folder);
  /// Reads the tokenizer of a folder that has these files. Throws Error that names the file if the tokenizer
  /// is another one, or cuts a text in a way that this program does not.
  PretrainedTokenizer (*read)(const std::filesystem::path& folder);
  /// Returns the content of each file by its name.
  std::map<std::string, std::string> (*written)(const WrittenTokenizer& tokenizer);
};

extern const TokenizerFiles wordpiece_files;  ///< of BERT: vocab.txt, else tokenizer.json
extern const TokenizerFiles byte_bpe_files;   ///< of RoBERTa and GPT-2, with merges
extern const TokenizerFiles marian_files;     ///< vocab.json with source.spm and target.spm
extern const TokenizerFiles t5_files;         ///< spiece.model

/// Returns true, false, or nothing if the member is absent or null. Throws Error that names the file.
std::optional<bool> json_flag(const nlohmann::json& object, const char* name,
                              const std::filesystem::path& file);

/// The option of [tokenizer] that names tokens to find in a text, in the form of
/// plugins/tokenizers/added_tokens.hpp: flags, a blank and the token.
inline constexpr const char* added_tokens_name = "added_tokens";
/// Adds the added tokens to a tokenizer_config.json.
void add_tokens_json(const WrittenTokenizer& tokenizer, nlohmann::json& config);

/// Returns the text of a JSON file with this value. Invalid UTF-8 is replaced, because labels and tokens come
/// from data.
std::string json_file_text(const nlohmann::json& value);

// --- more about byte_bpe_files (byte_bpe_files.cpp), for checks of folders and the export ---

/// The type of tokenizer that cuts as RoBERTa and GPT-2 do.
inline constexpr const char* byte_bpe_tokenizer = "byte_bpe";

/// Throws Error if config.json and the vocabulary name different tokens as padding.
void require_padding_token(std::span<const std::string> lines, std::int64_t padding);

/// Return the content of vocab.json and of merges.txt. A vocabulary without merges is cut by the order of its
/// tokens; its merges are all ways to join two tokens to a third. `specials` are not joined from others.
std::string vocab_json(std::span<const std::string> tokens);
std::string merges_text(std::span<const std::string> lines, std::span<const std::int32_t> specials);

}  // namespace encore::pretrained
