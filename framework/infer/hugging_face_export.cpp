// SPDX-License-Identifier: BSD-3-Clause
// Implements export_to_hugging_face(): gives the parameters of a model the names and layouts of
// `transformers`, and writes the folder. The worker's export calls it. Names and layouts come from the
// families in pretrained/; a change there changes what import reads too. Read hugging_face_export.hpp first.
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
#include "model/floats.hpp"
#include "pretrained/config_member.hpp"
#include "pretrained/family.hpp"
#include "pretrained/hugging_face_folder.hpp"
#include "record/safetensors.hpp"
#include "world/atomic_file.hpp"

namespace encore::infer {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The values of parameters in host memory, adapters included, for as long as this lives.
class HostValues {
 public:
  explicit HostValues(const model::Model& model) : model_(model) {}

  std::span<const std::byte> of(const memory::ParameterSlice& slice) {
    const memory::ParameterBlock& parameters = model_.parameters();
    const std::size_t bytes = static_cast<std::size_t>(slice.size) * size_of(parameters.dtype());
    if (slice.elsewhere != nullptr && !slice.adapter) return {slice.elsewhere, bytes};
    std::vector<std::byte>& copy = copies_.emplace_back(bytes);
    memory::copy_to_host(model_.device(), parameters.adapted(slice), copy.data());
    return copy;
  }
  /// Returns the bytes after rows of zeros.
  std::span<const std::byte> behind_zeros(std::size_t elements, std::span<const std::byte> bytes) {
    std::vector<std::byte>& copy = copies_.emplace_back(elements * size_of(model_.parameters().dtype()));
    copy.insert(copy.end(), bytes.begin(), bytes.end());
    return copy;
  }
  /// Returns the bytes of a matrix transposed, as (columns, rows).
  std::span<const std::byte> turned(std::span<const std::byte> bytes,
                                    const std::vector<std::int64_t>& shape) {
    return copies_.emplace_back(transposed(bytes, shape.at(0), shape.at(1)));
  }
  /// Converts a tensor to another type.
  void convert(record::TensorSlice& tensor, record::StoredType to) try {
    tensor.bytes = copies_.emplace_back(model::convert_elements(tensor.dtype, tensor.bytes, to));
    tensor.dtype = to;
  } catch (const Error& error) {
    throw Error(tensor.name + ": " + error.what() + "; export with --dtype bfloat16, or without --dtype");
  }
  /// Returns zeros for a tensor that the format requires and the model does not have.
  std::span<const std::byte> zeros(std::size_t elements) {
    return copies_.emplace_back(elements * size_of(model_.parameters().dtype()));
  }

 private:
  const model::Model& model_;
  std::vector<std::vector<std::byte>> copies_;
};

/// Adds the tensors that a parameter becomes, each with an equal share of its rows.
void add_tensors(std::vector<std::int64_t> shape, const std::string& path,
                 const std::vector<std::string>& names, DType type, std::span<const std::byte> bytes,
                 std::vector<record::TensorSlice>& tensors) {
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
  const pretrained::Family& family;
  pretrained::PretrainedClass architecture;
  pretrained::PretrainedConfig config;
};

Target target_of(const Engine& engine) {
  const config::Experiment& experiment = engine.experiment();
  if (experiment.target_tokenizer)
    throw Error(
        "the model has separate vocabularies for sources and targets ([tokenizer.target]), which no family "
        "of models has that Encore writes; export it with --format encore");
  const pretrained::Family& family = pretrained::family_to_write(experiment.tokenizer.type, experiment.model);
  pretrained::PretrainedConfig config = pretrained::pretrained_config_of(
      family, experiment.model, std::ssize(engine.tokenizer().vocabulary()), experiment.data.max_length);
  if (family.first_position != nullptr)
    config.first_position =
        family.first_position({{pretrained::padding_name, engine.tokenizer().special(Special::padding)}});
  return {.engine = engine,
          .family = family,
          .architecture = family.class_of(engine.model().head(), experiment.model.head.type),
          .config = config};
}

std::vector<record::TensorSlice> tensors_of(const Target& target, HostValues& values) {
  const model::Model& model = target.engine.model();
  const config::ModelTable& table = target.engine.experiment().model;
  const memory::ParameterBlock& parameters = model.parameters();
  const pretrained::PretrainedHead head = pretrained::pretrained_head_of(model.head());
  const bool pooled = pretrained::has_parameter(model.head(), "pooler.weight");
  const auto written = [&](const std::string& name) {
    const pretrained::Family& family = target.family;
    return family.written_spelling == nullptr ? name : family.written_spelling(name, pooled);
  };
  std::vector<record::TensorSlice> tensors;
  for (const memory::ParameterSlice& slice : parameters.slices()) {
    if (slice.factor) continue;  // a factor of an adapter, which HostValues has added to its matrix
    const std::vector<pretrained::FamilyTensor> parts = target.family.tensors_of(slice.path, head);
    if (parts.empty())
      throw Error("the parameter " + slice.path + " (model.head.type = \"" + table.head.type +
                  "\") has no counterpart in " + target.architecture.name +
                  (slice.path == "head.bias" ? "; train with model.head.bias = false" : ""));
    std::vector<std::string> names;
    for (const pretrained::FamilyTensor& part : parts) names.push_back(written(part.name));
    std::vector<std::int64_t> shape = slice.spec.shape;
    std::span<const std::byte> bytes = values.of(slice);
    if (parts.front().transposed) {
      ENCORE_REQUIRE(parts.size() == 1, slice.path + " is turned as a whole");
      bytes = values.turned(bytes, shape);
      std::swap(shape.at(0), shape.at(1));
    }
    if (parts.front().one_row) shape.insert(shape.begin(), 1);
    if (const std::int64_t zeros = target.config.first_position;
        zeros > 0 && slice.path.ends_with(pretrained::position_table)) {
      shape.front() += zeros;
      bytes = values.behind_zeros(static_cast<std::size_t>(zeros * table.width), bytes);
    }
    add_tensors(shape, slice.path, names, parameters.dtype(), bytes, tensors);
  }
  if (table.segments == 0 && *target.family.segment_table != '\0')
    tensors.push_back({.name = written(target.family.segment_table),
                       .dtype = parameters.dtype(),
                       .shape = {1, table.width},
                       .bytes = values.zeros(static_cast<std::size_t>(table.width))});
  if (*target.family.logit_bias != '\0' && !pretrained::has_parameter(model.head(), "bias"))
    tensors.push_back({.name = target.family.logit_bias,
                       .dtype = parameters.dtype(),
                       .shape = {1, target.config.tokens},
                       .bytes = values.zeros(static_cast<std::size_t>(target.config.tokens))});
  return tensors;
}

/// The type of weights in the file.
record::StoredType stored_type(const std::string& dtype, DType own) {
  if (dtype.empty()) return own;
  for (const record::StoredType type :
       {record::StoredType::float32, record::StoredType::bfloat16, record::StoredType::float16})
    if (dtype == record::name_of(type)) return type;
  throw Error("invalid --dtype \"" + dtype + "\": expected float32, bfloat16 or float16");
}

json config_json(const Target& target, record::StoredType dtype) {
  const Engine& engine = target.engine;
  json config = pretrained::pretrained_config_to_json(target.config);
  config["architectures"] = {target.architecture.name};
  if (target.architecture.problem != nullptr) config["problem_type"] = target.architecture.problem;
  config["torch_dtype"] = record::name_of(dtype);
  config["pad_token_id"] = engine.tokenizer().special(Special::padding);
  if (target.family.tokenizer->names_markers) {
    config["bos_token_id"] = engine.tokenizer().special(Special::start);
    config["eos_token_id"] = engine.tokenizer().special(Special::end);
  }
  if (target.family.add_members != nullptr)
    target.family.add_members(config, engine.experiment().task.options);
  const std::vector<std::string> labels = engine.task().labels();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    config["id2label"][std::to_string(i)] = labels[i];
    config["label2id"][labels[i]] = i;
  }
  return config;
}

}  // namespace

std::map<std::string, std::string> tokenizer_texts(const Engine& engine,
                                                   const pretrained::TokenizerFiles& files,
                                                   const std::string& tokenizer_class) {
  const Tokenizer& tokenizer = engine.tokenizer();
  const std::span<const std::string> tokens = tokenizer.vocabulary();
  pretrained::WrittenTokenizer written = {.tokenizer_class = tokenizer_class,
                                          .options = engine.experiment().tokenizer.options,
                                          .lines = engine.vocabulary_lines(),
                                          .specials = {},
                                          .special_numbers = {},
                                          .max_length = engine.experiment().data.max_length};
  for (const Special role : all_specials)
    if (const std::optional<std::int32_t> token = tokenizer.find(role)) {
      written.specials[static_cast<std::size_t>(role)] = tokens[static_cast<std::size_t>(*token)];
      written.special_numbers.push_back(*token);
    }
  return files.written(written);
}

ExportedModel export_to_hugging_face(const Engine& engine, const fs::path& folder, const std::string& dtype) {
  const DType own = engine.model().parameters().dtype();
  const record::StoredType stored = stored_type(dtype, own);
  const Target target = target_of(engine);
  HostValues values(engine.model());
  std::vector<record::TensorSlice> tensors = tensors_of(target, values);
  if (stored != own)
    for (record::TensorSlice& tensor : tensors) values.convert(tensor, stored);
  const record::SavedFile saved =
      record::save_safetensors(folder / pretrained::tensors_file, tensors, {{"format", "pt"}});
  world::save_file(folder / pretrained::config_file, pretrained::json_file_text(config_json(target, stored)));
  for (const auto& [name, text] :
       tokenizer_texts(engine, *target.family.tokenizer, target.family.tokenizer_class))
    world::save_file(folder / name, text);
  return {.architecture = target.architecture.name,
          .pipeline = target.architecture.pipeline,
          .tensors = static_cast<std::int64_t>(tensors.size()),
          .parameters = engine.model().parameters().count(),
          .dtype = stored,
          .rounded_from = own,
          .weights_sha256 = saved.sha256};
}

}  // namespace encore::infer
