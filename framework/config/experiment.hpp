// SPDX-License-Identifier: BSD-3-Clause
// Experiment is the resolved experiment as typed tables, which the worker reads. It is made from the resolved
// JSON ("config" of a specification) and the catalogue of the plugins' types. Field names here may change;
// those of the JSON, which runs store, may not. Read next: core_schema.hpp for the meaning, range and default
// of every field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <encore/distillation.hpp>
#include <encore/options.hpp>
#include <encore/plugin.hpp>

#include "config/origin.hpp"
#include "config/selection.hpp"

namespace encore::config {

class Catalogue;

/// A table whose `type` a plugin offers. `key` is its dotted name ("model.head"); callers put it in front of
/// the option of an OptionError.
struct PluginTable {
  std::string key;
  std::string type;
  int version = 1;
  Options options;
};
using TaskTable = PluginTable;
using TokenizerTable = PluginTable;
using HeadTable = PluginTable;
using OptimizerTable = PluginTable;
using ScheduleTable = PluginTable;

/// The paths are absolute. `test` is empty if the experiment has none; all three are if it trains nothing.
/// With `split`, `dev` and `test` are empty too: all examples come from `train`.
struct DataTable {
  PluginTable reader;  ///< the options of [data] that the type of reader declares
  std::vector<std::string> train;
  std::vector<std::string> dev;
  std::vector<std::string> test;
  std::vector<std::string> more = {};  ///< files of new examples, used beside `train`
  double held_out = 0.0;               ///< share of the examples of `more` that is not trained on
  std::vector<double> split = {};      ///< shares of train, dev and, where there are three, test; sum 1
  bool stratify = false;               ///< `split` divides the examples of each label
  std::int64_t max_length = 0;         ///< 0: not known yet, `max_length_percent` decides it
  double max_length_percent = 0;  ///< of the training sequences that are not cut; 0: max_length was given
};

/// A sub-layer of the block. `name` becomes part of the parameter's path: encoder.3.<name>.qkv.weight.
struct LayerTable : PluginTable {
  std::string name;
};

enum class Positions : std::uint8_t { sinusoidal, learned, none };
/// The order of the channels of sinusoidal positions: sine and cosine of a frequency side by side, or all
/// sines before all cosines.
enum class PositionLayout : std::uint8_t { pairs, halves };
enum class NormPosition : std::uint8_t { post, pre };
/// Returns the name that [model] uses.
constexpr const char* name_of(Positions positions) {
  return positions == Positions::learned ? "learned" : positions == Positions::none ? "none" : "sinusoidal";
}
constexpr const char* name_of(PositionLayout layout) {
  return layout == PositionLayout::halves ? "halves" : "pairs";
}
/// How the vector of a token is scaled before its position is added.
enum class EmbeddingScale : std::uint8_t { sqrt_width, none };

/// Blocks that run one after another.
struct StackTable {
  std::int64_t layers = 0;        ///< number of blocks
  std::vector<LayerTable> block;  ///< in their order
};

struct ModelTable {
  std::int64_t width = 0;   ///< C
  std::int64_t layers = 0;  ///< number of blocks
  std::int64_t groups = 0;  ///< number of groups of blocks that share parameters; 0: every block has its own
  double dropout = 0.0;
  Positions positions = Positions::sinusoidal;
  PositionLayout position_layout = PositionLayout::pairs;  ///< layout of sinusoidal positions
  std::int64_t max_positions = 0;  ///< rows of the table of learned positions; 0: data.max_length
  std::int64_t segments = 0;       ///< rows of the table of segments; 0: none
  EmbeddingScale embedding_scale = EmbeddingScale::sqrt_width;
  std::int64_t embedding_width = 0;  ///< E, of the tables and their norm; 0: C, without a projection
  bool embedding_norm = false;       ///< the norm, before the dropout of the embedding
  NormPosition norm_position = NormPosition::post;
  std::optional<bool> final_norm;  ///< whether a norm follows the last block; not set: norm_position decides

  bool ends_with_norm() const { return final_norm.value_or(norm_position == NormPosition::pre); }
  /// Returns the width of the rows of the token table.
  std::int64_t table_width() const { return embedding_width > 0 ? embedding_width : width; }

  LayerTable norm;
  std::vector<LayerTable> block;  ///< in the order of `model.block`
  bool causal = false;            ///< a row depends only on itself and rows before it
  /// A causal stack over the second input of the examples. Its layers may read the rows of the first one.
  std::optional<StackTable> decoder;
  HeadTable head;
};

enum class Precision : std::uint8_t { float32, bfloat16, float16, float64 };

/// Says which tensors a forward pass does not keep. The backward pass computes them again.
enum class Recompute : std::uint8_t {
  none,
  cheap,   ///< outputs of layers that say they cost little (LayerPlan::cheap)
  blocks,  ///< everything within a block but its input
};

/// What a batch has between its sequences: `packed` has nothing; `padded` has padding after each one and
/// exists for comparisons. data/packed_batch.cpp lays batches out by it.
enum class Batching : std::uint8_t { packed, padded };

struct TrainTable {
  std::int64_t batch_size = 0;    ///< examples
  std::int64_t batch_tokens = 0;  ///< replaces batch_size; 0: batch_size counts
  std::int64_t epochs = 0;        ///< 0, without steps: the model of model.from as it is
  std::int64_t steps = 0;         ///< replaces epochs; 0: epochs count
  Precision precision = Precision::float32;
  double loss_scale = 0.0;  ///< at the first step; 0: off
  std::int64_t loss_scale_steps = 2000;
  Recompute recompute = Recompute::cheap;
  double clip_norm = 0.0;  ///< 0: off
  Selection select;
  std::int64_t patience = 0;          ///< epochs without a better score; 0: off
  std::int64_t evaluate_every = 0;    ///< steps; 0: only at the end of each epoch
  std::int64_t checkpoint_every = 0;  ///< steps; 0: only at the end of each epoch
  Batching batching = Batching::packed;
  std::int64_t gradient_shards = 1;
  double label_smoothing = 0.0;
  std::int64_t digest_steps = 0;
  std::int64_t show_attention = 0;  ///< examples
  std::vector<std::string> freeze;  ///< parameters, or beginnings of their paths
  double layer_decay = 1.0;         ///< factor on the rate from each level of a stack to the one below
  std::vector<std::string> lora;    ///< matrices with an adapter, or ends of their paths
  std::int64_t lora_rank = 8;
  double lora_alpha = 16.0;
  std::string retrains;  ///< id of a run; empty: none

  bool trains_nothing() const { return epochs == 0 && steps == 0; }
};

/// Weights of the losses that compare rows with those of a teacher, beside the loss of its scores; 0 is off.
struct Relations {
  double states = 0.0;     ///< of the last block's output
  double attention = 0.0;  ///< of queries, keys and values of the last attention
  std::int64_t heads = 8;  ///< parts of a row that are compared on their own

  bool any() const { return states > 0.0 || attention > 0.0; }
};

struct DistilTable {
  Distillation scores;
  Relations relations = {};
};

struct Experiment {
  TaskTable task;
  DataTable data;
  TokenizerTable tokenizer;
  ModelTable model;
  OptimizerTable optimizer;
  ScheduleTable schedule;
  TrainTable train;
  /// Set if the model also learns from another run. Specification::data says from which one.
  std::optional<DistilTable> distil = {};
  /// Set if targets have a tokenizer and a vocabulary of their own. Not set: `tokenizer` cuts both sides.
  std::optional<TokenizerTable> target_tokenizer = {};
};

/// One type, with its kind and the name that an experiment gives it.
struct TypeName {
  Kind kind = Kind::layer;
  std::string name;

  friend bool operator==(const TypeName&, const TypeName&) = default;
};

/// A step of an application. Its table is [app.step.NAME].
struct StepTable : PluginTable {
  std::string name;
  bool asks_model = false;  ///< Specification::data says which run, by the role step_model_key(name)
};

/// The resolved experiment of an application ([app]): steps over records instead of a model to train.
struct Application {
  std::vector<StepTable> steps;  ///< in the order of app.steps
  DataTable data;                ///< max_length is not used; without `train`, that list is empty
  double fit = 0.0;              ///< share of the development set that steps are fitted on
  std::string select;            ///< "max dev/decide.automation"; empty: no step has a measure to select by
};

/// Returns the share of the examples of `more` by which `exp retrain` compares applications. The other half
/// of `held_out` belongs to the development set, and the models learn from the rest.
inline double compared_share(double held_out) {
  return held_out / 2;
}

/// Returns whether a resolved experiment, or a document, describes an application.
bool is_application(const nlohmann::json& config);
/// Works like make_experiment() for an application.
Application make_application(const nlohmann::json& config, const Catalogue& catalogue,
                             const Origins& origins = {});
/// Returns the types of the steps and the reader, each once.
std::vector<TypeName> needed_types(const Application& application);
/// Returns the types that a resolved experiment of either kind names, each once. Throws as make_experiment().
std::vector<TypeName> needed_types(const nlohmann::json& config, const Catalogue& catalogue,
                                   const Origins& origins = {});

/// Reads `config`, which is complete, as resolve.hpp makes it, with its `origins`: a value counts as given
/// (Options::given) unless its origin is a default. Throws ConfigError with the dotted key of an unknown or
/// missing option, a wrong type, a value out of range, or a type that no plugin offers.
Experiment make_experiment(const nlohmann::json& config, const Catalogue& catalogue,
                           const Origins& origins = {});

/// Returns the options of a plugin's table within `config`, checked against its schema. Throws ConfigError.
/// `key` is the table's dotted name. The table's "type" is not among the options.
Options options_from_config(const nlohmann::json& table, const Schema& schema, const std::string& key,
                            const Origins& origins = {});

/// Returns every type that an experiment names, each once.
std::vector<TypeName> needed_types(const Experiment& experiment);

}  // namespace encore::config
