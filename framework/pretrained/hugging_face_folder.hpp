// SPDX-License-Identifier: BSD-3-Clause
// HuggingFaceFolder: a folder as `transformers` saves a model: config.json, model.safetensors, and the files
// of its tokenizer. Place in the flow: folder_filler.hpp opens it when a run is planned, the worker when it
// reads the weights. Opening checks everything except the values of the weights, so that a plan can refuse a
// folder that no run can use. A check may be added. None may be dropped, because the code that reads the
// weights relies on them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "data/vocabulary.hpp"
#include "pretrained/pretrained_config.hpp"
#include "pretrained/tokenizer_files.hpp"

namespace encore::pretrained {

inline constexpr const char* config_file = "config.json";
inline constexpr const char* tensors_file = "model.safetensors";
inline constexpr const char* tokens_file = "vocab.txt";
inline constexpr const char* tokenizer_file = "tokenizer.json";
inline constexpr const char* tokenizer_config_file = "tokenizer_config.json";
inline constexpr const char* special_tokens_file = "special_tokens_map.json";

/// HuggingFaceFolder::architecture of an encoder without a head.
inline constexpr const char* body_architecture = "Model";

/// The architecture with a class for each word. plain_labels is appended if the classes are not tags of
/// entities, such as B-PER, but parts of speech or bare types.
inline constexpr const char* tagging_architecture = "ForTokenClassification";
inline constexpr const char* plain_labels = "/labels";

struct HuggingFaceFolder {
  std::filesystem::path path;
  PretrainedConfig config;
  PretrainedTokenizer tokenizer;
  /// The class that config.json names, without its family: "ForTokenClassification" for
  /// "BertForTokenClassification"; "Model" also if config.json names none. AdoptedModel::architecture
  /// (encore/task.hpp) has the same values.
  std::string architecture;
  std::vector<std::string> classes;  ///< the names of config.json's id2label, by number; empty if it has none
};

/// Throws Error that names folder or file: something is missing, not a regular file, damaged, or of an
/// unsupported architecture.
HuggingFaceFolder open_hugging_face_folder(const std::filesystem::path& folder);

/// Returns the names of the files of such a folder that are read. Their bytes identify the folder. Throws
/// Error if it is not such a folder.
std::vector<std::string> files_of_hugging_face_folder(const std::filesystem::path& folder);

/// Returns whether the path exists; false if the system cannot say.
bool is_there(const std::filesystem::path& path);

/// Returns a JSON file whose outermost value is an object. Throws Error that names the file.
nlohmann::json read_json_object(const std::filesystem::path& file);

}  // namespace encore::pretrained
