// Which tensor goes where is bert_names.cpp's to say; here it is decided what may be missing or left.
#include "infer/pretrained_weights.hpp"

#include <algorithm>
#include <cstring>
#include <list>
#include <optional>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include <encore/error.hpp>

#include "model/load_parameters.hpp"
#include "pretrained/bert_config.hpp"
#include "pretrained/bert_names.hpp"
#include "pretrained/gpt2_names.hpp"
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

/// The tensors of a GPT-2 with its matrices as (out, in), which the file has as (in, out).
class TurnedTensors {
 public:
  TurnedTensors(const NamedTensors& source, const Model& model) : tensors_(source) {
    std::set<std::string> matrices;
    for (const ParameterSlice& slice : model.parameters().slices())
      if (const Gpt2Tensor tensor = gpt2_tensor_of(slice.path); tensor.transposed)
        matrices.insert(tensor.name);
    for (auto& [name, entry] : tensors_)
      if (matrices.contains(gpt2_spelling(name)) && entry.shape.size() == 2) turn(entry);
  }

  const NamedTensors& tensors() const { return tensors_; }

 private:
  void turn(Safetensors::Entry& entry) {
    bytes_.push_back(transposed(entry.bytes, entry.shape[0], entry.shape[1]));
    entry.bytes = bytes_.back();
    std::swap(entry.shape[0], entry.shape[1]);
  }

  NamedTensors tensors_;
  std::list<std::vector<std::byte>> bytes_;  ///< of those that are turned
};

/// What a folder's tensors are for one model.
class BertTensors {
 public:
  BertTensors(const NamedTensors& tensors, const Model& model, const nlohmann::json& config)
      : tensors_(tensors),
        model_(model),
        gpt2_(is_gpt2(config)),
        family_(is_roberta(config) ? BertFamily::roberta : BertFamily::bert),
        first_position_(first_position_in(config)),
        names_(names_of(tensors), family_),
        head_(bert_head_of(model.head())) {}

  std::vector<SourceRows> rows_of(const std::string& path) const {
    if (model_.parameters().find(path).factor) return {};
    const std::vector<std::string> names = names_of_parameter(path);
    if (is_of_head(path) && !fits(path, names)) return {};
    std::vector<SourceRows> rows;
    const std::int64_t first = path == position_table ? first_position_ : 0;
    for (const std::string& name : names) rows.push_back({.name = name, .first = first});
    return rows;
  }

  void require_body(const Loaded& loaded) const {
    for (const std::string& path : loaded.missing)
      if (!is_of_head(path) && !model_.parameters().find(path).factor) refuse_missing(path);
    for (const std::string& name : loaded.left)
      if (gpt2_ ? is_of_gpt2_body(gpt2_spelling(name)) : is_of_bert_body(bert_spelling(name, family_)))
        throw Error("it holds \"" + name + "\", which a model of this shape does not have");
  }

  std::string note(const Loaded& loaded) const {
    std::vector<std::string> left;
    for (const std::string& name : loaded.left)
      if (gpt2_ ? !is_gpt2_buffer(gpt2_spelling(name)) : !is_bert_buffer(bert_spelling(name, family_)))
        left.push_back(name);
    return pretrained_note("", tensors_.size() - loaded.left.size(), loaded.missing, left);
  }

 private:
  /// As the file spells them.
  std::vector<std::string> names_of_parameter(const std::string& path) const {
    if (!gpt2_) return names_.tensors_of(path, head_);
    std::string name = gpt2_tensor_of(path).name;
    if (name.empty()) return {};
    for (const auto& [there, entry] : tensors_)
      if (gpt2_spelling(there) == name) return {there};
    return {std::move(name)};
  }

  /// Whether a tensor of the head has the shape that this model's head wants; one that is not there has none.
  bool fits(const std::string& path, const std::vector<std::string>& names) const {
    return std::ranges::all_of(names, [&](const std::string& name) { return tensors_.contains(name); }) &&
           joined_shape(tensors_, names) == model_.parameters().find(path).spec.shape;
  }

  [[noreturn]] void refuse_missing(const std::string& path) const {
    const std::vector<std::string> names = names_of_parameter(path);
    if (names.empty())
      throw Error(std::string("a ") + (gpt2_ ? "GPT-2" : "BERT") + " has nothing that parameter \"" + path +
                  "\" of the model could be taken from");
    const auto absent =
        std::ranges::find_if(names, [&](const std::string& name) { return !tensors_.contains(name); });
    throw Error("it lacks \"" + *absent + "\", of which parameter \"" + path + "\" of the model is made");
  }

  const NamedTensors& tensors_;
  const Model& model_;
  bool gpt2_;
  BertFamily family_;
  std::int64_t first_position_;
  BertNames names_;
  BertHead head_;
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
  std::string text = std::string(pretrained_role) + (source.empty() ? "" : ", " + source) + ": " +
                     std::to_string(taken) + " tensors taken";
  if (!fresh.empty()) text += "; " + listed(fresh) + (fresh.size() == 1 ? " is new" : " are new");
  if (!left.empty()) text += "; left: " + listed(left);
  return text;
}

PretrainedWeights load_pretrained(Model& model, const std::filesystem::path& folder) {
  const nlohmann::json config = read_json_object(folder / config_file);
  const Safetensors file(folder / tensors_file);
  return with_file(file.path(), [&] {
    std::optional<TurnedTensors> turned;
    if (is_gpt2(config)) turned.emplace(file.tensors(), model);
    const NamedTensors& tensors = turned ? turned->tensors() : file.tensors();
    const BertTensors source(tensors, model, config);
    const Loaded loaded = load(
        model.device(), model.parameters(), model.parameters().values(), tensors,
        [&](const std::string& path) { return source.rows_of(path); }, SourceTypes::floats);
    source.require_body(loaded);
    model.parameters().values_changed();
    return PretrainedWeights{.fresh = loaded.missing, .note = source.note(loaded)};
  });
}

}  // namespace encore
