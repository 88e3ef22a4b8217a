// SPDX-License-Identifier: BSD-3-Clause
// read_sweep(): reads [sweep], and read_search_space() the space of [search], into a Sweep. plan.cpp and
// plan/search/search.cpp call them. random_law.cpp reads one variable, conditional_option.hpp the conditions.
// Options of the command line win over the file. Experiment files contain these tables, so their form is only
// extended. Read sweep.hpp first.
#include "plan/sweep.hpp"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "base/nearest.hpp"
#include "config/core_schema.hpp"
#include "config/toml.hpp"
#include "config/validate.hpp"
#include "plan/label.hpp"

namespace encore::plan {

namespace {

std::string count_text(const SweepAxis& axis) {
  return std::to_string(axis.values.size()) + (axis.values.size() == 1 ? " value" : " values");
}

class SweepReader {
 public:
  SweepReader(const config::ExperimentFile& document, const config::OptionPlaces& places,
              config::Problems& problems)
      : document_(document), places_(places), problems_(problems) {}

  Sweep read(const config::Value& table) {
    const config::ValidTable valid =
        config::validate(table, config::sweep_schema(), {"sweep", "[sweep]"}, problems_,
                         {"grid", "zip", "random", "when"}, {}, places_);
    if (valid.options.has("seed")) sweep_.seed = valid.options.integer("seed");
    if (valid.options.has("draws")) sweep_.draws = valid.options.integer("draws");
    if (const config::Value::Member* grid = table.find("grid")) read_grid(*grid);
    if (const config::Value::Member* zip = table.find("zip")) read_zips(*zip);
    if (const config::Value::Member* random = table.find("random")) read_random(*random);
    read_arguments();
    if (valid.options.has("exclude")) read_exclusions(table.find("exclude"));
    if (const config::Value::Member* when = table.find("when")) read_when(*when);
    if (sweep_.draws > 1 && !has_random_)
      problems_.add(
          table.find("draws")->value.origin.place, "sweep.draws",
          "option \"draws\" of [sweep] asks for random draws, but there is no table [sweep.random]");
    return std::move(sweep_);
  }

  /// Reads [search.space], [search.when] and the exclusions, as a sweep with random variables alone.
  Sweep read_search(const config::Value& table, bool has_exclusions) {
    owner_ = "search";
    random_table_ = "[search.space]";
    if (const config::Value::Member* space = table.find("space")) read_random(*space);
    if (has_exclusions) read_exclusions(table.find("exclude"));
    if (const config::Value::Member* when = table.find("when")) read_when(*when);
    return std::move(sweep_);
  }

 private:
  /// Appends the parts of a name in a table of the sweep to `path`. Returns false, and adds a problem, if the
  /// name is not a valid key.
  bool read_path(const config::Value::Member& member, const std::string& table,
                 std::vector<std::string>& path) {
    try {
      for (std::string& part : config::parse_key(member.key)) path.push_back(std::move(part));
      return true;
    } catch (const Error& error) {
      problems_.add(member.key_origin.place, "sweep", std::string(error.what()) + " (in " + table + ")");
      return false;
    }
  }

  /// Returns whether an option can be varied and is not varied yet; adds a problem if not.
  bool can_vary(const std::vector<std::string>& path, const config::Place& place, const std::string& table) {
    const std::string key = config::dotted(path);
    std::vector<std::string> tables = config::top_tables();
    for (const char* varies : {"sweep", "search"}) std::erase(tables, varies);
    if (path.front() == "seed" || path.front() == "seeds") {
      problems_.add(
          place, key,
          table + " cannot vary \"" + key + "\"; " +
              (table == "--grid" ? "give --seeds 1-3" : "write seeds = [1, 2, 3] at the top of the file"));
      return false;
    }
    if (std::ranges::find(tables, path.front()) == tables.end()) {
      problems_.add(place, key, table + " cannot vary \"" + key + "\"" + what_is_meant(path, tables));
      return false;
    }
    const auto [earlier, is_new] = varied_.emplace(key, place);
    if (!is_new) problems_.add(place, key, "\"" + key + "\" is varied twice; see " + earlier->second.text());
    return is_new;
  }

  /// Suggests a name for a path that begins with none of `tables`.
  std::string what_is_meant(const std::vector<std::string>& path,
                            const std::vector<std::string>& tables) const {
    const std::string near =
        did_you_mean(path.front(), tables, "; it varies options of " + quoted_list(tables));
    const std::vector<std::string> owners =
        path.size() == 1 ? places_.tables_with(path.front()) : std::vector<std::string>{};
    if (owners.empty()) return near;
    std::string text;
    for (const std::string& owner : owners)
      text += (text.empty() ? "; did you mean \"" : " or \"") + owner + "." + path.front() + "\"";
    return text + "?";
  }

  /// Returns the override that names the option, alone or as part of a table, or null.
  static const config::Override* covering(const std::vector<config::Override>& overrides,
                                          const std::vector<std::string>& path) {
    const auto found = std::ranges::find_if(overrides, [&](const config::Override& set) {
      return set.path.size() <= path.size() && std::equal(set.path.begin(), set.path.end(), path.begin());
    });
    return found == overrides.end() ? nullptr : &*found;
  }

  // The command line wins over the sweep of the file: the file does not vary what it sets or varies.
  bool is_overridden(const std::vector<std::string>& path) const {
    return covering(document_.overrides, path) != nullptr || covering(document_.grid, path) != nullptr;
  }

  /// An option that --grid varies keeps the condition that the file has for it.
  bool loses_condition(const ConditionalOption& option) const {
    const config::Override* grid = covering(document_.grid, option.path);
    return covering(document_.overrides, option.path) != nullptr ||
           (grid != nullptr && grid->path != option.path);
  }

  // Reads the lists below `table`. They may be written "model.layers" = [...] or model.layers = [...].
  std::vector<SweepAxis> read_axes(const config::Value& table, const std::string& name,
                                   const std::vector<std::string>& prefix) {
    std::vector<SweepAxis> axes;
    for (const config::Value::Member& member : table.table()) {
      std::vector<std::string> path = prefix;
      if (!read_path(member, name, path)) continue;
      if (member.value.is_table()) {
        for (SweepAxis& axis : read_axes(member.value, name, path)) axes.push_back(std::move(axis));
        continue;
      }
      if (!can_vary(path, member.key_origin.place, name)) continue;
      SweepAxis axis{config::dotted(path), path, {config::Source::sweep, member.key_origin.place}, {}, {}};
      if (!member.value.is_array() || member.value.array().empty()) {
        problems_.add(member.value.origin.place, axis.key,
                      "\"" + axis.key + "\" of " + name + " must be a list of values, found " +
                          config::describe(member.value));
        continue;
      }
      axis.values = member.value.array();
      for (config::Value& value : axis.values) mark_as_sweep(value);
      axis.labels = labels_of(axis.values);
      axes.push_back(std::move(axis));
    }
    return axes;
  }

  /// Refuses a repeated value in a grid, where the second would make the same runs again. A zip may repeat
  /// values.
  void refuse_repetitions(const SweepAxis& axis, const std::string& table) {
    std::unordered_set<std::string> seen;
    for (const config::Value& value : axis.values)
      if (!seen.insert(kind_and_text(value)).second)
        problems_.add(value.origin.place, axis.key,
                      "\"" + axis.key + "\" of " + table + ": " + config::to_text(value) +
                          " stands twice in the list; keep one of them");
  }

  void erase_overridden(std::vector<SweepAxis>& axes) const {
    std::erase_if(axes, [&](const SweepAxis& axis) { return is_overridden(axis.path); });
  }

  bool is_table(const config::Value& value, const std::string& name) {
    if (value.is_table()) return true;
    problems_.add(value.origin.place, "sweep", name + " must be a table, found " + config::describe(value));
    return false;
  }

  void read_grid(const config::Value::Member& member) {
    if (!is_table(member.value, "[sweep.grid]")) return;
    sweep_.grid = read_axes(member.value, "[sweep.grid]", {});
    for (const SweepAxis& axis : sweep_.grid) refuse_repetitions(axis, "[sweep.grid]");
    erase_overridden(sweep_.grid);
  }

  void read_arguments() {
    const std::map<std::string, config::Place> varied_by_file = std::exchange(varied_, {});
    for (const config::Override& grid : document_.grid) {
      const config::Place& place = grid.value.origin.place;
      if (const config::Override* set = covering(document_.overrides, grid.path); set != nullptr)
        problems_.add(place, grid.key,
                      "\"" + grid.key + "\" is varied here and set by " + set->value.origin.place.text() +
                          "; keep one of them");
      if (!can_vary(grid.path, place, "--grid")) continue;
      SweepAxis axis{grid.key, grid.path, grid.value.origin, grid.value.array(), {}};
      axis.labels = labels_of(axis.values);
      refuse_repetitions(axis, "--grid");
      sweep_.grid.push_back(std::move(axis));
    }
    varied_.insert(varied_by_file.begin(), varied_by_file.end());
  }

  void read_zips(const config::Value::Member& member) {
    if (!member.value.is_array()) {
      problems_.add(
          member.value.origin.place, "sweep.zip",
          "\"zip\" of [sweep] must be written [[sweep.zip]], found " + config::describe(member.value));
      return;
    }
    for (const config::Value& table : member.value.array()) {
      if (!is_table(table, "[[sweep.zip]]")) continue;
      Zip zip = read_axes(table, "[[sweep.zip]]", {});
      for (const SweepAxis& axis : zip)
        if (axis.values.size() != zip.front().values.size())
          problems_.add(axis.key_origin.place, axis.key,
                        "[[sweep.zip]] moves in lock step, but \"" + axis.key + "\" has " + count_text(axis) +
                            " and \"" + zip.front().key + "\" has " + count_text(zip.front()));
      erase_overridden(zip);
      if (!zip.empty()) sweep_.zips.push_back(std::move(zip));
    }
  }

  void read_random(const config::Value::Member& member) {
    if (!is_table(member.value, random_table_)) return;
    has_random_ = !member.value.table().empty();
    read_variables(member.value, {});
  }

  void read_variables(const config::Value& table, const std::vector<std::string>& prefix) {
    for (const config::Value::Member& member : table.table()) {
      std::vector<std::string> path = prefix;
      if (!read_path(member, random_table_, path)) continue;
      const bool nested = member.value.is_table() && !member.value.table().empty() &&
                          std::ranges::all_of(member.value.table(), [](const config::Value::Member& inner) {
                            return inner.value.is_table();
                          });
      if (nested) {
        read_variables(member.value, path);
        continue;
      }
      if (!can_vary(path, member.key_origin.place, random_table_)) continue;
      RandomVariable variable;
      variable.key = config::dotted(path);
      variable.path = path;
      variable.key_origin = {config::Source::sweep, member.key_origin.place};
      variable.origin = {config::Source::sweep, member.value.origin.place};
      if (read_law(member.value, random_table_, variable, problems_) && !is_overridden(path))
        sweep_.random.push_back(std::move(variable));
    }
  }

  void read_exclusions(const config::Value::Member* member) {
    if (member == nullptr) return;
    for (const config::Value& entry : member->value.array()) {
      try {
        sweep_.exclusions.push_back({entry.text(), entry.origin.place, Expression::parse(entry.text())});
      } catch (const Error& error) {
        problems_.add(entry.origin.place, owner_ + ".exclude",
                      "exclude \"" + config::shortened(entry.text()) + "\": " + error.what());
      }
    }
  }

  void read_when(const config::Value::Member& member) {
    if (!is_table(member.value, "[" + owner_ + ".when]")) return;
    sweep_.conditional_options = read_conditional_options(member.value, owner_, varied_, problems_);
    std::erase_if(sweep_.conditional_options,
                  [&](const ConditionalOption& option) { return loses_condition(option); });
  }

  const config::ExperimentFile& document_;
  const config::OptionPlaces& places_;
  config::Problems& problems_;
  std::string owner_ = "sweep";                  // whose tables are read
  std::string random_table_ = "[sweep.random]";  // as messages call it
  Sweep sweep_;
  std::map<std::string, config::Place> varied_;  // the file or the command line, whichever is being read
  bool has_random_ = false;
};

}  // namespace

Sweep read_sweep(const config::Value& root, const config::ExperimentFile& document,
                 const config::OptionPlaces& places, config::Problems& problems) {
  const config::Value::Member* member = root.find("sweep");
  const config::Value nothing{config::Value::Table{}, root.origin};
  if (member == nullptr) return SweepReader(document, places, problems).read(nothing);
  if (!member->value.is_table()) {
    problems.add(member->value.origin.place, "sweep",
                 "[sweep] must be a table, found " + config::describe(member->value));
    return {};
  }
  return SweepReader(document, places, problems).read(member->value);
}

Sweep read_search_space(const config::Value& table, bool has_exclusions,
                        const config::ExperimentFile& document, const config::OptionPlaces& places,
                        config::Problems& problems) {
  return SweepReader(document, places, problems).read_search(table, has_exclusions);
}

}  // namespace encore::plan
