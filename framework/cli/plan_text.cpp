// SPDX-License-Identifier: BSD-3-Clause
// Prints planned runs as tables, CSV and JSON, for plan_verb.cpp. The reasons are sentences and may change;
// JSON members, CSV columns and names of actions are read by programs and may not. Read next: plan_text.hpp.
#include "cli/plan_text.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <unordered_set>

#include <nlohmann/json.hpp>

#include "app/planned_runs.hpp"
#include "app/plugin_passes.hpp"
#include "cli/run_summary.hpp"
#include "cli/table.hpp"

namespace encore::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string because(const store::RunRow& run) {
  return run.reason.empty() ? "" : ": " + run.reason;
}

std::string percent_done(const store::RunRow& run) {
  return std::to_string(static_cast<int>(100.0 * (1.0 - app::share_left(run)))) + " %";
}

std::string reason_of_action(const app::PlannedRun& run) {
  if (run.action == app::Action::leave && run.parent_file) return "no run to do needs its weights";
  if (run.action == app::Action::leave)
    return run.before ? "its plugin files have not changed" : "new, but --changed trains only known runs";
  if (!run.before) return "new";
  const store::RunRow& before = *run.before;
  if (run.new_repeat)
    return (run.changed_plugins.empty() ? "--fresh: a new repeat in addition to "
                                        : "changed plugin file: a new repeat in addition to ") +
           before.id;
  switch (run.action) {
    case app::Action::skip:
      return "complete since " + time_text(before.finished.value_or(before.created));
    case app::Action::elsewhere:
      return world::place_text(before.holder) + " is training it";
    case app::Action::start:
      return "planned before, never started";
    case app::Action::resume:
    case app::Action::retry:
    case app::Action::leave:
      break;
  }
  return std::string(store::name_of(before.state)) + " at " + percent_done(before) + because(before) +
         (run.has_checkpoint ? "; from its newest checkpoint" : "; no checkpoint, from the start");
}

std::string why(const app::PlannedRun& run) {
  return reason_of_action(run) + needs_text(run.needed_names);
}

std::string time_cell(const app::PlanView& view, std::size_t index) {
  if (!view.planned.runs[index].to_do()) return "-";
  return view.times[index] ? document::duration_text(view.times[index]->seconds) : "?";
}

std::string list_text(const std::vector<std::string>& names) {
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) text += (i > 0 ? ", " : "") + names[i];
  return names.size() > most ? text + " and " + std::to_string(names.size() - most) + " more" : text;
}

void add_once(std::vector<std::string>& texts, std::string text) {
  if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
}

/// A complete run whose time is the source of estimates, with the number of planned runs that use it.
struct TimeSource {
  std::string run, run_id;
  std::vector<std::string> different;  ///< in what it differs from any of them
  bool from_all = true;                ///< whether it differs from each of them

  std::string text() const {
    const std::string differs = from_all ? "which differs in " : "which differs from some of them in ";
    return run + " (" + run_id + ")" + (different.empty() ? "" : ", " + differs + list_text(different));
  }
};

/// Returns each source once, in the order of the runs.
std::vector<TimeSource> sources_of(const std::vector<std::optional<app::TimeEstimate>>& times) {
  std::vector<TimeSource> sources;
  for (const auto& time : times) {
    if (!time) continue;
    auto found = std::ranges::find(sources, time->run_id, &TimeSource::run_id);
    if (found == sources.end()) found = sources.insert(found, {time->run, time->run_id, {}});
    found->from_all = found->from_all && !time->different.empty();
    for (const std::string& name : time->different) add_once(found->different, name);
  }
  return sources;
}

/// Returns how many points of the sweep have no run of their own, with the reason: ", 2 points excluded".
/// Returns "" if there are none.
std::string points_without_runs(const plan::Plan& plan) {
  std::string text;
  const auto add = [&](std::size_t count, const std::string& what) {
    if (count > 0) text += ", " + std::to_string(count) + (count == 1 ? " point " : " points ") + what;
  };
  add(plan.excluded, "excluded");
  add(plan.alike_by_when, "the same as an earlier one without what [sweep.when] leaves out");
  add(plan.duplicates, "the same as an earlier one");
  return text;
}

void print_time(std::ostream& out, const app::PlanView& view) {
  const std::size_t to_do = view.planned.to_do(), unknown = view.unknown();
  if (to_do == 0) return;
  if (unknown == to_do) {
    out << "time unknown: no similar run yet (complete, on this host and backend, with the same training "
           "data)\n";
    return;
  }
  std::vector<std::string> sources;
  for (const TimeSource& source : sources_of(view.times)) sources.push_back(source.text());
  out << "about " << document::duration_text(view.seconds());
  if (view.jobs > 1)
    out << " with -j " << view.jobs << ", if " << view.jobs << " at once train as fast as one";
  out << "; estimated from " << list_text(sources) << '\n';
  if (unknown > 0) out << "without " << unknown << " of them, for which there is no similar run yet\n";
}

// --- values ---

struct OptionRow {
  nlohmann::json value;
  config::Origin origin;
};

/// Returns every option of a run, keyed by dotted key, with those at the top of the file.
std::map<std::string, OptionRow> values_of(const plan::Plan& plan,
                                           const record::Specification& specification) {
  std::map<std::string, OptionRow> rows = {{"name", {plan.name, plan.origin.at("name")}},
                                           {"note", {plan.note, plan.origin.at("note")}},
                                           {"tags", {plan.tags, plan.origin.at("tags")}}};
  const auto seed = static_cast<std::int64_t>(specification.seed);
  rows["seed"] = {seed, plan.seeds.at(seed)};
  for (const auto& [key, origin] : specification.origin) {
    const nlohmann::json* value = &specification.config;
    for (std::size_t begin = 0; value != nullptr && begin <= key.size();) {
      const std::size_t end = std::min(key.find('.', begin), key.size());
      const auto found = value->find(key.substr(begin, end - begin));
      value = found == value->end() ? nullptr : &*found;
      begin = end + 1;
    }
    if (value != nullptr) rows[key] = {*value, origin};
  }
  return rows;
}

std::string shown_value(const nlohmann::json& value) {
  return value.is_number_float() ? config::shortest(value.get<double>()) : value.dump();
}

std::string origin_text(const config::Origin& origin) {
  if (origin.source == config::Source::fallback || !origin.place.known())
    return config::name_of(origin.source);
  if (origin.source == config::Source::file) return origin.place.text();
  if (origin.source == config::Source::command_line) return "command line, " + origin.place.text();
  return std::string(config::name_of(origin.source)) + ", " + origin.place.text();
}

/// Joins the values, each once, in the order of the runs. A long list is shortened.
std::string joined(const std::vector<std::string>& texts) {
  constexpr std::size_t most = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(texts.size(), most); ++i) text += (i > 0 ? " | " : "") + texts[i];
  return texts.size() > most ? text + " | ... " + std::to_string(texts.size()) + " values" : text;
}

Json values_json(const plan::Plan& plan, const record::Specification& specification) {
  Json values = Json::object();
  for (const auto& [key, row] : values_of(plan, specification)) {
    values[key] = {{"value", row.value}, {"source", config::name_of(row.origin.source)}};
    if (row.origin.place.known()) values[key]["at"] = row.origin.place.text();
  }
  return values;
}

Json time_json(const std::optional<app::TimeEstimate>& time) {
  if (!time) return nullptr;
  return {{"seconds", time->seconds},
          {"from", time->run},
          {"from_id", time->run_id},
          {"different", time->different}};
}

Json planned_run_json(const app::PlanView& view, std::size_t index, bool with_values) {
  const app::PlannedRun& run = view.planned.runs[index];
  Json varied = Json::object();
  for (const auto& [key, value] : run.varied) varied[key] = value;
  Json changed = Json::array();
  for (const app::PluginChange& change : run.changed_plugins) changed.emplace_back(change.json());
  Json json = {
      {"name", run.name()},
      {"action", app::name_of(run.action)},
      {"why", why(run)},
      {"id", run.before ? Json(run.before->id) : Json()},
      {"question", run.specification.question},
      {"group", run.specification.group},
      {"seed", run.specification.seed},
      {"time", time_json(view.times[index])},
      {"varied", varied},
      {"file", (run.parent_file ? view.planned.parents[*run.parent_file].file : view.planned.file).string()},
      {"changed_plugins", changed},
      {"other_build", run.other_build}};
  add_needs(run.needed_names, json);
  if (with_values) json["values"] = values_json(view.planned.plan_of(run), run.specification);
  return json;
}

}  // namespace

std::string needs_text(const app::NeededRuns& needs) {
  return (needs.starts_from.empty() ? "" : "; starts from " + needs.starts_from) +
         (needs.learns_from.empty() ? "" : "; learns from " + needs.learns_from) +
         (needs.asks.empty() ? "" : "; asks " + listed(needs.asks));
}

void add_needs(const app::NeededRuns& needs, nlohmann::ordered_json& to) {
  to["starts_from"] = needs.starts_from.empty() ? Json() : Json(needs.starts_from);
  to["learns_from"] = needs.learns_from.empty() ? Json() : Json(needs.learns_from);
  to["asks"] = needs.asks;
}

void print_plan(std::ostream& out, const Terminal& terminal, const app::PlanView& view) {
  const app::PlannedRuns& planned = view.planned;
  Table table({{"ACTION"}, {"NAME"}, {"ID"}, {"SEED", Align::right}, {"TIME", Align::right}, {"WHY"}});
  for (const std::size_t index : view.shown) {
    const app::PlannedRun& run = planned.runs[index];
    table.add({Cell(app::name_of(run.action), run.to_do() ? Style::green : Style::dim), run.name(),
               run.before ? run.before->id : "-", std::to_string(run.specification.seed),
               time_cell(view, index), why(run)});
  }
  table.print(out, terminal);
  out << '\n'
      << planned.to_do() << " of " << planned.runs.size() << " runs to do on " << planned.backend
      << points_without_runs(planned.plan) << '\n';
  print_time(out, view);
  for (const config::Problem& warning : planned.plan.warnings) out << "warning: " << warning.text() << '\n';
  for (const std::string& line : app::kept_though(planned)) out << line << '\n';
  for (const app::PlannedRun& run : planned.runs)
    if (run.goes_on())
      for (const app::PluginChange& change : run.changed_plugins)
        out << run.before->name << " resumes only with --accept-plugin-change: " << change.text() << '\n';
  for (const app::UsedPlugin& plugin : app::unchecked_plugins(view.planned))
    out << warning_text(plugin) << '\n';
}

void print_plan_csv(std::ostream& out, const app::PlanView& view) {
  out << document::csv_record({"action", "name", "id", "seed", "seconds", "why"});
  for (const std::size_t index : view.shown) {
    const app::PlannedRun& run = view.planned.runs[index];
    const auto& time = view.times[index];
    out << document::csv_record({app::name_of(run.action), run.name(), run.before ? run.before->id : "",
                                 std::to_string(run.specification.seed),
                                 time ? Json(time->seconds).dump() : "", why(run)});
  }
}

void print_values(std::ostream& out, const Terminal& terminal, const app::PlanView& view) {
  struct Texts {
    std::vector<std::string> values, origins;
    std::unordered_set<std::string> known_values, known_origins;  // so that many runs cost no squared time
    std::size_t runs = 0;
  };
  std::map<std::string, Texts> options;
  for (const std::size_t index : view.shown)
    for (const auto& [key, row] :
         values_of(view.planned.plan_of(view.planned.runs[index]), view.planned.runs[index].specification)) {
      Texts& texts = options[key];
      if (std::string text = shown_value(row.value); texts.known_values.insert(text).second)
        texts.values.push_back(std::move(text));
      if (std::string text = origin_text(row.origin); texts.known_origins.insert(text).second)
        texts.origins.push_back(std::move(text));
      ++texts.runs;
    }
  Table table({{"OPTION"}, {"VALUE"}, {"FROM"}});
  for (const auto& [key, texts] : options) {
    const bool everywhere = texts.runs == view.shown.size();
    table.add({key, joined(texts.values) + (everywhere ? "" : " (not in all runs)"), joined(texts.origins)});
  }
  if (view.shown.size() == 1)
    out << view.planned.runs[view.shown.front()].name() << '\n';
  else
    out << view.shown.size() << " runs; exp plan FILE NAME --values shows the values of one\n";
  table.print(out, terminal);
}

Json plan_json(const app::PlanView& view, bool with_values) {
  Json runs = Json::array();
  for (const std::size_t index : view.shown) runs.push_back(planned_run_json(view, index, with_values));
  Json warnings = Json::array();
  for (const config::Problem& warning : view.planned.plan.warnings) warnings.push_back(warning.text());
  Json unchecked = Json::array();
  for (const app::UsedPlugin& plugin : app::unchecked_plugins(view.planned))
    unchecked.push_back({{"name", plugin.name}, {"sha256", plugin.sha256}, {"file", plugin.file.string()}});
  const std::size_t to_do = view.planned.to_do();
  const bool known = to_do == 0 || view.unknown() < to_do;
  return {{"name", view.planned.plan.name},
          {"file", view.planned.file.string()},
          {"backend", view.planned.backend},
          {"excluded", view.planned.plan.excluded},
          {"alike_by_when", view.planned.plan.alike_by_when},
          {"duplicates", view.planned.plan.duplicates},
          {"warnings", warnings},
          {"to_do", to_do},
          {"jobs", view.jobs},
          {"seconds", known ? Json(view.seconds()) : Json()},
          {"without_time", view.unknown()},
          {"unchecked_plugins", unchecked},
          {"runs", runs}};
}

}  // namespace encore::cli
