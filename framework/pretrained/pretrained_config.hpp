// SPDX-License-Identifier: BSD-3-Clause
// PretrainedConfig: the content of config.json for a model of one of the families, and the options of [model]
// with the same meaning. Place in the flow: hugging_face_folder.cpp reads it, folder_filler.cpp puts the
// options into the experiment, the worker's export writes it. Other programs read and write config.json, so
// its names never change. Read next: family.hpp, which has the differences between model types.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "config/experiment.hpp"
#include "config/value.hpp"
#include "pretrained/family.hpp"

namespace encore::pretrained {

/// The names of the layers of a model from such a folder. They are part of the names of its parameters.
inline constexpr const char* pretrained_attention = "attention";
inline constexpr const char* pretrained_feed_forward = "feed_forward";
inline constexpr const char* pretrained_cross = "cross";  ///< over the encoder
inline constexpr const char* pretrained_norm = "norm";

struct PretrainedConfig {
  std::string model_type = "bert";  ///< the model_type of a Family
  std::int64_t tokens = 0;          ///< V, rows of the table of tokens
  std::int64_t width = 0;           ///< C
  std::int64_t layers = 0;
  std::int64_t decoder_layers = 0;  ///< 0: it has no decoder
  std::int64_t heads = 0;
  std::int64_t head_size = 0;      ///< D; 0: C / heads
  std::int64_t hidden = 0;         ///< F
  std::int64_t max_positions = 0;  ///< rows of the table of positions that are used
  /// The number of rows of that table in front of the first position. RoBERTa numbers the first position
  /// pad_token_id + 1, and uses none of the rows before it.
  std::int64_t first_position = 0;
  std::int64_t segments = 0;        ///< rows of the table of segments; 0: it has none
  std::string activation = "gelu";  ///< as the option of the layer calls it
  bool gated = false;               ///< feed-forward layers multiply by a gate
  std::int64_t buckets = 0;         ///< of distances in attention; 0: it has none
  std::int64_t max_distance = 0;    ///< from where on they share the last bucket
  double epsilon = 1e-12;           ///< of every norm
  bool scaled = false;              ///< embeddings are times sqrt(C)
  bool scaled_states = false;       ///< states are times C^-0.5 where logits are made of them
  /// Logits come from the table of tokens. Not every version of `transformers` writes it to config.json: a
  /// folder's own matrix is found among its tensors.
  bool tied = true;
  /// What the decoder reads first, in the words of option task.target_start.
  std::string target_start = "start";
  double dropout = 0.1;
  double attention_dropout = 0.1;
};

/// Reads the content of config.json. Throws Error, without the file's name, if it is of another architecture
/// or asks for something that this program does not compute.
PretrainedConfig pretrained_config_from_json(const nlohmann::json& json);

/// Returns the members of config.json that the numbers of `config` decide, with the names of its model type.
nlohmann::json pretrained_config_to_json(const PretrainedConfig& config);

/// An option of the experiment that config.json decides.
struct ImpliedOption {
  std::vector<std::string> path;  ///< {"model", "layer", "attention", "heads"}
  config::Value value;
  std::string reason;  ///< `hidden_size = 384`, as messages quote it
  /// Set for shares of dropout: an experiment may choose others. Options of the architecture must be equal.
  bool may_differ = false;
  /// Set if it equals the option's default: it is compared with the experiment, but not set.
  bool is_default = false;
};

/// Returns the type of its feed-forward layers: "gated_feed_forward" or "feed_forward".
const char* feed_forward_type(const PretrainedConfig& config);

/// Returns the family of its model type.
const Family& family_of(const PretrainedConfig& config);

/// Returns the options of [model], its layers and its norm.
std::vector<ImpliedOption> implied_options(const PretrainedConfig& config);

/// Converts a model to the config.json of a family, with `tokens` rows in its table of tokens. Throws Error
/// that names the option that the family cannot express.
PretrainedConfig pretrained_config_of(const Family& family, const config::ModelTable& model,
                                      std::int64_t tokens, std::int64_t max_length);

}  // namespace encore::pretrained
