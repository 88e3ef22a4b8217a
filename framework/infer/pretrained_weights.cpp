// Which tensor goes where is bert_names.cpp's to say; here it is decided what may be missing or left.
#include "infer/pretrained_weights.hpp"

#include <algorithm>

#include <encore/error.hpp>

#include "model/load_parameters.hpp"
#include "pretrained/bert_names.hpp"
#include "pretrained/hugging_face_folder.hpp"
#include "tasks/task_sets.hpp"

namespace encore {
namespace {

constexpr std::size_t most_listed = 6;

std::vector<std::string> names_of(const NamedTensors& source) {
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

/// The shapes of tensors that are one below the other, as one.
std::vector<std::int64_t> joined_shape(const NamedTensors& source, const std::vector<std::string>& tensors) {
  std::vector<std::int64_t> joined;
  for (const std::string& name : tensors) {
    const std::vector<std::int64_t>& shape = source.at(name).shape;
    if (joined.empty())
      joined = shape;
    else if (!shape.empty())
      joined.front() += shape.front();
  }
  return joined;
}

/// What a folder's tensors are for one model.
class BertTensors {
 public:
  BertTensors(const NamedTensors& tensors, const Model& model)
      : tensors_(tensors), model_(model), names_(names_of(tensors)), head_(bert_head_of(model.head())) {}

  std::vector<SourceRows> rows_of(const std::string& path) const {
    if (model_.parameters().find(path).factor) return {};
    const std::vector<std::string> names = names_.tensors_of(path, head_);
    if (is_of_head(path) && !fits(path, names)) return {};
    std::vector<SourceRows> rows;
    for (const std::string& name : names) rows.push_back({.name = name});
    return rows;
  }

  void require_body(const Loaded& loaded) const {
    for (const std::string& path : loaded.missing)
      if (!is_of_head(path) && !model_.parameters().find(path).factor) refuse_missing(path);
    for (const std::string& name : loaded.left)
      if (is_of_bert_body(bert_spelling(name)))
        throw Error("it holds \"" + name + "\", which a model of this shape does not have");
  }

  std::string note(const Loaded& loaded) const {
    std::vector<std::string> left;
    for (const std::string& name : loaded.left)
      if (!is_bert_buffer(bert_spelling(name))) left.push_back(name);
    return pretrained_note("", tensors_.size() - loaded.left.size(), loaded.missing, left);
  }

 private:
  /// Whether a tensor of the head has the shape that this model's head wants; one that is not there has none.
  bool fits(const std::string& path, const std::vector<std::string>& names) const {
    return std::ranges::all_of(names, [&](const std::string& name) { return tensors_.contains(name); }) &&
           joined_shape(tensors_, names) == model_.parameters().find(path).spec.shape;
  }

  [[noreturn]] void refuse_missing(const std::string& path) const {
    const std::vector<std::string> names = names_.tensors_of(path, head_);
    if (names.empty())
      throw Error("a BERT has nothing that parameter \"" + path + "\" of the model could be taken from");
    const auto absent =
        std::ranges::find_if(names, [&](const std::string& name) { return !tensors_.contains(name); });
    throw Error("it lacks \"" + *absent + "\", of which parameter \"" + path + "\" of the model is made");
  }

  const NamedTensors& tensors_;
  const Model& model_;
  BertNames names_;
  BertHead head_;
};

}  // namespace

bool is_of_head(const std::string& path) {
  return path.starts_with("head.");
}

std::string pretrained_note(const std::string& source, std::size_t taken,
                            const std::vector<std::string>& fresh, const std::vector<std::string>& left) {
  std::string text = std::string(pretrained_role) + (source.empty() ? "" : ", " + source) + ": " +
                     std::to_string(taken) + " tensors taken";
  if (!fresh.empty()) text += "; " + listed(fresh) + (fresh.size() == 1 ? " is new" : " are new");
  if (!left.empty()) text += "; left: " + listed(left);
  return text;
}

PretrainedWeights load_pretrained(Model& model, const std::filesystem::path& folder) {
  const Safetensors file(folder / tensors_file);
  return with_file(file.path(), [&] {
    const BertTensors source(file.tensors(), model);
    const Loaded loaded = load(
        model.device(), model.parameters(), model.parameters().values(), file.tensors(),
        [&](const std::string& path) { return source.rows_of(path); }, SourceTypes::floats);
    source.require_body(loaded);
    model.parameters().values_changed();
    return PretrainedWeights{.fresh = loaded.missing, .note = source.note(loaded)};
  });
}

}  // namespace encore
