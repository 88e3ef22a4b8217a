// HuggingFaceFolder: a folder as `transformers` saves a model: config.json, model.safetensors, and the files
// of its tokenizer. Opening it looks at everything but the values of the weights, so that a plan can refuse
// what no run could use. Read next: folder_filler.hpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "data/vocabulary.hpp"
#include "pretrained/pretrained_config.hpp"
#include "pretrained/tokenizer_files.hpp"

namespace encore {

inline constexpr const char* config_file = "config.json";
inline constexpr const char* tensors_file = "model.safetensors";
inline constexpr const char* pieces_file = "vocab.txt";
inline constexpr const char* tokenizer_file = "tokenizer.json";
inline constexpr const char* tokenizer_config_file = "tokenizer_config.json";
inline constexpr const char* special_tokens_file = "special_tokens_map.json";

/// HuggingFaceFolder::architecture of an encoder without a head.
inline constexpr const char* body_architecture = "Model";

/// Of one with a class for each word, and what follows that where the classes are no tags of entities (parts
/// of speech, bare types).
inline constexpr const char* tagging_architecture = "ForTokenClassification";
inline constexpr const char* plain_labels = "/labels";

struct HuggingFaceFolder {
  std::filesystem::path path;
  PretrainedConfig config;
  PretrainedTokenizer tokenizer;
  /// As AdoptedModel::architecture (encore/task.hpp): "ForTokenClassification"; "Model" also where
  /// config.json names none.
  std::string architecture;
  std::vector<std::string>
      classes;  ///< the names of config.json's id2label, by number; none where it has none
};

/// Throws Error naming folder or file: what is missing, no regular file, damaged, or of an architecture that
/// is not supported.
HuggingFaceFolder open_hugging_face_folder(const std::filesystem::path& folder);

/// The files that are read of such a folder, by name: what its content is. Throws Error where it is no such
/// folder.
std::vector<std::string> files_of_hugging_face_folder(const std::filesystem::path& folder);

/// False also where the system does not say.
bool is_there(const std::filesystem::path& path);

/// A JSON file whose outermost value is an object. Throws Error naming the file.
nlohmann::json read_json_object(const std::filesystem::path& file);

}  // namespace encore
