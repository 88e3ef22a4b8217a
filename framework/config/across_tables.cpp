// SPDX-License-Identifier: BSD-3-Clause
// Checks pairs of options in different tables of an experiment, one function for each pair that must agree.
// resolve.cpp calls check_across_tables() last. A new rule is a function that check() calls; its message
// names the option to change and says why. Read resolve.hpp first.
#include "config/resolve.hpp"

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "config/core_schema.hpp"
#include "config/selection.hpp"

namespace encore::config {

namespace {

/// Shares are written with a few digits: [0.3333, 0.3333, 0.3333]. The last set has what is left.
constexpr double split_tolerance = 1e-3;

class AcrossTables {
 public:
  AcrossTables(const Value& root, const Catalogue& catalogue, Resolved& resolved, Problems& problems)
      : root_(root), catalogue_(catalogue), resolved_(resolved), problems_(problems) {}

  void check() {
    if (resolved_.tables.contains("app")) return check_application();
    check_fields();
    check_sets();
    select();
    final_norm();
    check_length();
    check_numbers();
    loss_scale();
    check_untrained();
    check_distil();
    check_target_tokenizer();
  }

 private:
  // Checks the sets of an application, and by which measure it may be compared.
  void check_application() {
    check_sets();
    if (const auto data = resolved_.tables.find("data"); data != resolved_.tables.end()) {
      const Options& options = data->second.options;
      if (options.has("more") && !options.paths("more").empty() && !options.has("held_out"))
        refuse("data.more",
               "option \"more\" of [data] names examples from which the models of the application learn, "
               "except for the share \"held_out\", on which its steps are fitted; add held_out, the same "
               "share as in the files of the models");
      if (options.has("split") && !options.has("train"))
        refuse("data.split",
               "option \"split\" of [data] divides the examples of \"train\", and there is no "
               "\"train\"; name its files, or give the sets files of their own");
    }
    select_of_application();
  }

  // Sets app.select to the default of the last step that has one, or checks what the file says.
  void select_of_application() {
    ResolvedTable& app = resolved_.tables.at("app");
    if (!app.options.has("steps")) return;
    std::string fallback;
    std::vector<Measure> measures;
    for (const std::string& name : app.options.text_list("steps")) {
      const ManifestOffer* step = offer_of("app.step." + name);
      if (step == nullptr) continue;
      for (Measure measure : step->measures) {
        measure.name = name + "." + measure.name;
        measures.push_back(std::move(measure));
      }
      if (const std::size_t slash = step->select.find('/'); slash != std::string::npos)
        fallback = step->select.substr(0, slash + 1) + name + "." + step->select.substr(slash + 1);
    }
    if (!fallback.empty()) fall_back("app", app, "select", fallback);
    if (root_.at({"app", "select"}) != nullptr && app.options.has("select"))
      if (const auto problem = selection_problem(app.options.text("select"), measures, "this application"))
        refuse("app.select", "option \"select\" of [app] " + *problem);
  }

  /// Returns the type of a plugin's table. Returns null if the table is missing or its type is unknown.
  const ManifestOffer* offer_of(const std::string& key) const {
    const auto table = resolved_.tables.find(key);
    return table == resolved_.tables.end() ? nullptr : table->second.offer;
  }

  // Checks that the reader gives every field of a record that the task reads. A run that reads no data (`exp
  // import`) sets no options of the reader.
  void check_fields() {
    const ManifestOffer *task = offer_of("task"), *reader = offer_of("data");
    if (task == nullptr || reader == nullptr) return;
    const std::vector<std::string> under_any_options = missing_fields(*task, *reader);
    const std::vector<std::string> missing =
        trains_nothing() ? under_any_options
                         : missing_fields(*task, *reader, resolved_.tables.at("data").options);
    if (missing.empty()) return;
    std::vector<std::string> fitting;
    for (const std::string& name : catalogue_.names(Kind::reader))
      if (name != reader->name && missing_fields(*task, catalogue_.get(Kind::reader, name)).empty())
        fitting.push_back(name);
    std::string others;
    if (!fitting.empty())
      others = "; readers that give all of them: " + quoted_list(fitting);
    else if (!under_any_options.empty())
      others = "; no available reader gives all of them";
    refuse("data.type", title_of(reader->kind, reader->name) + " does not give the field" +
                            (missing.size() == 1 ? " " : "s ") + quoted_list(missing) + " that " +
                            title_of(task->kind, task->name) + " needs; it gives " +
                            quoted_list(reader->gives) + options_that_add(missing, *reader) + others);
  }

  /// Returns "; data.label_comment adds "text", "label"" for the missing fields that options of the reader
  /// add.
  static std::string options_that_add(const std::vector<std::string>& missing, const ManifestOffer& reader) {
    std::vector<std::pair<std::string, std::vector<std::string>>> settings;
    for (const OptionalField& field : reader.may_give) {
      if (std::ranges::find(missing, field.name) == missing.end()) continue;
      const std::string setting =
          "data." + field.option + (field.value.empty() ? "" : " = \"" + field.value + "\"");
      const auto same = std::ranges::find(settings, setting, &decltype(settings)::value_type::first);
      if (same == settings.end())
        settings.push_back({setting, {field.name}});
      else
        same->second.push_back(field.name);
    }
    std::string text;
    for (const auto& [setting, fields] : settings) text += "; " + setting + " adds " + quoted_list(fields);
    return text;
  }

  // Checks the sets: dev is a file of its own or a share of train.
  void check_sets() {
    const auto data = resolved_.tables.find("data");
    if (data == resolved_.tables.end() || trains_nothing()) return;
    const Options& options = data->second.options;
    const Value* table = root_.at({"data"});
    if (options.has("held_out") && (!options.has("more") || options.paths("more").empty()))
      refuse("data.held_out",
             "option \"held_out\" of [data] is a share of the examples of \"more\", and there is no "
             "\"more\"; name files there, or remove held_out");
    if (options.has("stratify") && options.flag("stratify") && !options.has("split"))
      refuse("data.stratify",
             "option \"stratify\" of [data] is about the sets that \"split\" makes, and there is no "
             "\"split\"; add split = [0.9, 0.1], or remove stratify");
    if (table->find("split") == nullptr) {
      if (table->find("dev") == nullptr || (options.has("dev") && options.paths("dev").empty()))
        problems_.add(
            table->origin.place, "data.dev",
            "option \"dev\" of [data] is missing; it must be a path in quotes (examples that choose the best "
            "checkpoint); or let split = [0.9, 0.1] cut this set from the examples of train");
      return;
    }
    if (!options.has("split")) return;
    const std::vector<double> shares = options.number_list("split");
    check_split(shares);
    refuse_file_of_share("dev", options, "split makes this set of the examples of train; keep one of them");
    if (shares.size() == 3)
      refuse_file_of_share(
          "test", options,
          "the third share of split makes this set of the examples of train; give two shares, or "
          "drop the file with test = \"\"");
  }

  void refuse_file_of_share(const std::string& set, const Options& options, const std::string& why) {
    if (options.has(set) && !options.paths(set).empty())
      refuse("data." + set, "option \"" + set + "\" of [data] names a file, but " + why);
  }

  void check_split(const std::vector<double>& shares) {
    double sum = 0.0;
    for (const double share : shares) sum += share;
    const std::string must =
        "option \"split\" of [data] must be the shares of two or three sets, as in [0.9, "
        "0.1] or [0.8, 0.1, 0.1]; ";
    if (shares.size() != 2 && shares.size() != 3)
      refuse("data.split", must + "found " + std::to_string(shares.size()));
    else if (std::abs(sum - 1.0) > split_tolerance)
      refuse("data.split", must + "their sum is " + shortest(sum) + " and must be 1");
  }

  // Checks train.select. The task decides by which measures a run may select, and which one is used if the
  // file names none.
  void select() {
    const auto train = resolved_.tables.find("train");
    const ManifestOffer* task = offer_of("task");
    if (train == resolved_.tables.end() || task == nullptr) return;
    ResolvedTable& table = train->second;
    fall_back("train", table, "select", task->select);
    if (root_.at({"train", "select"}) != nullptr && table.options.has("select"))
      if (const auto problem = selection_problem(table.options.text("select"), *task))
        refuse("train.select", "option \"select\" of [train] " + *problem);
  }

  /// Gives an option of a core table a default that depends on others. Writing this value out keeps the
  /// identity.
  void fall_back(const std::string& key, ResolvedTable& table, const std::string& name, const auto& value) {
    table.defaults.set_default(name, value);
    if (root_.at({key, name}) != nullptr) return;
    table.options.set_default(name, value);
    resolved_.config[key][name] = value;
    resolved_.origin[key + "." + name] = {Source::fallback, root_.at({key})->origin.place};
  }

  // Sets the default of model.final_norm: a norm at the end of a stack whose norms stand before the
  // sub-layers, none otherwise. Writing the default out keeps the identity.
  void final_norm() {
    const auto model = resolved_.tables.find("model");
    if (model != resolved_.tables.end() && model->second.options.has("norm_position"))
      model->second.defaults.set_default("final_norm", model->second.options.text("norm_position") == "pre");
  }

  /// Returns the option if the user has written it. The user then did not mean the other one of the pair.
  const Value* written(const char* option) const {
    const Value* value = root_.at({"train", option});
    return value == nullptr || value->origin.source == Source::fallback ? nullptr : value;
  }

  // Checks the length of training and the size of a batch, which can each be given in two ways.
  void check_length() {
    const Value* train = root_.at({"train"});
    if (train == nullptr || !train->is_table()) return;
    const Value *epochs = written("epochs"), *steps = written("steps");
    if (epochs == nullptr && steps == nullptr)
      problems_.add(
          train->origin.place, "train.epochs",
          "option \"epochs\" of [train] is missing, and so is \"steps\"; give one of them: epochs = 10 "
          "passes over the training data, or steps = 10000");
    if (epochs != nullptr && steps != nullptr)
      refuse(
          "train.steps",
          "option \"steps\" of [train] stands beside \"epochs\", another end of training; keep one of them");
    if (written("batch_size") != nullptr && written("batch_tokens") != nullptr)
      refuse("train.batch_tokens",
             "option \"batch_tokens\" of [train] stands beside \"batch_size\", another size of a batch; keep "
             "one of them");
  }

  // Checks numbers that exclude each other and that no plugin checks.
  void check_numbers() {
    const auto model = resolved_.tables.find("model");
    if (model != resolved_.tables.end() && model->second.options.has("width") &&
        model->second.options.has("positions")) {
      const std::int64_t tables_width =
          model->second.options.has("embedding_width") ? model->second.options.integer("embedding_width") : 0;
      const std::string name = tables_width > 0 ? "embedding_width" : "width";
      const std::int64_t width = model->second.options.integer(name);
      if (width % 2 != 0 && model->second.options.text("positions") == "sinusoidal")
        refuse("model." + name, "option \"" + name + "\" of [model] is " + std::to_string(width) +
                                    "; sinusoidal positions come in pairs and need an even width");
    }
    check_positions();
    if (model != resolved_.tables.end() && model->second.options.has("layers") &&
        model->second.options.has("groups")) {
      const std::int64_t layers = model->second.options.integer("layers");
      const std::int64_t groups = model->second.options.integer("groups");
      if (groups > layers)
        refuse("model.groups",
               "option \"groups\" of [model] is " + std::to_string(groups) + ", but " +
                   std::to_string(layers) +
                   " layers cannot be cut into more groups than there are layers; 0 lets every "
                   "block have its own parameters");
    }
    const auto train = resolved_.tables.find("train");
    if (train != resolved_.tables.end() && train->second.options.has("batch_size") &&
        !train->second.options.has("batch_tokens") && train->second.options.has("gradient_shards")) {
      const std::int64_t batch = train->second.options.integer("batch_size");
      const std::int64_t shards = train->second.options.integer("gradient_shards");
      if (shards > batch)
        refuse("train.gradient_shards", "option \"gradient_shards\" of [train] is " + std::to_string(shards) +
                                            ", but a batch of " + std::to_string(batch) +
                                            " sequences cannot be cut into more parts than it has sequences");
    }
  }

  // Checks train.loss_scale: only a power of two keeps every digit. With float16 it has a default, so the
  // user need not set it.
  void loss_scale() {
    const auto train = resolved_.tables.find("train");
    if (train == resolved_.tables.end()) return;
    ResolvedTable& table = train->second;
    if (table.options.has("precision") && table.options.text("precision") == "float16")
      fall_back("train", table, "loss_scale", float16_loss_scale);
    int exponent = 0;
    if (table.options.has("loss_scale") && std::frexp(table.options.number("loss_scale"), &exponent) != 0.5)
      refuse("train.loss_scale", "option \"loss_scale\" of [train] is " +
                                     shortest(table.options.number("loss_scale")) +
                                     "; it must be a power of two, such as 65536");
  }

  bool trains_nothing() const {
    const auto train = resolved_.tables.find("train");
    return train != resolved_.tables.end() && train->second.options.has("epochs") &&
           train->second.options.integer("epochs") == 0;
  }

  // Checks a run of 0 epochs: its model must come from a folder, and no data is read.
  void check_untrained() {
    if (!trains_nothing()) return;
    const auto model = resolved_.tables.find("model"), data = resolved_.tables.find("data");
    if (model == resolved_.tables.end()) return;
    if (!model->second.options.has("from"))
      return refuse("train.epochs",
                    "option \"epochs\" of [train] is 0, which imports the model of a folder, but model.from "
                    "is missing; set it, or train for at least 1 epoch");
    if (data == resolved_.tables.end()) return;
    for (const char* name : {"train", "dev", "test", "more"})
      if (data->second.options.has(name) && !data->second.options.paths(name).empty())
        refuse(std::string("data.") + name,
               "option \"" + std::string(name) +
                   "\" of [data] names a file that is not used, because train.epochs = 0; remove it, and "
                   "score the model with exp evaluate");
  }

  // Checks [distil]: a run that trains nothing cannot learn from a teacher.
  void check_distil() {
    if (trains_nothing() && resolved_.tables.contains("distil"))
      refuse("train.epochs",
             "option \"epochs\" of [train] is 0, but a model without training cannot learn from a teacher; "
             "remove [distil]");
  }

  // Checks [tokenizer.target]: a second vocabulary is that of a decoder, and a foreign model brings its own.
  void check_target_tokenizer() {
    if (!resolved_.tables.contains(target_tokenizer_key)) return;
    const std::string table = std::string("[") + target_tokenizer_key + "]",
                      type = std::string(target_tokenizer_key) + ".type";
    const Value* from = root_.at({"model", "from"});
    if (!resolved_.tables.contains("model.decoder"))
      refuse(type, table +
                       " is for the text that a decoder generates, and this model has no decoder; add "
                       "[model.decoder], or leave the table out");
    else if (from != nullptr && from->is_text())
      refuse(type, table + " cannot stand beside model.from = " + to_text(*from) +
                       ", whose tokenizer cuts sources and targets; leave the table out");
  }

  // Checks model.max_positions: a table of learned positions has a row for each position of the longest
  // sequence.
  void check_positions() {
    const auto model = resolved_.tables.find("model"), data = resolved_.tables.find("data");
    if (model == resolved_.tables.end() || !model->second.options.has("max_positions") ||
        !model->second.options.has("positions"))
      return;
    const std::string& positions = model->second.options.text("positions");
    if (positions != "sinusoidal" && model->second.options.has("position_layout") &&
        model->second.options.text("position_layout") != "pairs")
      refuse("model.position_layout",
             "option \"position_layout\" of [model] is for sinusoidal positions, and "
             "positions = \"" +
                 positions + "\"; remove it");
    const std::int64_t rows = model->second.options.integer("max_positions");
    if (rows == 0) return;
    const std::string given = "option \"max_positions\" of [model] is " + std::to_string(rows);
    if (positions != "learned")
      return refuse("model.max_positions",
                    given + ", which is for learned positions; remove it, or set positions = \"learned\"");
    if (data == resolved_.tables.end() || !data->second.options.has("max_length")) return;
    const auto* longest =
        std::get_if<std::int64_t>(&data->second.options.values().at("max_length"));  // else not known yet
    if (longest == nullptr || rows >= *longest) return;
    // A table that comes with its parameters has a fixed number of rows.
    const bool grows = !model->second.options.has("from");
    refuse("model.max_positions", given + ", but sequences have up to " + std::to_string(*longest) +
                                      " tokens (data.max_length); " +
                                      (grows ? "shorten them, or let the table grow"
                                             : "shorten them: the table of model.from has no more rows"));
  }

  void refuse(const std::string& key, const std::string& message) {
    problems_.add(place_of(resolved_.origin, key), key, message);
  }

  const Value& root_;
  const Catalogue& catalogue_;
  Resolved& resolved_;
  Problems& problems_;
};

}  // namespace

void check_across_tables(const Value& root, const Catalogue& catalogue, Resolved& resolved,
                         Problems& problems) {
  AcrossTables(root, catalogue, resolved, problems).check();
}

}  // namespace encore::config
