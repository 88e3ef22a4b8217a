// SPDX-License-Identifier: BSD-3-Clause
// Completes the document of one run from its parent (model.from), checks its teacher (distil.teacher), and
// compares what the documents say. PointMaker calls it for each point. A new option of a model needs a line
// here only if a run may differ from its parent in it. Read parent_filler.hpp first.
#include "plan/parent_filler.hpp"

#include <utility>

#include "base/input_file.hpp"
#include "base/readable_text.hpp"
#include "config/core_schema.hpp"
#include "config/origin.hpp"
#include "config/toml.hpp"
#include "config/validate.hpp"
#include "config/value.hpp"
#include "pretrained/option_filler.hpp"

namespace encore::plan {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Describes a table of an experiment that names another run.
struct LinkTable {
  std::vector<std::string> path;  ///< {"model", "from"}
  std::string key, title;         ///< "model.from", "[model] from"
  std::string use;                ///< what is done with the other run: "starts from"
  const Schema& (*schema)();
  std::string who = "a run";  ///< the one that does it, for messages

  /// The ways to name the other run, of which a table has one.
  std::vector<std::string> ways() const {
    std::vector<std::string> names = {"run", "experiment"};
    if (schema().find("folder") != nullptr) names.push_back("folder");
    return names;
  }
  std::string usage() const {
    const std::string& name = path.back();
    return "write " + name + " = { run = \"NAME\" } or " + name + " = { experiment = \"FILE\" }";
  }
};
const LinkTable parent_table = {
    {"model", "from"}, "model.from", "[model] from", "starts from", config::parent_schema};
const LinkTable teacher_table = {
    {"distil", "teacher"}, "distil.teacher", "[distil] teacher", "learns from", config::teacher_schema};

/// A dropout share changes no parameter, so a run may use another one than its parent.
bool may_differ(const std::string& option) {
  return option == "dropout" || option.ends_with("_dropout");
}

/// Fills the document of one run from one parent.
class ParentFilling : private pretrained::OptionFiller {
 public:
  ParentFilling(const Parent& parent, config::Value& root, config::Problems& problems)
      : pretrained::OptionFiller(root, problems),
        parent_(parent),
        title_{config::Source::file, {parent.title, 0, 0}} {}

  void run() {
    model();
    tokenizer();
  }

 private:
  bool put(std::vector<std::string> path, const json& value, std::string reason, bool is_default) {
    const std::string key = config::dotted(path);
    pretrained::ImpliedOption option{.path = std::move(path),
                                     .value = config::value_from_json(value, key, {}),
                                     .reason = std::move(reason),
                                     .is_default = is_default};
    option.may_differ = may_differ(option.path.back());
    return pretrained::OptionFiller::put(option, title_);
  }

  bool put(const std::vector<std::string>& path, const json& value) {
    const std::string key = config::dotted(path);
    const auto origin = parent_.origin.find(key);
    const bool is_default =
        origin == parent_.origin.end() || origin->second.source == config::Source::fallback;
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

  /// Takes over the model's options except those of the head, which is the run's own.
  void model() {
    json model = parent_.config.at("model");
    for (const char* own : {"head", "from"}) model.erase(own);
    if (const config::Value* decoder = root_.at({"model", "decoder"});
        decoder != nullptr && !model.contains("decoder"))
      refuse(*decoder, "model.decoder",
             "[model.decoder] cannot stand beside model.from: " + parent_.title + " has an encoder alone");
    // The table has one row for each position of the parent's sequences.
    if (model.value("positions", "") == "learned" && model.value("max_positions", 0) == 0) {
      const json& length = parent_.config.at("data").at("max_length");
      put({"model", "max_positions"}, length, "data.max_length = " + length.dump(), false);
      model.erase("max_positions");
    }
    put_all({"model"}, model);
  }

  void tokenizer() {
    const json& table = parent_.config.at("tokenizer");
    if (!put({"tokenizer", "type"}, table.at("type"))) return;  // the options of the tokenizer are its own
    target_tokenizer(table);
    for (const auto& [name, value] : table.items())
      if (name != "type" && name != "vocab" && name != "target") put({"tokenizer", name}, value);
    const fs::path vocabulary = !table.contains("vocab") || !parent_.vocabulary.empty()
                                    ? parent_.vocabulary
                                    : fs::path(table.at("vocab").get<std::string>());
    if (!table.contains("vocab"))
      refuse_own_vocabulary(vocabulary);
    else if (const config::Value* given = root_.at({"tokenizer", "vocab"}))
      compare_vocabulary(*given, vocabulary);
    else
      set({"tokenizer", "vocab"}, config::Value{vocabulary.filename().string(), {}},
          {config::Source::file, {vocabulary.string(), 0, 0}});
    if (const config::Value* given = root_.at({"tokenizer", "vocab_size"});
        given != nullptr && table.contains("vocab"))
      refuse(*given, "tokenizer.vocab_size",
             "tokenizer.vocab_size is for a vocabulary that is trained, but model.from brings that of " +
                 parent_.title + "; leave it out");
  }

  /// Both vocabularies of the parent are in the file from which the run takes its tokens.
  void target_tokenizer(const json& table) {
    const auto target = table.find("target");
    const config::Value* given = root_.at({"tokenizer", "target"});
    if (target != table.end())
      put_all({"tokenizer", "target"}, *target);
    else if (given != nullptr)
      refuse(*given, config::target_tokenizer_key,
             std::string("[") + config::target_tokenizer_key + "] cannot stand beside model.from: " +
                 parent_.title + " has one vocabulary for sources and targets; leave the table out");
  }

  /// The parent's vocabulary was trained and is taken from its folder, so the run cannot name another one.
  void refuse_own_vocabulary(const fs::path& vocabulary) {
    if (const config::Value* given = root_.at({"tokenizer", "vocab"}))
      refuse(
          *given, "tokenizer.vocab",
          "tokenizer.vocab = " + config::to_text(*given) +
              ", but the tokens that model.from was trained with are " +
              (vocabulary.empty() ? "those that " + parent_.title + " trains" : "in " + vocabulary.string()) +
              "; leave it out");
  }

  /// Accepts another file if its content is equal.
  void compare_vocabulary(const config::Value& given, const fs::path& vocabulary) {
    if (!given.is_text()) return;
    try {
      const fs::path path = config::resolve_path(given.text(), given.origin, {});
      if (path == vocabulary || read_file(path) == read_file(vocabulary)) return;
      refuse(given, "tokenizer.vocab",
             "tokenizer.vocab names " + path.string() +
                 ", but the tokens that model.from was trained with are in " + vocabulary.string() +
                 "; leave it out");
    } catch (const Error& error) {
      refuse(given, "tokenizer.vocab", std::string("option \"tokenizer.vocab\": ") + error.what());
    }
  }

  const Parent& parent_;
  const config::Origin title_;
};

/// Returns whether the table names exactly one run. Adds to `problems` otherwise.
bool is_sound(const config::Value& from, const Options& options, const LinkTable& table,
              config::Problems& problems) {
  const auto refuse = [&](const std::string& message) {
    problems.add(from.origin.place, table.key, table.title + " " + message);
    return false;
  };
  std::vector<std::string> ways = table.ways();
  std::erase_if(ways, [&](const std::string& way) { return !options.has(way); });
  if (ways.size() > 1) {
    for (std::string& way : ways) way.insert(0, way == "experiment" ? "an " : "a ");
    return refuse("names " + listed(ways) + "; " + table.who + " " + table.use +
                  " one of them: " + table.usage());
  }
  if (ways.empty()) return refuse("names no run; " + table.usage());
  if (ways.front() != "experiment" && options.has("name"))
    return refuse("has a name beside " + ways.front() + "; name chooses one of the runs of an experiment");
  if (options.text(ways.front()).empty())
    return refuse("has an empty " + ways.front() + "; " + table.usage());
  return true;
}

/// Finds the run that the table names, and writes the table as the resolved schema has it. Returns null if
/// there is no such run, and adds the reason to `problems`.
const Parent* link(config::Value& root, const LinkTable& table, ParentSource* source,
                   config::Problems& problems) {
  const config::Value* from = root.at(table.path);
  ENCORE_REQUIRE(from != nullptr, "an experiment that names another run");
  config::Problems own;
  const Options options = config::validate(*from, table.schema(), {table.key, table.title}, own).options;
  if (own.empty()) is_sound(*from, options, table, own);
  problems.add(own.all());
  if (!own.empty()) return nullptr;

  const config::Origin origin = from->origin;
  try {
    if (source == nullptr) throw Error("there is no database in which a run could be found");
    const Parent& parent =
        options.has("run") ? source->run(options.text("run"))
        : options.has("folder")
            ? source->imported(options.text("folder"))
            : source->experiment(options.text("experiment"), options.has("name") ? options.text("name") : "");
    config::Value::Table link;
    const auto add = [&](const char* name, const std::string& text) {
      link.push_back({name, origin, config::Value{text, origin}});
    };
    if (options.has("run")) {
      add("run", parent.id);
    } else {
      add("experiment", options.text(options.has("folder") ? "folder" : "experiment"));
      if (options.has("name")) add("name", options.text("name"));
      add("question", parent.question);
    }
    root.set(table.path, config::Value{std::move(link), origin}, origin);
    return &parent;
  } catch (const config::ConfigErrors& errors) {
    problems.add(errors.problems());
  } catch (const Error& error) {
    problems.add(origin.place, table.key, table.title + ": " + error.what());
  }
  return nullptr;
}

const config::Value* named(const config::Value& root, const LinkTable& table) {
  const config::Value* from = root.at(table.path);
  return from != nullptr && from->is_table() ? from : nullptr;
}

}  // namespace

const config::Value* named_parent(const config::Value& root) {
  return named(root, parent_table);
}

const config::Value* named_teacher(const config::Value& root) {
  return named(root, teacher_table);
}

const Parent* fill_from_parent(config::Value& root, ParentSource* source, config::Problems& problems) {
  const Parent* parent = link(root, parent_table, source, problems);
  if (parent != nullptr) ParentFilling(*parent, root, problems).run();
  return parent;
}

const Parent* link_teacher(config::Value& root, ParentSource* source, config::Problems& problems) {
  return link(root, teacher_table, source, problems);
}

std::map<std::string, const Parent*> link_step_models(config::Value& root, ParentSource* source,
                                                      config::Problems& problems) {
  std::vector<std::string> names;
  if (const config::Value* steps = root.at({"app", "step"}); steps != nullptr && steps->is_table())
    for (const config::Value::Member& step : steps->table()) names.push_back(step.key);
  std::map<std::string, const Parent*> models;
  for (const std::string& name : names) {
    const LinkTable table = {{"app", "step", name, "model"},  config::step_model_key(name),
                             "[app.step." + name + "] model", "asks",
                             config::step_model_schema,       "a step"};
    const config::Value* link_table = named(root, table);
    if (link_table == nullptr) continue;
    const config::Place place = link_table->origin.place;
    const Parent* model = link(root, table, source, problems);
    if (model != nullptr && model->config.contains("app")) {
      problems.add(place, table.key,
                   table.title + ": " + model->title + " is an application; a step asks a trained model");
      model = nullptr;
    }
    models[table.key] = model;
  }
  return models;
}

void require_same_texts(const json& config, const config::Origins& origins, const Parent& teacher,
                        config::Problems& problems) {
  const auto refuse = [&](const std::string& key, const std::string& message) {
    problems.add(config::place_of(origins, key), key,
                 message + "; " + teacher.title + " cannot teach this model");
  };
  const json &own = config.at("tokenizer"), &its = teacher.config.at("tokenizer");
  if (own.at("type") != its.at("type"))
    return refuse("tokenizer.type", "tokenizer.type = " + own.at("type").dump() + ", and the teacher has " +
                                        its.at("type").dump());
  for (const auto& [name, value] : its.items())
    if (!name.starts_with("vocab") && own.contains(name) && own.at(name) != value)
      refuse("tokenizer." + name,
             "tokenizer." + name + " = " + own.at(name).dump() + ", and the teacher has " + value.dump());
  const json &length = config.at("data").at("max_length"),
             &longest = teacher.config.at("data").at("max_length");
  if (length.is_number_integer() && longest.is_number_integer() && length > longest)
    refuse("data.max_length", "data.max_length = " + length.dump() +
                                  ", and the teacher reads sequences of up to " + longest.dump() + " tokens");
}

std::string identity_of(const Parent& parent) {
  return parent.weights ? "weights:" + parent.weights->sha256 : "question:" + parent.question;
}

}  // namespace encore::plan
