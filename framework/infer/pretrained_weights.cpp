// SPDX-License-Identifier: BSD-3-Clause
// Implements pretrained_weights.hpp: fills the parameters of a new model from a Hugging Face folder, at step
// 0 of a run with `[model] from`; train/session.cpp and train/pretrained_run.cpp call load_pretrained(). The
// family (pretrained/family.hpp) maps the names; this file has the rules for missing and unused tensors.
// parent_weights.cpp has the same rules, so change both together. Read pretrained_weights.hpp first.
#include "infer/pretrained_weights.hpp"

#include <algorithm>
#include <cstring>
#include <list>
#include <utility>

#include <nlohmann/json.hpp>

#include <encore/error.hpp>

#include "model/load_parameters.hpp"
#include "pretrained/family.hpp"
#include "pretrained/hugging_face_folder.hpp"
#include "pretrained/pretrained_config.hpp"
#include "tasks/task_sets.hpp"

namespace encore::infer {
namespace {

constexpr std::size_t most_listed = 6;

std::vector<std::string> names_of(const model::NamedTensors& source) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : source) names.push_back(name);
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most_listed); ++i)
    text += (i > 0 ? ", " : "") + names[i];
  return names.size() > most_listed ? text + " and " + std::to_string(names.size() - most_listed) + " more"
                                    : text;
}

/// Returns the shape of tensors that are stacked row by row.
std::vector<std::int64_t> joined_shape(const model::NamedTensors& source,
                                       const std::vector<pretrained::FamilyTensor>& tensors) {
  std::vector<std::int64_t> joined;
  for (const pretrained::FamilyTensor& tensor : tensors) {
    const std::vector<std::int64_t>& shape = source.at(tensor.name).shape;
    if (joined.empty())
      joined = shape;
    else if (!shape.empty())
      joined.front() += shape.front();
  }
  return joined;
}

/// The tensors of a folder for one model; those with another layout are transposed.
class FolderTensors {
 public:
  FolderTensors(const model::NamedTensors& tensors, const model::Model& model, const nlohmann::json& config)
      : tensors_(tensors),
        model_(model),
        family_(pretrained::family_in(config)),
        first_position_(family_.first_position == nullptr ? 0 : family_.first_position(config)),
        names_(family_, names_of(tensors), pretrained::has_parameter(model.head(), "output.weight")),
        head_(pretrained::pretrained_head_of(model.head())) {
    for (const memory::ParameterSlice& slice : model.parameters().slices())
      for (const pretrained::FamilyTensor& tensor : names_.tensors_of(slice.path, head_)) arrange(tensor);
  }
  FolderTensors(const FolderTensors&) = delete;
  FolderTensors& operator=(const FolderTensors&) = delete;

  const model::NamedTensors& tensors() const { return tensors_; }

  /// Returns the tensors whose rows fill a parameter; none for a factor of an adapter, which the folder
  /// lacks, and for a part of the head with another shape.
  std::vector<model::SourceRows> rows_of(const std::string& path) const {
    if (model_.parameters().find(path).factor) return {};
    const std::vector<pretrained::FamilyTensor> tensors = names_.tensors_of(path, head_);
    if (is_of_head(path) && !fits(path, tensors)) return {};
    std::vector<model::SourceRows> rows;
    const std::int64_t first = path.ends_with(pretrained::position_table) ? first_position_ : 0;
    for (const pretrained::FamilyTensor& tensor : tensors)
      rows.push_back({.name = tensor.name, .first = first});
    return rows;
  }

  void require_body(const model::Loaded& loaded) const {
    for (const std::string& path : loaded.missing)
      if (!is_of_head(path) && !model_.parameters().find(path).factor) refuse_missing(path);
    for (const std::string& name : loaded.left)
      if (family_.is_of_body(family_.first_spelling(name)))
        throw Error("it holds \"" + name + "\", which a model of this shape does not have");
  }

  std::string note(const model::Loaded& loaded) const {
    std::vector<std::string> left;
    for (const std::string& name : loaded.left)
      if (!family_.is_buffer(family_.first_spelling(name))) left.push_back(name);
    return pretrained_note("", tensors_.size() - loaded.left.size(), loaded.missing, left);
  }

 private:
  /// Gives a tensor the layout of its parameter.
  void arrange(const pretrained::FamilyTensor& tensor) {
    const auto found = tensors_.find(tensor.name);
    if (found == tensors_.end() || found->second.shape.size() != 2) return;
    record::Safetensors::Entry& entry = found->second;
    if (tensor.one_row && entry.shape[0] == 1) entry.shape.erase(entry.shape.begin());
    if (!tensor.transposed) return;
    turned_.push_back(transposed(entry.bytes, entry.shape[0], entry.shape[1]));
    entry.bytes = turned_.back();
    std::swap(entry.shape[0], entry.shape[1]);
  }

  /// Returns whether a tensor of the head has the shape that this model's head needs; a missing tensor does
  /// not.
  bool fits(const std::string& path, const std::vector<pretrained::FamilyTensor>& tensors) const {
    return std::ranges::all_of(
               tensors,
               [&](const pretrained::FamilyTensor& tensor) { return tensors_.contains(tensor.name); }) &&
           joined_shape(tensors_, tensors) == model_.parameters().find(path).spec.shape;
  }

  [[noreturn]] void refuse_missing(const std::string& path) const {
    const std::vector<pretrained::FamilyTensor> tensors = names_.tensors_of(path, head_);
    if (tensors.empty())
      throw Error(std::string("a ") + family_.name + " has no tensor for parameter \"" + path +
                  "\" of the model");
    const auto absent = std::ranges::find_if(
        tensors, [&](const pretrained::FamilyTensor& tensor) { return !tensors_.contains(tensor.name); });
    throw Error("it lacks \"" + absent->name + "\", which parameter \"" + path + "\" of the model needs");
  }

  model::NamedTensors tensors_;
  std::list<std::vector<std::byte>> turned_;  ///< the bytes of transposed ones
  const model::Model& model_;
  const pretrained::Family& family_;
  std::int64_t first_position_;
  pretrained::FolderNames names_;
  pretrained::PretrainedHead head_;
};

}  // namespace

std::vector<std::byte> transposed(std::span<const std::byte> matrix, std::int64_t rows,
                                  std::int64_t columns) {
  std::vector<std::byte> result(matrix.size());
  if (matrix.empty()) return result;
  const auto height = static_cast<std::size_t>(rows), width = static_cast<std::size_t>(columns);
  const std::size_t element = matrix.size() / (height * width);
  for (std::size_t r = 0; r < height; ++r)
    for (std::size_t c = 0; c < width; ++c)
      std::memcpy(&result[(c * height + r) * element], &matrix[(r * width + c) * element], element);
  return result;
}

bool is_of_head(const std::string& path) {
  return path.starts_with("head.");
}

std::string pretrained_note(const std::string& source, std::size_t taken,
                            const std::vector<std::string>& fresh, const std::vector<std::string>& left) {
  std::string text = std::string(record::pretrained_role) + (source.empty() ? "" : ", " + source) + ": " +
                     std::to_string(taken) + " tensors taken";
  if (!fresh.empty()) text += "; " + listed(fresh) + (fresh.size() == 1 ? " is new" : " are new");
  if (!left.empty()) text += "; left: " + listed(left);
  return text;
}

PretrainedWeights load_pretrained(model::Model& model, const std::filesystem::path& folder) {
  const nlohmann::json config = pretrained::read_json_object(folder / pretrained::config_file);
  const record::Safetensors file(folder / pretrained::tensors_file);
  return tasks::with_file(file.path(), [&] {
    const FolderTensors source(file.tensors(), model, config);
    const model::Loaded loaded = model::load(
        model.device(), model.parameters(), model.parameters().values(), source.tensors(),
        [&](const std::string& path) { return source.rows_of(path); }, model::SourceTypes::floats);
    source.require_body(loaded);
    model.parameters().values_changed();
    return PretrainedWeights{.fresh = loaded.missing, .note = source.note(loaded)};
  });
}

}  // namespace encore::infer
