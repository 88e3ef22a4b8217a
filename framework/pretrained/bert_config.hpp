// BertConfig: what config.json of a BERT, DistilBERT, RoBERTa or GPT-2 says, and the options of [model] that
// mean the same. Place in the flow: hugging_face_folder.cpp reads it, folder_filler.cpp puts the options into
// the experiment, the worker's export writes it. Read next: bert_names.hpp, which does the same for names of
// tensors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "config/experiment.hpp"
#include "config/value.hpp"

namespace encore {

/// Names of the layers that a model from such a folder has; they are part of the names of its parameters.
inline constexpr const char* bert_attention = "attention";
inline constexpr const char* bert_feed_forward = "feed_forward";
inline constexpr const char* bert_norm = "norm";

struct BertConfig {
  std::string model_type = "bert";  ///< or "distilbert", "roberta", "gpt2"
  std::int64_t pieces = 0;          ///< V, rows of the table of pieces
  std::int64_t width = 0;           ///< C
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t hidden = 0;         ///< F
  std::int64_t max_positions = 0;  ///< rows of the table of positions that are used
  /// The rows in front of them. RoBERTa counts positions from the row behind its padding piece's number.
  std::int64_t first_position = 0;
  std::int64_t segments = 0;        ///< rows of the table of segments; 0: it has none
  std::string activation = "gelu";  ///< as the option of the layer calls it
  double epsilon = 1e-12;           ///< of every norm
  double dropout = 0.1;
  double attention_dropout = 0.1;
};

/// Whether the numbers of a folder are RoBERTa's, or GPT-2's, and BertConfig::first_position; of a
/// config.json that need not be whole.
bool is_roberta(const nlohmann::json& json);
bool is_gpt2(const nlohmann::json& json);
std::int64_t first_position_in(const nlohmann::json& json);

/// Reads the content of config.json. Throws Error, without the file's name, where it is of another
/// architecture or asks for something that this program does not compute.
BertConfig bert_config_from_json(const nlohmann::json& json);

/// The members of config.json that the numbers of `config` decide, with the names of its model type.
nlohmann::json bert_config_to_json(const BertConfig& config);

/// An option of the experiment as config.json decides it.
struct ImpliedOption {
  std::vector<std::string> path;  ///< {"model", "layer", "attention", "heads"}
  Value value;
  std::string reason;  ///< `hidden_size = 384`, as messages quote it
  /// An architecture is what it is; the shares of dropout are only what was used last.
  bool may_differ = false;
  /// Equal to the option's default: compared with what the experiment says, not set.
  bool is_default = false;
};

/// Of [model], its layers and its norm.
std::vector<ImpliedOption> implied_options(const BertConfig& config);

/// The other way round, for a model with `pieces` rows in its table. Throws Error naming the option that
/// BERT, or GPT-2, has no word for.
BertConfig bert_config_of(const ModelTable& model, std::int64_t pieces, std::int64_t max_length);
BertConfig gpt2_config_of(const ModelTable& model, std::int64_t pieces, std::int64_t max_length);

}  // namespace encore
