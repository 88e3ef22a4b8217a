#include "infer/hugging_face_export.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "data/vocabulary.hpp"
#include "memory/device_memory.hpp"
#include "pretrained/bert_names.hpp"
#include "pretrained/hugging_face_folder.hpp"
#include "record/atomic_file.hpp"
#include "record/safetensors.hpp"

namespace encore {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* segment_table = "bert.embeddings.token_type_embeddings.weight";

/// A class of transformers.
struct Architecture {
  const char* name;
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

Architecture architecture_of(const HeadPlan& head, const std::string& type) {
  switch (bert_head_of(head)) {
    case BertHead::spans:
      return {.name = "BertForQuestionAnswering", .pipeline = "question-answering"};
    case BertHead::language_model:
      return {.name = "BertForMaskedLM", .pipeline = "fill-mask"};
    case BertHead::classes:
      if (reads(head, Space::tokens))
        return {.name = "BertForTokenClassification", .pipeline = "token-classification"};
      if (has_parameter(head, "pooler.weight"))
        return {.name = "BertForSequenceClassification",
                .pipeline = "text-classification",
                .problem = gives_probabilities(head) ? "multi_label_classification" : nullptr};
      throw Error(
          "model.head.pooler = false cannot be written as a BERT: BertForSequenceClassification has a pooler "
          "between the first state and the classes; train with model.head.pooler = true");
    case BertHead::none:
      if (head.parameters().empty()) return {.name = "BertModel", .pipeline = "feature-extraction"};
      break;
  }
  throw Error(
      "model.head.type = \"" + type +
      "\" cannot be written as a BERT, which has heads for classes of tokens or of texts, for spans, and "
      "for masked tokens");
}

void require_tokenizer(const TokenizerTable& tokenizer) {
  if (tokenizer.type != bert_tokenizer)
    throw Error("tokenizer.type = \"" + tokenizer.type + "\" cannot be written as a BERT, which has \"" +
                bert_tokenizer + "\"");
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
  /// A tensor that the model does not have and that adds nothing.
  std::span<const std::byte> zeros(std::size_t elements) {
    return copies_.emplace_back(elements * size_of(model_.parameters().dtype()));
  }

 private:
  const Model& model_;
  std::vector<std::vector<std::byte>> copies_;
};

/// A parameter as the tensors of which it consists, each with an equal share of its rows.
void add_tensors(const ParameterSlice& slice, const std::vector<std::string>& names, DType type,
                 std::span<const std::byte> bytes, std::vector<TensorSlice>& tensors) {
  const auto parts = static_cast<std::int64_t>(names.size());
  std::vector<std::int64_t> shape = slice.spec.shape;
  ENCORE_REQUIRE(!shape.empty() && shape.front() % parts == 0,
                 slice.path + " cannot be cut into " + std::to_string(parts) + " equal parts");
  shape.front() /= parts;
  const std::size_t share = bytes.size() / names.size();
  for (std::size_t i = 0; i < names.size(); ++i)
    tensors.push_back(
        {.name = names[i], .dtype = type, .shape = shape, .bytes = bytes.subspan(i * share, share)});
}

std::vector<TensorSlice> tensors_of(const Engine& engine, const Architecture& architecture,
                                    HostValues& values) {
  const Model& model = engine.model();
  const ParameterBlock& parameters = model.parameters();
  const BertHead head = bert_head_of(model.head());
  std::vector<TensorSlice> tensors;
  for (const ParameterSlice& slice : parameters.slices()) {
    if (slice.factor) continue;  // part of its matrix
    const std::vector<std::string> names = bert_tensors_of(slice.path, head);
    if (names.empty())
      throw Error("the parameter " + slice.path + " (model.head.type = \"" +
                  engine.experiment().model.head.type + "\") has no counterpart in " + architecture.name);
    add_tensors(slice, names, parameters.dtype(), values.of(slice), tensors);
  }
  if (engine.experiment().model.segments == 0) {
    const std::int64_t width = engine.experiment().model.width;
    tensors.push_back({.name = segment_table,
                       .dtype = parameters.dtype(),
                       .shape = {1, width},
                       .bytes = values.zeros(static_cast<std::size_t>(width))});
  }
  return tensors;
}

json config_json(const Engine& engine, const BertConfig& bert, const Architecture& architecture) {
  json config = bert_config_to_json(bert);
  config["architectures"] = {architecture.name};
  if (architecture.problem != nullptr) config["problem_type"] = architecture.problem;
  config["position_embedding_type"] = "absolute";
  config["torch_dtype"] = engine.model().parameters().dtype() == DType::float64 ? "float64" : "float32";
  const std::span<const std::string> pieces = engine.tokenizer().vocabulary();
  if (const auto pad = std::ranges::find(pieces, "[PAD]"); pad != pieces.end())
    config["pad_token_id"] = pad - pieces.begin();
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

}  // namespace

ExportedModel export_to_hugging_face(const Engine& engine, const fs::path& folder) {
  const Experiment& experiment = engine.experiment();
  const std::span<const std::string> pieces = engine.tokenizer().vocabulary();
  require_tokenizer(experiment.tokenizer);
  const BertConfig bert =
      bert_config_of(experiment.model, static_cast<std::int64_t>(pieces.size()), experiment.data.max_length);
  const Architecture architecture = architecture_of(engine.model().head(), experiment.model.head.type);
  HostValues values(engine.model());
  const std::vector<TensorSlice> tensors = tensors_of(engine, architecture, values);

  const SavedFile saved = save_safetensors(folder / tensors_file, tensors, {{"format", "pt"}});
  save_file(folder / config_file, text_of(config_json(engine, bert, architecture)));
  save_file(folder / pieces_file, vocabulary_text(pieces));
  const bool lowercase = experiment.tokenizer.options.flag("lowercase");
  save_file(folder / tokenizer_config_file,
            text_of(tokenizer_config_json(lowercase, experiment.data.max_length)));
  save_file(folder / special_tokens_file, text_of(special_tokens_json()));
  return {.architecture = architecture.name,
          .pipeline = architecture.pipeline,
          .tensors = static_cast<std::int64_t>(tensors.size()),
          .parameters = engine.model().parameters().count(),
          .weights_sha256 = saved.sha256};
}

}  // namespace encore
