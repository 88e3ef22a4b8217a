// SPDX-License-Identifier: BSD-3-Clause
// find_family() and FolderNames: choose the family of a config.json or of a model, and map the names of a
// file's tensors. hugging_face_folder.cpp, the worker's import and export call them. A new family is a file
// like bert_family.cpp and a row of the table here. Read family.hpp first.
#include "pretrained/family.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <nlohmann/json.hpp>

#include <encore/error.hpp>

#include "base/nearest.hpp"
#include "config/value.hpp"

namespace encore::pretrained {
namespace {

constexpr const Family* all_families[] = {&bert_family, &distilbert_family, &roberta_family, &gpt2_family,
                                          &bart_family, &marian_family,     &t5_family};

std::string listed(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 < parts.size() ? ", " : " and ") + parts[i];
  return text;
}

std::string supported() {
  std::vector<std::string> types;
  for (const Family* family : all_families) types.push_back("\"" + std::string(family->model_type) + "\"");
  return "supported are " + listed(types);
}

/// Returns the name of the class: " (XLNetModel)".
std::string architecture_of(const nlohmann::json& config) {
  const auto list = config.find("architectures");
  if (list == config.end() || !list->is_array() || list->empty() || !list->front().is_string()) return "";
  return " (" + config::shortened(list->front().get<std::string>()) + ")";
}

}  // namespace

PretrainedHead pretrained_head_of(const HeadPlan& head) {
  const bool tied = std::ranges::any_of(
      head.parameters(), [](const ParameterSpec& spec) { return spec.alias == "embedding.tokens"; });
  if (tied || has_parameter(head, "output.weight")) return PretrainedHead::language_model;
  const bool matrix = has_parameter(head, "weight");
  const bool scores = std::ranges::any_of(head.outputs(), [](const OutputRule& output) {
    return output.space == Space::tokens && output.type == ColumnType::numbers && output.width == 2;
  });
  if (matrix && scores && head.loss_space() == Space::sequences) return PretrainedHead::spans;
  return matrix ? PretrainedHead::classes : PretrainedHead::none;
}

bool has_parameter(const HeadPlan& head, std::string_view name) {
  return std::ranges::find(head.parameters(), name, &ParameterSpec::name) != head.parameters().end();
}

const Family* find_family(std::string_view model_type) {
  const auto* found = std::ranges::find(all_families, model_type, &Family::model_type);
  return found == std::end(all_families) ? nullptr : *found;
}

const Family& family_in(const nlohmann::json& config) {
  const auto type = config.find("model_type");
  if (type == config.end() || type->is_null()) throw Error("\"model_type\" is missing; " + supported());
  if (!type->is_string()) throw Error("model_type must be a text, found " + config::shortened(type->dump()));
  if (const Family* family = find_family(type->get<std::string>())) return *family;
  throw Error("model_type is \"" + config::shortened(type->get<std::string>()) + "\"" +
              architecture_of(config) + ", which is another architecture; " + supported());
}

const Family& family_to_write(const std::string& tokenizer_type, const config::ModelTable& model) {
  const auto likeness = [&](const Family& family) {
    const FamilyShape& shape = family.shape;
    const bool same_stacks = shape.causal == model.causal && shape.decoder == model.decoder.has_value();
    return !same_stacks ? 0 : model.block.front().type == shape.attention ? 2 : 1;
  };
  const Family* nearest = nullptr;  // the most similar family with that tokenizer
  std::vector<std::string> has;
  for (const Family* family : all_families) {
    if (!family->exported) continue;
    has.push_back("a " + std::string(family->name) + " has \"" + family->tokenizer->type + "\"");
    if (family->tokenizer->type == tokenizer_type &&
        (nearest == nullptr || likeness(*family) > likeness(*nearest)))
      nearest = family;
  }
  if (nearest != nullptr) return *nearest;  // if the model does not fit it, that message says more
  throw Error("tokenizer.type = \"" + tokenizer_type + "\" cannot be written: " + listed(has));
}

FolderNames::FolderNames(const Family& family, const std::vector<std::string>& names, bool own_output)
    : family_(family) {
  for (const std::string& name : names) {
    const auto [place, added] = names_.emplace(family.first_spelling(name), name);
    if (!added)
      throw Error("tensors \"" + place->second + "\" and \"" + name + "\" are the same of " + family.name +
                  "'s");
  }
  if (own_output && *family.output_bias != '\0') {
    // If there is such a matrix, the bias that is shared with the table no longer counts.
    const auto bias = names_.find(family.output_bias);
    names_.erase(family.shared_bias);
    if (bias != names_.end()) names_.emplace(family.shared_bias, bias->second);
  }
  if (family.amend != nullptr) family.amend(names_);
}

std::vector<FamilyTensor> FolderNames::tensors_of(std::string_view path, PretrainedHead head) const {
  std::vector<FamilyTensor> tensors = family_.tensors_of(path, head);
  for (FamilyTensor& tensor : tensors)
    if (const auto found = names_.find(tensor.name); found != names_.end()) tensor.name = found->second;
  return tensors;
}

std::string_view cut_number(std::string_view& name) {
  const std::size_t end = name.find('.');
  std::size_t number = 0;
  if (end == std::string_view::npos ||
      std::from_chars(name.data(), name.data() + end, number).ptr != name.data() + end)
    return {};
  const std::string_view cut = name.substr(0, end + 1);
  name.remove_prefix(end + 1);
  return cut;
}

}  // namespace encore::pretrained
