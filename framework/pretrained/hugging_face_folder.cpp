#include "pretrained/hugging_face_folder.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "config/input_file.hpp"
#include "config/json_text.hpp"
#include "config/limits.hpp"
#include "data/vocabulary.hpp"
#include "record/safetensors.hpp"

namespace encore {

namespace {

namespace fs = std::filesystem;

const char* const what_it_holds = "a Hugging Face folder holds config.json, model.safetensors and vocab.txt";

/// Files in which Python objects are pickled.
bool is_pickle(const fs::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".bin" || extension == ".pt" || extension == ".pth" || extension == ".ckpt" ||
         extension == ".pkl";
}

void require_folder(const fs::path& folder) {
  std::error_code failure;
  const fs::file_status status = fs::status(folder, failure);
  if (status.type() == fs::file_type::not_found)
    throw Error(folder.string() + " is not there; " + what_it_holds);
  if (status.type() != fs::file_type::directory)
    throw Error(folder.string() + " is no folder; " + what_it_holds);
}

/// The first file of the folder for which `is_meant` holds, empty where there is none.
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

void require_vocabulary(const fs::path& folder) {
  if (is_there(folder / pieces_file) || is_there(folder / tokenizer_file)) return;
  throw Error(folder.string() + " has neither " + pieces_file + " nor " + tokenizer_file +
              ", so its tokenizer is not known; " + what_it_holds);
}

void require_config(const fs::path& folder) {
  require_folder(folder);
  if (!is_there(folder / config_file))
    throw Error(folder.string() + " has no " + config_file + "; " + what_it_holds);
}

void require_pieces(const HuggingFaceFolder& model) {
  const auto pieces = static_cast<std::int64_t>(load_vocabulary(model.tokenizer.vocabulary).size());
  if (pieces == model.config.pieces) return;
  throw Error(model.tokenizer.vocabulary.string() + " has " + std::to_string(pieces) + " pieces, but " +
              (model.path / config_file).string() +
              " says vocab_size = " + std::to_string(model.config.pieces) +
              (pieces < model.config.pieces ? "; where the rest is room for more, add lines such as [unused1]"
                                            : "; they belong to different models"));
}

}  // namespace

HuggingFaceFolder open_hugging_face_folder(const fs::path& folder) {
  require_config(folder);
  HuggingFaceFolder model;
  model.path = folder;
  const fs::path file = folder / config_file;
  const nlohmann::json config = read_json_object(file);
  try {
    model.config = bert_config_from_json(config);
  } catch (const Error& error) {
    throw Error(file.string() + ": " + error.what());
  }
  require_tensors(folder);
  const Safetensors tensors(folder / tensors_file);  // its header
  require_vocabulary(folder);
  model.tokenizer = read_bert_tokenizer(folder);
  require_pieces(model);
  return model;
}

std::vector<std::string> files_of_hugging_face_folder(const fs::path& folder) {
  require_config(folder);
  require_tensors(folder);
  require_vocabulary(folder);
  std::vector<std::string> names = {config_file, tensors_file};
  names.emplace_back(is_there(folder / pieces_file) ? pieces_file : tokenizer_file);
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
    json = parse_json(text);
  } catch (const JsonError& error) {
    throw Error(file.string() + ": " + error.what());
  }
  if (!json.is_object()) throw Error(file.string() + ": a JSON object is expected");
  return json;
}

}  // namespace encore
