// Family: what is particular to the models of one model_type, as `transformers` saves them: how config.json
// calls their numbers, what their stacks are like, and what their tensors are called. Each is one constant in
// a file of its own (bert_family.cpp) and one row of the table in family.cpp. Place in the flow: everything
// that reads a folder or writes one asks it (hugging_face_folder.cpp, infer/pretrained_weights.cpp,
// infer/hugging_face_export.cpp). Read next: bert_family.cpp.
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

namespace encore {

/// The parameters whose rows are positions end so.
inline constexpr std::string_view position_table = "embedding.positions";

/// What a head computes, as far as its tensors are called after it.
enum class PretrainedHead : std::uint8_t {
  none,            ///< nothing that there are names for
  classes,         ///< BertForTokenClassification, BertForSequenceClassification: a matrix over states
  spans,           ///< BertForQuestionAnswering: two scores per token, a loss per sequence
  language_model,  ///< BertForMaskedLM, GPT2LMHeadModel: over the table of tokens, or a matrix in its place
};
PretrainedHead pretrained_head_of(const HeadPlan& head);

/// Whether the head has a parameter of that name, as it calls it.
bool has_parameter(const HeadPlan& head, std::string_view name);

/// How config.json calls its numbers; as BERT where nothing else is said. Empty: it has no such member.
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
  const char* tied = "";            ///< whether logits come from the table of pieces
  const char* scaled_states = "";   ///< whether the states are times C^-0.5 there
};

/// What all models of a family have in common, and what counts where config.json says nothing.
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
  /// Of a decoder: both texts begin with the piece `start` (task.source_start, task.target_begins).
  bool texts_begin = false;
  Positions positions = Positions::learned;
  PositionLayout position_layout = PositionLayout::pairs;
  /// Of a table of positions that has rows in front: whether config.json counts them too; then they end with
  /// that of the padding piece's number.
  bool counts_front_rows = true;
  const char* activation = "gelu";    ///< as config.json calls it
  double epsilon = 1e-12;             ///< of every norm
  std::int64_t hidden_per_width = 0;  ///< F / C; 0: config.json must say F
};

/// A tensor of a parameter, in the family's first spelling.
struct FamilyTensor {
  std::string name;
  bool transposed = false;  ///< (in, out), where the parameter is (out, in)
  bool one_row = false;     ///< (1, n), where the parameter is (n)
};

/// A class of `transformers`.
struct PretrainedClass {
  std::string name;               ///< "BertForMaskedLM"
  const char* pipeline;           ///< "fill-mask"
  const char* problem = nullptr;  ///< "problem_type" of config.json, where it is not the usual one
};

/// Names of tensors in a file, by their first spelling.
using TensorSpellings = std::map<std::string, std::string>;

struct Family {
  const char* model_type;  ///< "roberta"
  const char* name;        ///< "RoBERTa", as messages call it
  const TokenizerFiles* tokenizer;
  const char* tokenizer_class = "";  ///< of tokenizer_config.json
  bool exported = true;              ///< false: written as another family
  ConfigNames config = {};
  FamilyShape shape = {};
  /// Adds what the class of `transformers` takes for granted where config.json says nothing.
  void (*complete)(nlohmann::json& config) = nullptr;
  /// Throws Error where config.json asks for what this program does not compute; absent: nothing but what
  /// every family refuses.
  void (*refuse)(const nlohmann::json& config) = nullptr;
  /// The rows of the table of positions in front of the first that is used; absent: 0.
  std::int64_t (*first_position)(const nlohmann::json& config) = nullptr;

  /// The tensors of a parameter, with equal rows one below the other; none: it has no such parameter.
  std::vector<FamilyTensor> (*tensors_of)(std::string_view path, PretrainedHead head);
  /// The first spelling of a name that a file has.
  std::string (*first_spelling)(std::string_view name);
  /// What a file that is written calls a tensor; absent: by its first spelling. Of classes whose head has a
  /// pooler, `pooled` is set.
  std::string (*written_spelling)(std::string_view name, bool pooled) = nullptr;
  /// Drops names of a file that mean something else here, and adds what stands for another.
  void (*amend)(TensorSpellings& names) = nullptr;
  /// Part of embedding or blocks, which a model of that shape must have.
  bool (*is_of_body)(std::string_view name);
  /// Holds no weights of its own, or those of another.
  bool (*is_buffer)(std::string_view name);

  /// The class that a model with that head is written as. Throws Error where there is none.
  PretrainedClass (*class_of)(const HeadPlan& head, const std::string& head_type);
  /// The table of segments, one row of zeros where a model has none; empty: the family has no segments.
  const char* segment_table = "";
  /// The matrix of the logits where a file has one that is not the table; empty: the family has none.
  const char* output_matrix = "";
  /// The bias that goes with a matrix of the logits that is not the table; empty: the same as without one.
  const char* output_bias = "";
  const char* shared_bias = "";  ///< the one that it takes the place of
  /// The bias of the logits, zeros where a model has none; empty: the family has no such tensor.
  const char* logit_bias = "";
  /// What config.json says beside the numbers, for the special pieces that it has already.
  void (*add_members)(nlohmann::json& config, const Options& task) = nullptr;
};

/// Null where there is none of that type.
const Family* find_family(std::string_view model_type);
/// The one of a config.json, which need not be whole. Throws Error naming those that are supported.
const Family& family_in(const nlohmann::json& config);
/// The one that a model with such a tokenizer is written as; of several the one with its stacks, and of these
/// the one with its attention. Throws Error where no family has such a tokenizer.
const Family& family_to_write(const std::string& tokenizer_type, const ModelTable& model);

/// The names of one file.
class FolderNames {
 public:
  /// `own_output`: the model has a matrix of its own for the logits. Throws Error where two of them mean the
  /// same.
  FolderNames(const Family& family, const std::vector<std::string>& names, bool own_output = false);

  /// Those of a parameter, spelled as in the file; a tensor that the file does not have by its first
  /// spelling.
  std::vector<FamilyTensor> tensors_of(std::string_view path, PretrainedHead head) const;

 private:
  const Family& family_;
  TensorSpellings names_;
};

/// "3." off the beginning of a name, which is returned; nothing where no such number begins it.
std::string_view cut_number(std::string_view& name);

}  // namespace encore
