#include "pretrained/folder_filler.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "config/input_file.hpp"
#include "config/validate.hpp"

namespace encore {

namespace {

namespace fs = std::filesystem;

std::optional<double> as_number(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value.data)) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(&value.data)) return *number;
  return std::nullopt;
}

/// 1 and 1.0 are one number, as for the schemas.
bool is_same(const Value& a, const Value& b) {
  const auto x = as_number(a), y = as_number(b);
  if (x && y) return *x == *y;
  if (a.is_array() && b.is_array()) return std::ranges::equal(a.array(), b.array(), is_same);
  if (a.data.index() != b.data.index()) return false;
  if (a.is_text()) return a.text() == b.text();
  const auto *left = std::get_if<bool>(&a.data), *right = std::get_if<bool>(&b.data);
  return left != nullptr && right != nullptr && *left == *right;
}

std::string dotted(const std::vector<std::string>& path) {
  std::string text;
  for (const std::string& part : path) text += (text.empty() ? "" : ".") + part;
  return text;
}

/// As it is written in an experiment file.
std::string written(const Value& value) {
  if (value.is_text()) return "\"" + shortened(value.text()) + "\"";
  if (!value.is_array()) return shortened(to_text(value));
  std::string text;
  for (const Value& element : value.array()) text += (text.empty() ? "" : ", ") + written(element);
  return "[" + text + "]";
}

void set_origin(Value& value, const Origin& origin) {
  value.origin = origin;
  if (auto* elements = std::get_if<Value::Array>(&value.data))
    for (Value& element : *elements) set_origin(element, origin);
}

/// Fills one run's document from one folder.
class Filling {
 public:
  Filling(const HuggingFaceFolder& folder, Value& root, Problems& problems)
      : folder_(folder), root_(root), problems_(problems) {}

  void run() {
    const fs::path config = folder_.path / config_file;
    if (const Value* decoder = root_.at({"model", "decoder"}))
      refuse(*decoder, "model.decoder",
             "[model.decoder] cannot stand beside model.from: " + config.string() +
                 " describes an encoder alone");
    for (const ImpliedOption& option : implied_options(folder_.config)) put(option, config);
    tokenizer(config);
  }

 private:
  void refuse(const Value& at, const std::string& key, const std::string& message) {
    problems_.add(at.origin.place, key, message);
  }

  /// False where the experiment says something else.
  bool put(const ImpliedOption& option, const fs::path& file) {
    const Value* given = root_.at(option.path);
    if (given == nullptr) {
      if (!option.is_default) set(option.path, option.value, from(file));
      return true;
    }
    if (option.may_differ || is_same(*given, option.value)) return true;
    const std::string key = dotted(option.path), means = " = " + written(option.value);
    const bool says_so = option.reason.ends_with(means);
    refuse(*given, key,
           key + " = " + written(*given) + ", but " + file.string() + " says " + option.reason +
               (says_so ? "" : ", which means " + key + means) + "; leave it out");
    // As if it were left out, so that nothing that follows from it is said too; a type stays beside its
    // options.
    if (option.path.back() != "type") set(option.path, option.value, given->origin);
    return false;
  }

  static Origin from(const fs::path& file) { return {Source::file, {file.string(), 0, 0}}; }

  void set(const std::vector<std::string>& path, Value value, const Origin& of_value) {
    const Origin origin = of_value;  // which may be that of what is replaced
    set_origin(value, origin);
    root_.set(path, std::move(value), origin);
  }

  void tokenizer(const fs::path& config) {
    const BertTokenizer& tokenizer = folder_.tokenizer;
    const std::string type = "model_type = \"" + folder_.config.model_type + "\"";
    const bool is_other =
        !put({.path = {"tokenizer", "type"}, .value = Value{std::string(bert_tokenizer), {}}, .reason = type},
             config);
    if (is_other) return;  // whose options are its own
    put({.path = {"tokenizer", "lowercase"},
         .value = Value{tokenizer.lowercase, {}},
         .reason = tokenizer.lowercase_reason},
        tokenizer.lowercase_file);
    for (const char* option : {"vocab_size", "min_frequency"})
      if (const Value* given = root_.at({"tokenizer", option}))
        refuse(*given, std::string("tokenizer.") + option,
               "tokenizer." + std::string(option) +
                   " is for a vocabulary that is trained, but model.from brings " +
                   tokenizer.vocabulary.string() + "; leave it out");
    if (const Value* given = root_.at({"tokenizer", "vocab"}))
      compare_vocabulary(*given);
    else
      set({"tokenizer", "vocab"}, Value{tokenizer.vocabulary.filename().string(), {}},
          from(tokenizer.vocabulary));
  }

  /// Another file will do where it says the same.
  void compare_vocabulary(const Value& given) {
    if (!given.is_text()) return;
    try {
      const fs::path path = resolve_path(given.text(), given.origin, {});
      if (path == folder_.tokenizer.vocabulary) return;
      if (read_file(path) == read_file(folder_.tokenizer.vocabulary)) return;
      refuse(given, "tokenizer.vocab",
             "tokenizer.vocab names " + path.string() +
                 ", but the pieces that model.from was trained with are in " +
                 folder_.tokenizer.vocabulary.string() + "; leave it out");
    } catch (const Error& error) {
      refuse(given, "tokenizer.vocab", std::string("option \"tokenizer.vocab\": ") + error.what());
    }
  }

  const HuggingFaceFolder& folder_;
  Value& root_;
  Problems& problems_;
};

}  // namespace

const Value* named_folder(const Value& root) {
  const Value* from = root.at({"model", "from"});
  return from != nullptr && from->is_text() ? from : nullptr;
}

bool FolderFiller::fill(Value& root, Problems& problems) {
  const Value* from = named_folder(root);
  if (from == nullptr) return true;
  try {
    const std::string path = resolve_path(from->text(), from->origin, {});
    if (path.empty()) throw Error("must be the path of a folder, found an empty one");
    const HuggingFaceFolder& folder = open(path);
    Filling(folder, root, problems).run();
    return true;
  } catch (const Error& error) {
    problems.add(from->origin.place, "model.from",
                 std::string("option \"from\" of [model]: ") + error.what());
    return false;
  }
}

const HuggingFaceFolder& FolderFiller::open(const std::string& path) {
  const auto known = folders_.find(path);
  if (known != folders_.end()) return known->second;
  return folders_.emplace(path, open_hugging_face_folder(path)).first->second;
}

}  // namespace encore
