// explain: why a run is one of its own, or why each run of an experiment file would be done or left alone.
#include <iostream>
#include <set>

#include <nlohmann/json.hpp>

#include "analysis/nearest_run.hpp"
#include "cli/access.hpp"
#include "cli/difference_text.hpp"
#include "cli/format.hpp"
#include "cli/plan_comparison.hpp"
#include "cli/planned_runs.hpp"
#include "cli/run_selection.hpp"
#include "cli/run_summary.hpp"
#include "cli/verbs.hpp"

namespace encore {

namespace {

using Json = nlohmann::ordered_json;

/// A run, the one that asks most nearly the same, and what tells them apart.
struct Explained {
  std::string name;
  std::string action;  ///< empty for a run that is stored
  std::string reason;
  std::string starts_from = {};  ///< the name of the run whose weights it begins with; empty: none
  std::string learns_from = {};  ///< the name of its teacher; empty: none
  std::optional<RunRow> nearest = {};
  std::size_t replicates = 0;          ///< runs that differ from it in the seed alone
  std::vector<Difference> found = {};  ///< the nearest run's value first
};

// --- a stored run ---

/// Where no stored field differs, a version or the rules of identity must.
std::string apart_without_a_field(Store& store, const RunRow& run, const RunRow& nearest) {
  if (run.question == nearest.question)
    return "it asks the same as " + nearest.name + ": a repeat, trained afresh (--fresh)";
  std::string text = "no stored field differs from " + nearest.name +
                     ": a type it uses has another version, or a default has changed";
  const auto plugins_of = [&](const RunRow& row) {
    const std::vector<AttemptRow> attempts = store.read_attempts(row.number);
    return attempts.empty() ? std::vector<PluginRow>() : attempts.back().plugins;
  };
  for (const PluginRow& one : plugins_of(run))
    for (const PluginRow& other : plugins_of(nearest))
      if (one.name == other.name && one.version != other.version)
        text += "; plugin " + one.name + " was " + other.version + " and is " + one.version;
  return text;
}

std::string fields_text(std::size_t count) {
  return count == 1 ? "one field" : std::to_string(count) + " fields";
}

Explained explain_stored(Store& store, const RunRow& run) {
  Explained explained{run.name, "", ""};
  if (const auto parent = store.read_parent(run))
    explained.starts_from = parent->run ? parent->run->name : parent->experiment;
  if (const auto teacher = store.read_parent(run, Need::teacher))
    explained.learns_from = teacher->run ? teacher->run->name : teacher->experiment;
  const Facts question = question_facts(store, run);
  // Replicates are apart by their seed, which says little: another question is looked for first.
  std::set<std::int64_t> replicates;
  for (const RunRow& other : store.list_runs())
    if (other.group == run.group && other.question != run.question) replicates.insert(other.number);
  explained.replicates = replicates.size();
  const NearestRun runs(store);
  replicates.insert(run.number);
  auto nearest = runs.find(question, replicates);
  if (!nearest) nearest = runs.find(question, {run.number});
  if (!nearest) {
    explained.reason = "it is the only run of this database";
    return explained;
  }
  explained.nearest = store.read_run(*nearest);
  explained.found = differences(question_facts(store, *explained.nearest), question);
  explained.reason =
      explained.found.empty()
          ? apart_without_a_field(store, run, *explained.nearest)
          : fields_text(explained.found.size()) + " apart from the nearest " +
                (explained.nearest->group == run.group ? "other run, " : "run of another group, ") +
                explained.nearest->name + " (" + explained.nearest->id + ")";
  return explained;
}

// --- a planned run ---

std::string because(const std::string& reason) {
  return reason.empty() ? "" : " (" + reason + ")";
}

std::string reason_of(Store& store, const PlannedRun& run) {
  if (run.action == Action::leave && run.parent_file)
    return "no run that is to do reads its weights any more";
  if (!run.before) return run.action == Action::leave ? "--changed trains nothing new" : "";
  const RunRow& before = *run.before;
  const std::string known = before.name + " (" + before.id + ") asked the same";
  if (run.new_repeat)
    return known + (run.changed_plugins.empty() ? "; --fresh trains it again beside the old one"
                                                : "; " + run.changed_plugins.front().text() +
                                                      ", so it is trained again beside the old one");
  std::string text;
  switch (run.action) {
    case Action::skip:
      text = known + " and is complete since " + time_text(before.finished.value_or(before.created));
      break;
    case Action::elsewhere:
      text = known + "; " + place_text(before.holder) + " works on it now";
      break;
    case Action::start:
      text = known + " and was never begun";
      break;
    case Action::leave:
      text = known + "; none of its plugin files has changed";
      break;
    case Action::resume:
    case Action::retry:
      text = known + " and " + state_clause(before.state) + because(before.reason) + "; " +
             resume_text(store, before.id);
      break;
  }
  for (const PluginChange& change : run.changed_plugins)
    text += "; " + change.text() +
            (run.goes_on() ? ", so it needs --accept-plugin-change or --fresh" : ", which does not count");
  if (!run.other_build.empty()) text += "; it came from another build: " + run.other_build;
  return text;
}

std::vector<Explained> explain_planned(Store* store, const PlannedRuns& planned) {
  std::vector<Explained> all;
  std::optional<NearestRun> nearest_run;
  for (const PlannedRun& run : planned.runs) {
    Explained& explained = all.emplace_back();
    explained.name = run.name();
    explained.action = name_of(run.action);
    explained.starts_from = run.starts_from;
    explained.learns_from = run.learns_from;
    if (store == nullptr) {
      explained.reason = "there is no database yet";
      continue;
    }
    explained.reason = reason_of(*store, run);
    if (run.before) continue;
    if (!nearest_run) nearest_run.emplace(*store);
    const Facts question = question_facts(run.specification);
    const auto nearest = nearest_run->find(question);
    if (!nearest) {
      explained.reason = "the database holds no run yet";
      continue;
    }
    explained.nearest = store->read_run(*nearest);
    explained.found = differences(question_facts(*store, *explained.nearest), question);
    explained.reason = explained.found.empty()
                           ? apart_without_a_field(*store, {}, *explained.nearest)
                           : "nobody asked this before; the nearest run, " + explained.nearest->name + " (" +
                                 explained.nearest->id + "), is " + fields_text(explained.found.size()) +
                                 " apart";
  }
  return all;
}

// --- what is printed ---

Json json_of(const Explained& explained) {
  return {{"name", explained.name},
          {"action", explained.action.empty() ? Json() : Json(explained.action)},
          {"reason", explained.reason},
          {"starts_from", explained.starts_from.empty() ? Json() : Json(explained.starts_from)},
          {"learns_from", explained.learns_from.empty() ? Json() : Json(explained.learns_from)},
          {"nearest", explained.nearest ? Json(explained.nearest->name) : Json()},
          {"nearest_id", explained.nearest ? Json(explained.nearest->id) : Json()},
          {"differences", differences_json(explained.found)}};
}

void print(const Explained& explained, const std::string& this_one) {
  std::cout << explained.reason
            << (explained.starts_from.empty() ? "" : "; it starts from " + explained.starts_from)
            << (explained.learns_from.empty() ? "" : "; it learns from " + explained.learns_from) << '\n';
  if (!explained.found.empty())
    print_differences(std::cout, terminal_of(stdout), explained.found, explained.nearest->name, this_one, 2);
}

Json json_of(const RunRow& run, const Explained& explained) {
  Json json = json_of(explained);
  json["id"] = run.id;
  json["question"] = run.question;
  json["group"] = run.group;
  json["backend"] = run.backend;
  json["repeat"] = run.repeat;
  json["replicates"] = explained.replicates;
  json["state"] = name_of(run.state);
  return json;
}

void print(const RunRow& run, const Explained& explained) {
  std::cout << run.name << " (" << run.id << ") " << name_of(run.state) << because(run.reason) << '\n'
            << "  question    " << run.question << '\n'
            << "  group       " << run.group << "  (the question without the seed)\n"
            << "  seed        " << run.seed << ", backend " << run.backend << ", repeat " << run.repeat
            << '\n'
            << "  replicates  " << explained.replicates << " (runs with another seed and all else equal)\n";
  print(explained, run.name);
}

int explain_runs(const CommandLine& line, const RunSelection& selection) {
  Store store(line.database(), OpenMode::read);
  const SelectedRuns selected = selected_runs(line, store, selection);
  Json list = Json::array();
  for (const RunRow& run : selected.runs) {
    const Explained explained = explain_stored(store, run);
    if (line.flag("json")) {
      list.push_back(json_of(run, explained));
      continue;
    }
    if (&run != &selected.runs.front()) std::cout << '\n';
    print(run, explained);
  }
  if (line.flag("json"))
    std::cout << (asks_for_one(selection, selected) ? list.front() : list).dump(2) << '\n';
  return exit_done;
}

int explain_file(const CommandLine& line) {
  PlannedRuns planned = read_plan(line);
  std::optional<Store> store;
  if (std::filesystem::exists(line.database())) {
    store.emplace(line.database(), OpenMode::read);
    compare_with(*store, planned);
  }
  const std::vector<Explained> all = explain_planned(store ? &*store : nullptr, planned);
  if (line.flag("json")) {
    Json list = Json::array();
    for (const Explained& explained : all) list.push_back(json_of(explained));
    std::cout << Json{{"file", planned.file.string()}, {"backend", planned.backend}, {"runs", list}}.dump(2)
              << '\n';
    return exit_done;
  }
  for (const Explained& explained : all) {
    std::cout << styled(terminal_of(stdout), Style::bold, explained.name) << "  " << explained.action << ": ";
    print(explained, "this file");
  }
  return exit_done;
}

bool names_a_file(const CommandLine& line, const std::string& text) {
  std::error_code ignored;
  if (text.ends_with(".toml")) return true;
  return std::filesystem::is_regular_file(text, ignored) &&
         (text.find('/') != std::string::npos || !means_run(line, text));
}

}  // namespace

int explain_verb(const Arguments& arguments) {
  CommandLine line(
      "explain",
      {"explain RUN...|FILE [-S key=value]... [options]",
       "Of a run: its question, and field by field what tells it from the nearest other run. Of an "
       "experiment file (a name that ends in .toml, or a file; ./NAME where a run is called so): for each of "
       "its runs why exp run would start "
       "it, go on with it, or leave it alone; of one that was never asked before, what tells it from the "
       "nearest stored run. Nothing is written.",
       {{"exp explain quickstart", "what is particular about this run"},
        {"exp explain experiments/quickstart.toml -S model.dropout=0.2", "why this would be another run"}}});
  add_plan_options(line);
  line.options()("json", boost::program_options::bool_switch(),
                 "as JSON; a list where several runs are meant");
  add_run_options(line);
  line.positional("run", -1);  // behind the first word
  if (!line.parse(arguments)) return exit_done;

  std::vector<std::string> words = line.texts("run");
  if (line.has("file")) words.insert(words.begin(), line.text("file"));
  const RunSelection selection = selection_from(line, words);
  if (words.empty() && !selection.narrows()) line.require("file", "a run or an experiment file");
  if (words.empty() || !names_a_file(line, words.front())) return explain_runs(line, selection);
  if (words.size() > 1 || selection.narrows())
    throw UsageError("\"" + words.front() +
                     "\" is an experiment file; it stands alone, and without options that "
                     "choose among runs of the database");
  return explain_file(line);
}

}  // namespace encore
