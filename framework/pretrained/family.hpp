// SPDX-License-Identifier: BSD-3-Clause
// Family: describes the models of one model_type, as `transformers` saves them: the names of their numbers in
// config.json, the shape of their stacks, and the names of their tensors. Each is one constant in its own
// file and a row of the table in family.cpp. Place in the flow: hugging_face_folder.cpp,
// infer/pretrained_weights.cpp and infer/hugging_face_export.cpp read and write folders through it. The names
// are those of `transformers` and of stored checkpoints, so they never change. Read next: bert_family.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <encore/head.hpp>
#include <encore/options.hpp>

#include "config/experiment.hpp"
#include "pretrained/tokenizer_files.hpp"

namespace encore::pretrained {

/// The parameters whose rows are positions have names with this end.
inline constexpr std::string_view position_table = "embedding.positions";

/// The kind of a head, as far as the names of its tensors depend on it.
enum class PretrainedHead : std::uint8_t {
  none,            ///< nothing that has names
  classes,         ///< BertForTokenClassification, BertForSequenceClassification: a matrix over states
  spans,           ///< BertForQuestionAnswering: two scores per token, a loss per sequence
  language_model,  ///< BertForMaskedLM, GPT2LMHeadModel: over the table of tokens, or a matrix in its place
};
PretrainedHead pretrained_head_of(const HeadPlan& head);

/// Returns whether the head has a parameter of that name, in its own spelling.
bool has_parameter(const HeadPlan& head, std::string_view name);

/// The names of the numbers in config.json. The defaults are those of BERT. Empty: there is no such member.
struct ConfigNames {
  const char* width = "hidden_size";
  const char* layers = "num_hidden_layers";
  const char* heads = "num_attention_heads";
  const char* hidden = "intermediate_size";
  const char* activation = "hidden_act";
  const char* dropout = "hidden_dropout_prob";
  const char* attention_dropout = "attention_probs_dropout_prob";
  const char* epsilon = "layer_norm_eps";
  const char* segments = "type_vocab_size";
  const char* positions = "max_position_embeddings";
  const char* decoder_layers = "";
  const char* decoder_heads = "";   ///< must be those of the encoder
  const char* decoder_hidden = "";  ///< likewise
  const char* scaled = "";          ///< whether embeddings are times sqrt(C)
  const char* head_size = "";       ///< empty: it is C / heads
  const char* buckets = "";         ///< of the distances in attention
  const char* max_distance = "";    ///< from where on they share the last
  const char* tied = "";            ///< whether logits come from the table of tokens
  const char* scaled_states = "";   ///< whether the states are times C^-0.5 there
};

/// What all models of a family have in common, and the defaults for what config.json does not say.
struct FamilyShape {
  bool causal = false;
  bool pre_norm = false;  ///< a norm before each sub-layer and one behind the last, else one after each sum
  const char* norm = "layer_norm";           ///< type of every norm
  const char* attention = "self_attention";  ///< type of the attention of a stack over itself
  bool scaled_scores = true;                 ///< attention divides them by sqrt(D)
  bool biases = true;                        ///< of all products
  bool gates = false;      ///< "gated-" in front of an activation stands for a gated_feed_forward
  bool bare_head = false;  ///< logits are products of the states: no transform, no bias
  bool embedding_norm = true;
  bool decoder = false;  ///< a second stack that reads the first
  /// For a decoder: source and target begin with the token `start` (task.source_start, task.target_begins).
  bool texts_begin = false;
  config::Positions positions = config::Positions::learned;
  config::PositionLayout position_layout = config::PositionLayout::pairs;
  /// Whether config.json also counts the rows of the table of positions before the first used one. The table
  /// then ends with the row of the padding token's number.
  bool counts_front_rows = true;
  /// transformers writes two markers between two inputs, where one is written here.
  bool doubles_separator = false;
  const char* activation = "gelu";    ///< in the spelling of config.json
  double epsilon = 1e-12;             ///< of every norm
  std::int64_t hidden_per_width = 0;  ///< F / C; 0: config.json must say F
};

/// A tensor of a parameter. A tensor may have several names in files of one family; its first spelling is the
/// one that this program uses for it, whatever the file says.
struct FamilyTensor {
  std::string name;         ///< the first spelling
  bool transposed = false;  ///< (in, out), where the parameter is (out, in)
  bool one_row = false;     ///< (1, n), where the parameter is (n)
};

/// A class of `transformers`.
struct PretrainedClass {
  std::string name;               ///< "BertForMaskedLM"
  const char* pipeline;           ///< "fill-mask"
  const char* problem = nullptr;  ///< "problem_type" of config.json, if it is not the default
};

/// The names of tensors in a file, by their first spelling.
using TensorSpellings = std::map<std::string, std::string>;

struct Family {
  const char* model_type;  ///< "roberta"
  const char* name;        ///< "RoBERTa", as messages call it
  const TokenizerFiles* tokenizer;
  const char* tokenizer_class = "";  ///< of tokenizer_config.json
  bool exported = true;              ///< false: written as another family
  ConfigNames config = {};
  FamilyShape shape = {};
  /// Adds the defaults of the class of `transformers` for what config.json does not say.
  void (*complete)(nlohmann::json& config) = nullptr;
  /// Throws Error if config.json asks for something that this program does not compute. Absent: it refuses
  /// only what every family refuses.
  void (*refuse)(const nlohmann::json& config) = nullptr;
  /// Returns the number of rows of the table of positions before the first used one; absent: 0.
  std::int64_t (*first_position)(const nlohmann::json& config) = nullptr;

  /// Returns the tensors of a parameter, with equal rows one below the other; none: it has no such parameter.
  std::vector<FamilyTensor> (*tensors_of)(std::string_view path, PretrainedHead head);
  /// Returns the first spelling of a name in a file.
  std::string (*first_spelling)(std::string_view name);
  /// Returns the name of a tensor in a written file; absent: its first spelling. `pooled` is set for classes
  /// whose head has a pooler.
  std::string (*written_spelling)(std::string_view name, bool pooled) = nullptr;
  /// Drops names of a file that mean something else here, and adds names that stand for another.
  void (*amend)(TensorSpellings& names) = nullptr;
  /// Returns whether the tensor is part of embedding or blocks, which a model of that shape must have.
  bool (*is_of_body)(std::string_view name);
  /// Returns whether the tensor has no weights of its own, or those of another tensor.
  bool (*is_buffer)(std::string_view name);

  /// Returns the class as which a model with that head is written. Throws Error if there is none.
  PretrainedClass (*class_of)(const HeadPlan& head, const std::string& head_type);
  /// The table of segments, one row of zeros if a model has none; empty: the family has no segments.
  const char* segment_table = "";
  /// The matrix of the logits, if a file has one beside the table; empty: the family has none.
  const char* output_matrix = "";
  /// The bias that goes with a separate matrix of the logits; empty: the same as without one.
  const char* output_bias = "";
  const char* shared_bias = "";  ///< the bias that it replaces
  /// The bias of the logits, zeros if a model has none; empty: the family has no such tensor.
  const char* logit_bias = "";
  /// Adds the members of config.json beside the numbers, for the special tokens that it has already.
  void (*add_members)(nlohmann::json& config, const Options& task) = nullptr;
};

/// Returns the family of a model_type, or null if there is none.
const Family* find_family(std::string_view model_type);
/// Returns the family of a config.json, which may be incomplete. Throws Error that names the supported ones.
const Family& family_in(const nlohmann::json& config);
/// Returns the family as which a model with such a tokenizer is written: the one with its stacks, and among
/// several the one with its attention. Throws Error if no family has such a tokenizer.
const Family& family_to_write(const std::string& tokenizer_type, const config::ModelTable& model);

/// The names of the tensors of one file.
class FolderNames {
 public:
  /// `own_output` says that the model has a separate matrix for the logits. Throws Error if two names mean
  /// the same.
  FolderNames(const Family& family, const std::vector<std::string>& names, bool own_output = false);

  /// Returns the tensors of a parameter, spelled as in the file; a tensor that the file lacks by its first
  /// spelling.
  std::vector<FamilyTensor> tensors_of(std::string_view path, PretrainedHead head) const;

 private:
  const Family& family_;
  TensorSpellings names_;
};

/// Cuts a number such as "3." off the beginning of a name and returns it; nothing if there is none.
std::string_view cut_number(std::string_view& name);

// The constants of all families, for the table in family.cpp and for tests.

extern const Family bert_family;
extern const Family distilbert_family;
extern const Family roberta_family;
extern const Family gpt2_family;
extern const Family bart_family;
extern const Family marian_family;
extern const Family t5_family;

}  // namespace encore::pretrained
