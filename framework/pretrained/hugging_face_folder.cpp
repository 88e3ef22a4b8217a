// SPDX-License-Identifier: BSD-3-Clause
// open_hugging_face_folder(): finds the files of a folder, reads config.json and the header of
// model.safetensors, and derives architecture and classes. FolderFiller, `exp import` and the worker call it.
// Pickled files are refused, because loading them could run code. Read hugging_face_folder.hpp first.
#include "pretrained/hugging_face_folder.hpp"

#include <algorithm>
#include <cctype>

#include <nlohmann/json.hpp>

#include "base/input_file.hpp"
#include "base/json_text.hpp"
#include "base/limits.hpp"
#include "data/vocabulary.hpp"
#include "pretrained/tokenizer_files.hpp"
#include "record/safetensors.hpp"

namespace encore::pretrained {

namespace {

namespace fs = std::filesystem;

const char* const what_it_holds = "a Hugging Face folder holds config.json, model.safetensors and vocab.txt";

/// Returns whether it is a file of pickled Python objects.
bool is_pickle(const fs::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".bin" || extension == ".pt" || extension == ".pth" || extension == ".ckpt" ||
         extension == ".pkl";
}

void require_folder(const fs::path& folder) {
  std::error_code failure;
  const fs::file_status status = fs::status(folder, failure);
  if (status.type() == fs::file_type::not_found)
    throw Error(folder.string() + " does not exist; " + what_it_holds);
  if (status.type() != fs::file_type::directory)
    throw Error(folder.string() + " is not a folder; " + what_it_holds);
}

/// Returns the first file of the folder for which `is_meant` holds, or an empty path.
template <class Predicate>
std::string first_file(const fs::path& folder, Predicate is_meant) {
  std::vector<std::string> names;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure))
    if (is_meant(entry->path())) names.push_back(entry->path().filename().string());
  return names.empty() ? "" : std::ranges::min(names);
}

void require_tensors(const fs::path& folder) {
  if (is_there(folder / tensors_file)) return;
  const auto is_index = [](const fs::path& file) {
    return file.filename() == "model.safetensors.index.json";
  };
  if (!first_file(folder, is_index).empty())
    throw Error(
        folder.string() +
        " keeps its weights in several files (model.safetensors.index.json), which is not supported; save "
        "them "
        "as one, in Python: AutoModel.from_pretrained(DIR).save_pretrained(DIR, max_shard_size=\"100GB\")");
  if (const std::string pickle = first_file(folder, is_pickle); !pickle.empty())
    throw Error(
        (folder / pickle).string() +
        " is a pickle, which may run any code when it is read, and is never opened; save the weights as " +
        tensors_file + ", in Python: AutoModel.from_pretrained(DIR).save_pretrained(DIR)");
  throw Error(folder.string() + " has no " + tensors_file + "; " + what_it_holds);
}

void require_vocabulary(const fs::path& folder, const TokenizerFiles& files) {
  if (files.in(folder).empty())
    throw Error(folder.string() + " has " + files.missing + ", so its tokenizer is unknown; " +
                what_it_holds);
}

void require_config(const fs::path& folder) {
  require_folder(folder);
  if (!is_there(folder / config_file))
    throw Error(folder.string() + " has no " + config_file + "; " + what_it_holds);
}

void require_tokens(const HuggingFaceFolder& model) {
  const std::vector<std::string> lines = data::load_vocabulary(model.tokenizer.vocabulary);
  if (model.config.first_position > 0 && family_of(model.config).shape.counts_front_rows) {
    try {
      require_padding_token(lines, model.config.first_position - 1);
    } catch (const Error& error) {
      throw Error((model.path / config_file).string() + ": " + error.what());
    }
  }
  const auto tokens = static_cast<std::int64_t>(data::token_count(lines));
  if (tokens == model.config.tokens) return;
  throw Error(model.tokenizer.vocabulary.string() + " has " + std::to_string(tokens) + " tokens, but " +
              (model.path / config_file).string() +
              " says vocab_size = " + std::to_string(model.config.tokens) +
              (tokens < model.config.tokens ? "; where the rest is room for more, add lines such as [unused1]"
                                            : "; they belong to different models"));
}

/// Returns "ForMaskedLM" for "BertForMaskedLM" of the family "bert". For a class that classifies an input, a
/// problem that is not the default follows.
std::string architecture_in(const nlohmann::json& config, const std::string& family) {
  const auto list = config.find("architectures");
  if (list == config.end() || !list->is_array() || list->empty() || !list->front().is_string())
    return body_architecture;
  const std::string name = list->front();
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  const bool of_family =
      name.size() > family.size() && std::equal(family.begin(), family.end(), name.begin(),
                                                [&](char letter, char named) { return same(named, letter); });
  const std::string architecture = of_family ? name.substr(family.size()) : name;
  if (architecture != "ForSequenceClassification") return architecture;
  const auto problem = config.find("problem_type");
  const bool is_usual =
      problem == config.end() || !problem->is_string() || *problem == "single_label_classification";
  return architecture + (is_usual ? "" : "/" + problem->get<std::string>());
}

/// Returns whether a class is O, or a mark of IOB, BIOES or BILOU before a type.
bool is_entity_tag(const std::string& name) {
  constexpr std::string_view marks = "BIESLU";
  return name == "O" || (name.size() > 2 && name[1] == '-' && marks.find(name[0]) != std::string_view::npos);
}

/// Reads {"0": "O", "1": "B-PER"}. Throws Error if numbers are missing.
std::vector<std::string> classes_in(const nlohmann::json& config) {
  const auto labels = config.find("id2label");
  if (labels == config.end() || !labels->is_object()) return {};
  std::vector<std::string> classes;
  for (std::size_t i = 0; i < labels->size(); ++i) {
    const auto label = labels->find(std::to_string(i));
    if (label == labels->end() || !label->is_string())
      throw Error("id2label has no name for class " + std::to_string(i) + " of " +
                  std::to_string(labels->size()));
    classes.push_back(label->get<std::string>());
  }
  return classes;
}

}  // namespace

HuggingFaceFolder open_hugging_face_folder(const fs::path& folder) {
  require_config(folder);
  HuggingFaceFolder model;
  model.path = folder;
  const fs::path file = folder / config_file;
  const nlohmann::json config = read_json_object(file);
  try {
    model.config = pretrained_config_from_json(config);
    model.architecture = architecture_in(config, model.config.model_type);
    model.classes = classes_in(config);
    if (model.architecture == tagging_architecture && !std::ranges::all_of(model.classes, is_entity_tag))
      model.architecture += plain_labels;
  } catch (const Error& error) {
    throw Error(file.string() + ": " + error.what());
  }
  require_tensors(folder);
  const Family& family = family_of(model.config);
  const record::Safetensors tensors(folder / tensors_file);  // reads the header
  model.config.tied = model.config.scaled_states || !tensors.tensors().contains(family.output_matrix);
  const TokenizerFiles& files = *family.tokenizer;
  require_vocabulary(folder, files);
  model.tokenizer = files.read(folder);
  require_tokens(model);
  return model;
}

std::vector<std::string> files_of_hugging_face_folder(const fs::path& folder) {
  require_config(folder);
  require_tensors(folder);
  const nlohmann::json config = read_json_object(folder / config_file);
  const TokenizerFiles& files = *family_in(config).tokenizer;
  require_vocabulary(folder, files);
  std::vector<std::string> names = {config_file, tensors_file};
  for (std::string& name : files.in(folder)) names.push_back(std::move(name));
  if (is_there(folder / tokenizer_config_file)) names.emplace_back(tokenizer_config_file);
  std::ranges::sort(names);
  return names;
}

bool is_there(const fs::path& path) {
  std::error_code failure;
  return fs::exists(path, failure);
}

nlohmann::json read_json_object(const fs::path& file) {
  const std::string text = read_file(file, most_json_bytes);
  nlohmann::json json;
  try {
    require_few_json_values(text);
    json = parse_json(text);
  } catch (const Error& error) {
    throw Error(file.string() + ": " + error.what());
  }
  if (!json.is_object()) throw Error(file.string() + ": a JSON object is expected");
  return json;
}

}  // namespace encore::pretrained
