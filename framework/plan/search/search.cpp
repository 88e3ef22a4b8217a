// SPDX-License-Identifier: BSD-3-Clause
// Reads [search] member by member, and writes and reads its options and its space as JSON. search_plan.cpp
// calls it; the store keeps the JSON, and the identity of a search is computed from it, so its members must
// not change. Read search.hpp first.
#include "plan/search/search.hpp"

#include <algorithm>

#include "config/core_schema.hpp"
#include "config/selection.hpp"
#include "config/validate.hpp"

namespace encore::plan::search {

namespace {

using nlohmann::json;
using Law = RandomVariable::Law;

constexpr Method methods[] = {Method::random, Method::quasi_random, Method::tpe};
constexpr Pruning prunings[] = {Pruning::none, Pruning::asha, Pruning::median};
constexpr LengthUnit units[] = {LengthUnit::epochs, LengthUnit::steps};
constexpr Law laws[] = {Law::uniform, Law::log_uniform, Law::integer, Law::log_integer, Law::choice};

/// Returns the word that the file uses.
const char* word_of(Law law) {
  switch (law) {
    case Law::uniform:
      return "uniform";
    case Law::log_uniform:
      return "log_uniform";
    case Law::integer:
      return "int";
    case Law::log_integer:
      return "log_int";
    case Law::choice:
      return "choice";
  }
  return "";
}

template <class Name, class T, std::size_t N>
T named(const Name& name_of_value, const T (&all)[N], const std::string& name) {
  for (const T value : all)
    if (name_of_value(value) == name) return value;
  throw Error("a search has \"" + name + "\" in its settings, which this Encore does not know");
}

Method method_of(const std::string& name) {
  return named([](Method method) { return std::string(name_of(method)); }, methods, name);
}

Pruning pruning_of(const std::string& name) {
  return named([](Pruning pruning) { return std::string(name_of(pruning)); }, prunings, name);
}

/// Turns `objective = "max dev/f1"` into a list of one.
config::Value with_listed_objective(config::Value table) {
  config::Value::Member* objective = table.find("objective");
  if (objective != nullptr && objective->value.is_text()) {
    config::Value list;
    list.origin = objective->value.origin;
    list.data = config::Value::Array{objective->value};
    objective->value = std::move(list);
  }
  return table;
}

class SearchReader {
 public:
  SearchReader(const config::Value& table, const config::Value& root, config::Problems& problems)
      : table_(with_listed_objective(table)), root_(root), problems_(problems) {}

  Search read(const config::ExperimentFile& document, const config::OptionPlaces& places,
              PlanHeader& header) {
    const config::ValidTable valid = config::validate(table_, config::search_schema(), {"search", "[search]"},
                                                      problems_, {"space", "when"}, {}, places);
    const bool has_exclusions = valid.options.has("exclude") && table_.find("exclude") != nullptr;
    read_options(valid.options);
    search_.space = read_search_space(table_, has_exclusions, document, places, problems_);
    if (search_.space.random.empty() && problems_.empty())
      problems_.add(table_.origin.place, "search",
                    "[search] has nothing to vary; write it in [search.space], such as "
                    "\"optimizer.learning_rate\" = { log_uniform = [1e-5, 1e-2] }");
    refuse_contradictions(document);
    if (valid.options.has("repeats")) read_repeats(valid.options.integer("repeats"), header);
    return std::move(search_);
  }

 private:
  config::Place place_of_option(const char* option) const {
    const config::Value::Member* member = table_.find(option);
    return member == nullptr ? table_.origin.place : member->value.origin.place;
  }

  void read_options(const Options& from) {
    SearchOptions& options = search_.options;
    const auto integer = [&](const char* name, std::int64_t& target) {
      if (from.has(name)) target = from.integer(name);
    };
    if (from.has("method")) options.method = method_of(from.text("method"));
    if (from.has("pruning")) options.pruning = pruning_of(from.text("pruning"));
    integer("seed", options.seed);
    integer("startup", options.startup);
    integer("first_rung", options.first_rung);
    integer("eta", options.eta);
    integer("interval", options.interval);
    integer("comparisons", options.comparisons);
    integer("trials", search_.limits.trials);
    integer("patience", search_.limits.patience);
    integer("confirm", search_.limits.confirm);
    integer("confirm_seeds", search_.limits.confirm_seeds);
    if (from.has("hours")) search_.limits.hours = from.number("hours");
    if (from.has("objective")) read_objectives(from.text_list("objective"));
  }

  void read_objectives(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      const bool is_rule = (text.starts_with("max ") || text.starts_with("min ")) && text.size() > 4;
      if (!is_rule || !text.substr(4).starts_with("dev/")) {
        problems_.add(
            place_of_option("objective"), "search.objective",
            "option \"objective\" of [search] must be \"max dev/MEASURE\" or \"min dev/MEASURE\", found \"" +
                text + "\"" +
                (text.find("test/") == std::string::npos
                     ? ""
                     : "; who searches by the test set has none left to say how good the best trial is"));
        continue;
      }
      const config::Selection selection = config::parse_selection(text);
      search_.options.objectives.push_back({selection.metric, selection.maximize});
    }
    if (texts.size() > 1 && search_.options.pruning != Pruning::none)
      problems_.add(
          place_of_option("pruning"), "search.pruning",
          "option \"pruning\" of [search] needs one objective by which trials are ended early; there are " +
              std::to_string(texts.size()));
  }

  void refuse_contradictions(const config::ExperimentFile& document) {
    if (const config::Value::Member* sweep = root_.find("sweep"))
      problems_.add(
          sweep->key_origin.place, "sweep",
          "the file has a [sweep] and a [search]; a grid stays a sweep, everything else that is varied "
          "belongs into [search.space]");
    for (const config::Override& grid : document.grid)
      problems_.add(grid.value.origin.place, grid.key,
                    "--grid varies a sweep, but the file has a [search]; write \"" + grid.key +
                        "\" into [search.space]");
    if (search_.options.pruning == Pruning::none) return;
    for (const char* length : {"train.epochs", "train.steps"})
      for (const RandomVariable& variable : search_.space.random)
        if (variable.key == length || variable.key == "train")
          problems_.add(variable.key_origin.place, variable.key,
                        "\"" + variable.key +
                            "\" is varied, but with \"pruning\" every trial must have the same "
                            "epochs: rungs compare trials that have been trained equally long");
  }

  /// Adds the seeds of `repeats` to the header: the seed of the experiment and those that follow it.
  void read_repeats(std::int64_t repeats, PlanHeader& header) {
    if (repeats == 1) return;
    if (root_.find("seeds") != nullptr) {
      problems_.add(place_of_option("repeats"), "search.repeats",
                    "\"repeats\" of [search] and \"seeds\" say the same thing twice; keep one of them");
      return;
    }
    if (header.seeds.size() != 1) return;  // the error was reported already
    const std::int64_t first = header.seeds.front();
    for (std::int64_t i = 1; i < repeats; ++i) {
      header.seeds.push_back(first + i);
      header.seed_origin.emplace(first + i,
                                 config::Origin{config::Source::sweep, place_of_option("repeats")});
    }
  }

  const config::Value table_;
  const config::Value& root_;
  config::Problems& problems_;
  Search search_;
};

}  // namespace

bool has_search(const config::ExperimentFile& document) {
  return document.root.find("search") != nullptr ||
         std::ranges::any_of(document.overrides,
                             [](const config::Override& set) { return set.path.front() == "search"; });
}

Search read_search(const config::Value& root, const config::ExperimentFile& document,
                   const config::OptionPlaces& places, PlanHeader& header, config::Problems& problems) {
  const config::Value& table = root.find("search")->value;
  if (!table.is_table()) {
    problems.add(table.origin.place, "search", "[search] must be a table, found " + config::describe(table));
    return {};
  }
  return SearchReader(table, root, problems).read(document, places, header);
}

std::string text_of(const Objective& objective) {
  return (objective.maximize ? "max " : "min ") + objective.metric;
}

json settings_json(const SearchOptions& options) {
  json objectives = json::array();
  for (const Objective& objective : options.objectives)
    objectives.push_back({{"metric", objective.metric}, {"maximize", objective.maximize}});
  json settings = {{"method", name_of(options.method)},
                   {"seed", options.seed},
                   {"objectives", objectives},
                   {"pruning", name_of(options.pruning)},
                   {"epochs", options.epochs}};
  if (options.unit == LengthUnit::steps) settings["unit"] = name_of(options.unit);
  if (options.method == Method::tpe) settings["startup"] = options.startup;
  if (options.pruning != Pruning::none) settings["first_rung"] = options.first_rung;
  if (options.pruning == Pruning::asha) settings["eta"] = options.eta;
  if (options.pruning == Pruning::median) {
    settings["interval"] = options.interval;
    settings["comparisons"] = options.comparisons;
  }
  return settings;
}

json space_json(const std::vector<RandomVariable>& space) {
  json list = json::array();
  for (const RandomVariable& variable : space) {
    json one = {{"key", variable.key}, {"law", word_of(variable.law)}};
    if (variable.law == Law::choice) {
      one["values"] = json::array();
      for (const config::Value& value : variable.values) one["values"].push_back(config::to_text(value));
    } else {
      one["low"] = variable.low;
      one["high"] = variable.high;
    }
    list.push_back(std::move(one));
  }
  return list;
}

SearchOptions options_from_json(const json& settings) {
  try {
    SearchOptions options;
    options.method = method_of(settings.at("method"));
    options.pruning = pruning_of(settings.at("pruning"));
    options.seed = settings.at("seed");
    options.epochs = settings.at("epochs");
    options.unit = named([](LengthUnit unit) { return std::string(name_of(unit)); }, units,
                         settings.value("unit", "epochs"));
    for (const json& objective : settings.at("objectives"))
      options.objectives.push_back({objective.at("metric"), objective.at("maximize")});
    options.startup = settings.value("startup", options.startup);
    options.first_rung = settings.value("first_rung", options.first_rung);
    options.eta = settings.value("eta", options.eta);
    options.interval = settings.value("interval", options.interval);
    options.comparisons = settings.value("comparisons", options.comparisons);
    // A search with such options would never end, or would divide by zero.
    if (options.objectives.empty() || options.first_rung < 1 || options.eta < 2 || options.interval < 1)
      throw Error("the settings of a search are damaged: " + settings.dump());
    return options;
  } catch (const json::exception& error) {
    throw Error(std::string("the settings of a search are damaged: ") + error.what());
  }
}

std::vector<RandomVariable> space_from_json(const json& space) {
  try {
    std::vector<RandomVariable> variables;
    for (const json& one : space) {
      RandomVariable& variable = variables.emplace_back();
      variable.key = one.at("key");
      variable.law = named([](Law law) { return std::string(word_of(law)); }, laws, one.at("law"));
      if (variable.law == Law::choice) {
        for (const json& value : one.at("values")) variable.values.push_back({value.get<std::string>(), {}});
        if (variable.values.empty()) throw Error("the space of a search is damaged: a choice among nothing");
      } else {
        variable.low = one.at("low");
        variable.high = one.at("high");
      }
    }
    return variables;
  } catch (const json::exception& error) {
    throw Error(std::string("the space of a search is damaged: ") + error.what());
  }
}

}  // namespace encore::plan::search
