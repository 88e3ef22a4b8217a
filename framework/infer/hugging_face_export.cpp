#include "infer/hugging_face_export.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "data/vocabulary.hpp"
#include "infer/pretrained_weights.hpp"
#include "memory/device_memory.hpp"
#include "model/convert_elements.hpp"
#include "pretrained/bert_names.hpp"
#include "pretrained/byte_bpe_files.hpp"
#include "pretrained/gpt2_names.hpp"
#include "pretrained/hugging_face_folder.hpp"
#include "record/atomic_file.hpp"
#include "record/safetensors.hpp"

namespace encore {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* segment_table = "bert.embeddings.token_type_embeddings.weight";

/// A class of transformers, without the name of the family in front.
struct Architecture {
  std::string name;
  const char* pipeline;
  const char* problem = nullptr;  ///< "problem_type" of config.json, where it is not the usual one
};

bool reads(const HeadPlan& head, Space space) {
  return std::ranges::find(head.reads(), space) != head.reads().end();
}

/// A probability for each class by itself, rather than the best class.
bool gives_probabilities(const HeadPlan& head) {
  return std::ranges::any_of(head.outputs(), [](const OutputRule& output) {
    return output.space == Space::sequences && output.type == ColumnType::numbers;
  });
}

bool has_parameter(const HeadPlan& head, const std::string& name) {
  return std::ranges::find(head.parameters(), name, &ParameterSpec::name) != head.parameters().end();
}

/// Whether the second text follows the first, beside the masked tokens.
bool tells_next_text(const HeadPlan& head) {
  return has_parameter(head, "next.weight");
}

Architecture architecture_of(const HeadPlan& head, const std::string& type) {
  switch (bert_head_of(head)) {
    case BertHead::spans:
      return {.name = "ForQuestionAnswering", .pipeline = "question-answering"};
    case BertHead::language_model:
      if (tells_next_text(head)) return {.name = "ForPreTraining", .pipeline = "fill-mask"};
      return {.name = "ForMaskedLM", .pipeline = "fill-mask"};
    case BertHead::classes:
      if (reads(head, Space::tokens))
        return {.name = "ForTokenClassification", .pipeline = "token-classification"};
      if (has_parameter(head, "pooler.weight"))
        return {.name = "ForSequenceClassification",
                .pipeline = "text-classification",
                .problem = gives_probabilities(head) ? "multi_label_classification" : nullptr};
      throw Error(
          "model.head.pooler = false cannot be written as a BERT: BertForSequenceClassification has a pooler "
          "between the first state and the classes; train with model.head.pooler = true");
    case BertHead::none:
      if (head.parameters().empty()) return {.name = "Model", .pipeline = "feature-extraction"};
      break;
  }
  throw Error(
      "model.head.type = \"" + type +
      "\" cannot be written as a BERT, which has heads for classes of tokens or of texts, for spans, and "
      "for masked tokens");
}

/// Whose folder it is.
enum class Family : std::uint8_t { bert, roberta, gpt2 };

/// A causal stack is a GPT-2; else the tokenizer decides: BERT has WordPiece, RoBERTa byte pairs.
Family family_of(const TokenizerTable& tokenizer, const ModelTable& model) {
  if (tokenizer.type == bert_tokenizer) return Family::bert;
  if (tokenizer.type == byte_bpe_tokenizer) return model.causal ? Family::gpt2 : Family::roberta;
  throw Error("tokenizer.type = \"" + tokenizer.type + "\" cannot be written as a BERT, which has \"" +
              bert_tokenizer + "\", nor as a RoBERTa or GPT-2, which have \"" + byte_bpe_tokenizer + "\"");
}

/// The values of parameters in host memory, adapters included, for as long as this lives.
class HostValues {
 public:
  explicit HostValues(const Model& model) : model_(model) {}

  std::span<const std::byte> of(const ParameterSlice& slice) {
    const ParameterBlock& parameters = model_.parameters();
    const std::size_t bytes = static_cast<std::size_t>(slice.size) * size_of(parameters.dtype());
    if (slice.elsewhere != nullptr && !slice.adapter) return {slice.elsewhere, bytes};
    std::vector<std::byte>& copy = copies_.emplace_back(bytes);
    copy_to_host(model_.device(), parameters.adapted(slice), copy.data());
    return copy;
  }
  /// The same, behind rows of zeros.
  std::span<const std::byte> behind_zeros(std::size_t elements, std::span<const std::byte> bytes) {
    std::vector<std::byte>& copy = copies_.emplace_back(elements * size_of(model_.parameters().dtype()));
    copy.insert(copy.end(), bytes.begin(), bytes.end());
    return copy;
  }
  /// Those of a matrix as (columns, rows).
  std::span<const std::byte> turned(std::span<const std::byte> bytes,
                                    const std::vector<std::int64_t>& shape) {
    return copies_.emplace_back(transposed(bytes, shape.at(0), shape.at(1)));
  }
  /// A tensor in another type.
  void convert(TensorSlice& tensor, StoredType to) try {
    tensor.bytes = copies_.emplace_back(convert_elements(tensor.dtype, tensor.bytes, to));
    tensor.dtype = to;
  } catch (const Error& error) {
    throw Error(tensor.name + ": " + error.what() + "; export with --dtype bfloat16, or without --dtype");
  }
  /// A tensor that the model does not have and that adds nothing.
  std::span<const std::byte> zeros(std::size_t elements) {
    return copies_.emplace_back(elements * size_of(model_.parameters().dtype()));
  }

 private:
  const Model& model_;
  std::vector<std::vector<std::byte>> copies_;
};

/// A parameter as the tensors of which it consists, each with an equal share of its rows.
void add_tensors(std::vector<std::int64_t> shape, const std::string& path,
                 const std::vector<std::string>& names, DType type, std::span<const std::byte> bytes,
                 std::vector<TensorSlice>& tensors) {
  const auto parts = static_cast<std::int64_t>(names.size());
  ENCORE_REQUIRE(!shape.empty() && shape.front() % parts == 0,
                 path + " cannot be cut into " + std::to_string(parts) + " equal parts");
  shape.front() /= parts;
  const std::size_t share = bytes.size() / names.size();
  for (std::size_t i = 0; i < names.size(); ++i)
    tensors.push_back(
        {.name = names[i], .dtype = type, .shape = shape, .bytes = bytes.subspan(i * share, share)});
}

/// The folder that is written.
struct Target {
  const Engine& engine;
  Family family;
  Architecture architecture;
  BertConfig config;
};

Target target_of(const Engine& engine) {
  const Experiment& experiment = engine.experiment();
  const Family family = family_of(experiment.tokenizer, experiment.model);
  const auto pieces = std::ssize(engine.tokenizer().vocabulary());
  if (family == Family::gpt2) {
    if (bert_head_of(engine.model().head()) != BertHead::language_model)
      throw Error("model.head.type = \"" + experiment.model.head.type +
                  "\" of a causal model cannot be written as a GPT-2, which has one for the next token");
    return {.engine = engine,
            .family = family,
            .architecture = {.name = "GPT2LMHeadModel", .pipeline = "text-generation"},
            .config = gpt2_config_of(experiment.model, pieces, experiment.data.max_length)};
  }
  BertConfig config = bert_config_of(experiment.model, pieces, experiment.data.max_length);
  Architecture architecture = architecture_of(engine.model().head(), experiment.model.head.type);
  if (family == Family::roberta) {
    if (tells_next_text(engine.model().head()))
      throw Error(
          "task.next_sentence = true cannot be written as a RoBERTa, which has no such head; train with the "
          "tokenizer \"wordpiece\", and it becomes a BERT");
    config.model_type = "roberta";
    config.first_position = engine.tokenizer().special(Special::padding) + 1;
  }
  architecture.name = (family == Family::roberta ? "Roberta" : "Bert") + architecture.name;
  return {.engine = engine, .family = family, .architecture = architecture, .config = config};
}

/// A parameter as tensors of a GPT-2.
void add_gpt2_tensor(const ParameterSlice& slice, DType type, HostValues& values,
                     std::vector<TensorSlice>& tensors) {
  const Gpt2Tensor tensor = gpt2_tensor_of(slice.path);
  if (tensor.name.empty())
    throw Error("the parameter " + slice.path + " has no counterpart in GPT2LMHeadModel" +
                (slice.path == "head.bias" ? "; train with model.head.bias = false" : ""));
  std::vector<std::int64_t> shape = slice.spec.shape;
  std::span<const std::byte> bytes = values.of(slice);
  if (tensor.transposed) {
    bytes = values.turned(bytes, shape);
    std::swap(shape.at(0), shape.at(1));
  }
  add_tensors(shape, slice.path, {tensor.name}, type, bytes, tensors);
}

std::vector<TensorSlice> tensors_of(const Target& target, HostValues& values) {
  const Model& model = target.engine.model();
  const ModelTable& table = target.engine.experiment().model;
  const ParameterBlock& parameters = model.parameters();
  const BertHead head = bert_head_of(model.head());
  const BertFamily family = target.family == Family::roberta ? BertFamily::roberta : BertFamily::bert;
  const bool pooled = has_parameter(model.head(), "pooler.weight");
  std::vector<TensorSlice> tensors;
  for (const ParameterSlice& slice : parameters.slices()) {
    if (slice.factor) continue;  // part of its matrix
    if (target.family == Family::gpt2) {
      add_gpt2_tensor(slice, parameters.dtype(), values, tensors);
      continue;
    }
    std::vector<std::string> names = bert_tensors_of(slice.path, head);
    if (names.empty())
      throw Error("the parameter " + slice.path + " (model.head.type = \"" + table.head.type +
                  "\") has no counterpart in " + target.architecture.name);
    for (std::string& name : names) name = spelling_of(family, name, pooled);
    std::span<const std::byte> bytes = values.of(slice);
    if (slice.path != position_table || target.config.first_position == 0) {
      add_tensors(slice.spec.shape, slice.path, names, parameters.dtype(), bytes, tensors);
      continue;
    }
    std::vector<std::int64_t> shape = slice.spec.shape;
    shape.front() += target.config.first_position;
    bytes = values.behind_zeros(static_cast<std::size_t>(target.config.first_position * table.width), bytes);
    add_tensors(shape, slice.path, names, parameters.dtype(), bytes, tensors);
  }
  if (table.segments == 0 && target.family != Family::gpt2)
    tensors.push_back({.name = spelling_of(family, segment_table, pooled),
                       .dtype = parameters.dtype(),
                       .shape = {1, table.width},
                       .bytes = values.zeros(static_cast<std::size_t>(table.width))});
  return tensors;
}

/// The type of weights in the file.
StoredType stored_type(const std::string& dtype, DType own) {
  if (dtype.empty()) return own;
  for (const StoredType type :
       {StoredType(DType::float32), StoredType(DType::bfloat16), StoredType(std::nullopt)})
    if (dtype == name_of(type)) return type;
  throw Error("--dtype is \"" + dtype + "\"; it must be float32, bfloat16 or float16");
}

json config_json(const Target& target, StoredType dtype) {
  const Engine& engine = target.engine;
  json config = bert_config_to_json(target.config);
  config["architectures"] = {target.architecture.name};
  if (target.architecture.problem != nullptr) config["problem_type"] = target.architecture.problem;
  if (target.family == Family::bert) config["position_embedding_type"] = "absolute";
  config["torch_dtype"] = name_of(dtype);
  config["pad_token_id"] = engine.tokenizer().special(Special::padding);
  if (target.family != Family::bert) {
    config["bos_token_id"] = engine.tokenizer().special(Special::start);
    config["eos_token_id"] = engine.tokenizer().special(Special::end);
  }
  const std::vector<std::string> labels = engine.task().labels();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    config["id2label"][std::to_string(i)] = labels[i];
    config["label2id"][labels[i]] = i;
  }
  return config;
}

/// Labels come from data, and may be anything.
std::string text_of(const json& value) {
  return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

void write_tokenizer(const Target& target, const fs::path& folder) {
  const Tokenizer& tokenizer = target.engine.tokenizer();
  const TokenizerTable& table = target.engine.experiment().tokenizer;
  const std::int64_t max_length = target.engine.experiment().data.max_length;
  const std::span<const std::string> pieces = tokenizer.vocabulary();
  if (target.family == Family::bert) {
    save_file(folder / pieces_file, vocabulary_text(pieces));
    save_file(folder / tokenizer_config_file,
              text_of(tokenizer_config_json(table.options.flag("lowercase"), max_length)));
    save_file(folder / special_tokens_file, text_of(special_tokens_json()));
    return;
  }
  std::array<std::string, all_specials.size()> names;
  std::vector<std::int32_t> specials;
  for (const Special role : all_specials)
    if (const std::optional<std::int32_t> piece = tokenizer.find(role)) {
      names[static_cast<std::size_t>(role)] = pieces[static_cast<std::size_t>(*piece)];
      specials.push_back(*piece);
    }
  save_file(folder / vocab_json_file, vocab_json(pieces));
  save_file(folder / merges_file, merges_text(target.engine.vocabulary_lines(), specials));
  save_file(folder / tokenizer_config_file,
            text_of(byte_bpe_config_json(target.family == Family::gpt2 ? "GPT2Tokenizer" : "RobertaTokenizer",
                                         names, table.options.flag("add_prefix_space"), max_length)));
}

}  // namespace

ExportedModel export_to_hugging_face(const Engine& engine, const fs::path& folder, const std::string& dtype) {
  const DType own = engine.model().parameters().dtype();
  const StoredType stored = stored_type(dtype, own);
  const Target target = target_of(engine);
  HostValues values(engine.model());
  std::vector<TensorSlice> tensors = tensors_of(target, values);
  if (stored != own)
    for (TensorSlice& tensor : tensors) values.convert(tensor, stored);
  const SavedFile saved = save_safetensors(folder / tensors_file, tensors, {{"format", "pt"}});
  save_file(folder / config_file, text_of(config_json(target, stored)));
  write_tokenizer(target, folder);
  return {.architecture = target.architecture.name,
          .pipeline = target.architecture.pipeline,
          .tensors = static_cast<std::int64_t>(tensors.size()),
          .parameters = engine.model().parameters().count(),
          .dtype = stored,
          .rounded_from = own,
          .weights_sha256 = saved.sha256};
}

}  // namespace encore
