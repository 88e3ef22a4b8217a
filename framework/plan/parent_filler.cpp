#include "plan/parent_filler.hpp"

#include <utility>

#include "config/core_schema.hpp"
#include "config/input_file.hpp"
#include "config/json_value.hpp"
#include "config/toml.hpp"
#include "config/validate.hpp"
#include "pretrained/option_filler.hpp"

namespace encore {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const char* const usage = "write from = { run = \"NAME\" } or from = { experiment = \"FILE\" }";

/// A share of what is dropped changes no parameter; it is only what was used last.
bool may_differ(const std::string& option) {
  return option == "dropout" || option.ends_with("_dropout");
}

/// Fills one run's document from one parent.
class ParentFilling : private OptionFiller {
 public:
  ParentFilling(const Parent& parent, Value& root, Problems& problems)
      : OptionFiller(root, problems), parent_(parent), title_{Source::file, {parent.title, 0, 0}} {}

  void run() {
    model();
    tokenizer();
  }

 private:
  bool put(std::vector<std::string> path, const json& value, std::string reason, bool is_default) {
    const std::string key = dotted(path);
    ImpliedOption option{.path = std::move(path),
                         .value = value_from_json(value, key, {}),
                         .reason = std::move(reason),
                         .is_default = is_default};
    option.may_differ = may_differ(option.path.back());
    return OptionFiller::put(option, title_);
  }

  bool put(const std::vector<std::string>& path, const json& value) {
    const std::string key = dotted(path);
    const auto origin = parent_.origin.find(key);
    const bool is_default = origin == parent_.origin.end() || origin->second.source == Source::fallback;
    return put(path, value,
               key + " = " + (value.is_string() ? "\"" + value.get<std::string>() + "\"" : value.dump()),
               is_default);
  }

  void put_all(const std::vector<std::string>& path, const json& table) {
    for (const auto& [name, value] : table.items()) {
      std::vector<std::string> inner = path;
      inner.push_back(name);
      if (value.is_object())
        put_all(inner, value);
      else
        put(inner, value);
    }
  }

  /// Everything but the head, which is the run's own.
  void model() {
    json model = parent_.config.at("model");
    for (const char* own : {"head", "from"}) model.erase(own);
    if (const Value* decoder = root_.at({"model", "decoder"});
        decoder != nullptr && !model.contains("decoder"))
      refuse(*decoder, "model.decoder",
             "[model.decoder] cannot stand beside model.from: " + parent_.title + " has an encoder alone");
    // As many rows as the parent's sequences were long.
    if (model.value("positions", "") == "learned" && model.value("max_positions", 0) == 0) {
      const json& length = parent_.config.at("data").at("max_length");
      put({"model", "max_positions"}, length, "data.max_length = " + length.dump(), false);
      model.erase("max_positions");
    }
    put_all({"model"}, model);
  }

  void tokenizer() {
    const json& table = parent_.config.at("tokenizer");
    if (!put({"tokenizer", "type"}, table.at("type"))) return;  // whose options are its own
    for (const auto& [name, value] : table.items())
      if (name != "type" && name != "vocab") put({"tokenizer", name}, value);
    const fs::path vocabulary = !table.contains("vocab") || !parent_.vocabulary.empty()
                                    ? parent_.vocabulary
                                    : fs::path(table.at("vocab").get<std::string>());
    if (!table.contains("vocab"))
      refuse_own_vocabulary(vocabulary);
    else if (const Value* given = root_.at({"tokenizer", "vocab"}))
      compare_vocabulary(*given, vocabulary);
    else
      set({"tokenizer", "vocab"}, Value{vocabulary.filename().string(), {}},
          {Source::file, {vocabulary.string(), 0, 0}});
    if (const Value* given = root_.at({"tokenizer", "vocab_size"});
        given != nullptr && table.contains("vocab"))
      refuse(*given, "tokenizer.vocab_size",
             "tokenizer.vocab_size is for a vocabulary that is trained, but model.from brings that of " +
                 parent_.title + "; leave it out");
  }

  /// The parent's was trained, and is taken from its folder.
  void refuse_own_vocabulary(const fs::path& vocabulary) {
    if (const Value* given = root_.at({"tokenizer", "vocab"}))
      refuse(
          *given, "tokenizer.vocab",
          "tokenizer.vocab = " + to_text(*given) + ", but the pieces that model.from was trained with are " +
              (vocabulary.empty() ? "those that " + parent_.title + " trains" : "in " + vocabulary.string()) +
              "; leave it out");
  }

  /// Another file will do where it says the same.
  void compare_vocabulary(const Value& given, const fs::path& vocabulary) {
    if (!given.is_text()) return;
    try {
      const fs::path path = resolve_path(given.text(), given.origin, {});
      if (path == vocabulary || read_file(path) == read_file(vocabulary)) return;
      refuse(given, "tokenizer.vocab",
             "tokenizer.vocab names " + path.string() +
                 ", but the pieces that model.from was trained with are in " + vocabulary.string() +
                 "; leave it out");
    } catch (const Error& error) {
      refuse(given, "tokenizer.vocab", std::string("option \"tokenizer.vocab\": ") + error.what());
    }
  }

  const Parent& parent_;
  const Origin title_;
};

/// What the table says, where it says one thing; adds to `problems` otherwise.
bool is_sound(const Value& from, const Options& options, Problems& problems) {
  const auto refuse = [&](const std::string& message) {
    problems.add(from.origin.place, "model.from", "[model] from " + message);
    return false;
  };
  const bool run = options.has("run"), experiment = options.has("experiment");
  if (run && experiment)
    return refuse("names a run and an experiment; a run starts from one of them: " + std::string(usage));
  if (!run && !experiment) return refuse(std::string("names no run; ") + usage);
  if (run && options.has("name"))
    return refuse("has a name beside run; name chooses one of the runs of an experiment");
  for (const char* name : {"run", "experiment"})
    if (options.has(name) && options.text(name).empty())
      return refuse(std::string("has an empty ") + name + "; " + usage);
  return true;
}

}  // namespace

const Value* named_parent(const Value& root) {
  const Value* from = root.at({"model", "from"});
  return from != nullptr && from->is_table() ? from : nullptr;
}

const Parent* fill_from_parent(Value& root, ParentSource* source, Problems& problems) {
  const Value* from = named_parent(root);
  ENCORE_REQUIRE(from != nullptr, "an experiment that names a run to start from");
  Problems own;
  const Options options = validate(*from, parent_schema(), {"model.from", "[model] from"}, own).options;
  if (own.empty()) is_sound(*from, options, own);
  problems.add(own.all());
  if (!own.empty()) return nullptr;

  const Origin origin = from->origin;
  try {
    if (source == nullptr) throw Error("there is no database in which a run could be found");
    const Parent& parent =
        options.has("run")
            ? source->run(options.text("run"))
            : source->experiment(options.text("experiment"), options.has("name") ? options.text("name") : "");
    Value::Table link;
    const auto add = [&](const char* name, const std::string& text) {
      link.push_back({name, origin, Value{text, origin}});
    };
    if (options.has("run")) {
      add("run", parent.id);
    } else {
      add("experiment", options.text("experiment"));
      if (options.has("name")) add("name", options.text("name"));
      add("question", parent.question);
    }
    root.set({"model", "from"}, Value{std::move(link), origin}, origin);
    ParentFilling(parent, root, problems).run();
    return &parent;
  } catch (const ConfigErrors& errors) {
    problems.add(errors.problems());
  } catch (const Error& error) {
    problems.add(origin.place, "model.from", std::string("[model] from: ") + error.what());
  }
  return nullptr;
}

std::string identity_of(const Parent& parent) {
  return parent.weights ? "weights:" + parent.weights->sha256 : "question:" + parent.question;
}

}  // namespace encore
