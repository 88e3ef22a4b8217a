// SPDX-License-Identifier: BSD-3-Clause
// Resolves the words and options that select runs, and explains an empty selection; every verb that takes
// runs calls it. What a word means is defined in store/selection.cpp and documented in
// docs/guides/selecting_runs.md; here are only the options and the messages. Read next: run_selection.hpp.
#include "app/run_selection.hpp"

#include "base/nearest.hpp"

namespace encore::app {

namespace {

const std::vector<std::string>& state_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const store::RunState state :
         {store::RunState::pending, store::RunState::running, store::RunState::completed,
          store::RunState::failed, store::RunState::interrupted, store::RunState::lost,
          store::RunState::stopped, store::RunState::pruned})
      all.emplace_back(store::name_of(state));
    return all;
  }();
  return names;
}

store::RunState state_from(const std::string& name) {
  if (const auto state = store::run_state_from(name)) return *state;
  throw UsageError("invalid --state \"" + name + "\"" +
                   did_you_mean(name, state_names(), ": expected " + quoted_list(state_names())));
}

/// Returns the options as the user wrote them: `--state failed --tag "two words"`.
std::string options_text(const store::RunSelection& selection) {
  std::string text;
  const auto add = [&](const char* option, const std::string& value) {
    const bool plain = value.find_first_of(" \t*?()<>'\"") == std::string::npos;
    text += std::string(text.empty() ? "" : " ") + option + " " + (plain ? value : "\"" + value + "\"");
  };
  for (const store::RunState state : selection.states) add("--state", store::name_of(state));
  for (const std::string& tag : selection.tags) add("--tag", tag);
  for (const std::string& sweep : selection.sweeps) add("--sweep", sweep);
  if (!selection.where.empty()) add("--where", selection.where);
  return text;
}

std::vector<std::string> texts(store::Store& store, const std::string& sql) {
  std::vector<std::string> found;
  store::Statement& rows = store.database().cached(sql);
  while (rows.step()) found.push_back(rows.text(0));
  rows.reset();
  return found;
}

/// Returns "; there is no sweep "x"; did you mean "y"?" for the first value that the database does not have.
std::string unknown_text(const std::string& what, const std::vector<std::string>& wanted,
                         const std::vector<std::string>& known) {
  for (const std::string& value : wanted)
    if (std::find(known.begin(), known.end(), value) == known.end())
      return "; there is no " + what + " \"" + value + "\"" + did_you_mean(value, known);
  return "";
}

}  // namespace

Form<SelectionRequest> run_options() {
  using R = SelectionRequest;
  return Form<R>("", {"",
                      "RUN is a run's name, the beginning of its name or id, a sweep, a pattern such as "
                      "\"wnut*\", or all; the options below select among these runs, or among all runs "
                      "without RUN (docs/guides/selecting_runs.md).",
                      {}})
      .option("state", &R::states, "STATE", "only runs in this state (may be repeated: any of the states)")
      .option("tag", &R::tags, "TAG", "only runs with this tag (may be repeated: all of the tags)")
      .option("sweep", &R::sweeps, "NAME", "only runs of this experiment file, by its name (may be repeated)")
      .option("where", &R::where, "SQL",
              "only runs for which this condition holds, such as \"model.dropout > 0.1 AND test/loss < 0.6\"")
      .flag("promoted", &R::promoted, "replace each run by the run that exp retrain has promoted for it")
      .option("best", &R::best, "METRIC",
              "only the run with the best value, such as dev/loss or \"max dev/loss\"")
      .refuse([](const R& request) -> std::string {
        if (request.where == "") return "--where is empty";
        return request.best == "" ? "--best is empty" : "";
      });
}

Form<SelectionRequest> run_arguments() {
  return run_options().argument("run", &SelectionRequest::runs);
}

store::RunSelection selection_from(const SelectionRequest& request, std::vector<std::string> words) {
  store::RunSelection selection;
  selection.words = std::move(words);
  for (const std::string& state : request.states) selection.states.push_back(state_from(state));
  selection.tags = request.tags;
  selection.sweeps = request.sweeps;
  selection.where = request.where.value_or("");
  selection.best = request.best.value_or("");
  selection.promoted = request.promoted;
  return selection;
}

store::RunSelection selection_from(const SelectionRequest& request) {
  return selection_from(request, request.runs);
}

std::string none_text(store::Store& store, const store::RunSelection& selection,
                      const store::SelectedRuns& selected) {
  std::string words;
  for (const std::string& word : selection.words) words += (words.empty() ? "\"" : ", \"") + word + "\"";
  const std::string options = options_text(selection);
  if (!words.empty() && selected.meant == 0)
    return "no run matches " + words + " in " + store.path().string();
  if (options.empty()) return "there is no run in " + store.path().string();
  const std::string none = words.empty()         ? "no run fits "
                           : selected.meant == 1 ? words + " does not fit "
                                                 : "none of the " + std::to_string(selected.meant) +
                                                       " runs of " + words + " fits ";
  return none + options +
         unknown_text("sweep", selection.sweeps, texts(store, "SELECT DISTINCT name FROM sweep")) +
         unknown_text("tag", selection.tags, texts(store, "SELECT DISTINCT tag FROM tag"));
}

void require_choice(const App& app, const store::RunSelection& selection, const std::string& what) {
  if (selection.words.empty() && !selection.narrows())
    throw UsageError("exp " + app.verb + " needs " + what + " (exp " + app.verb + " -h shows an example)");
}

store::SelectedRuns selected_runs(const App& app, store::Store& store, const store::RunSelection& selection) {
  require_choice(app, selection,
                 "a run, a pattern, a sweep, or an option that selects runs, such as --state");
  store::SelectedRuns selected = store::select_runs(store, selection);
  if (selected.runs.empty()) throw store::UnknownRun(none_text(store, selection, selected));
  return selected;
}

store::RunRow selected_run(const App& app, store::Store& store, const store::RunSelection& selection) {
  store::SelectedRuns selected = selected_runs(app, store, selection);
  if (selected.runs.size() > 1)
    throw store::UnknownRun(
        "exp " + app.verb + " takes one run, but " + std::to_string(selected.runs.size()) +
        " are selected: " + store::names_text(selected.runs) + "; name one, or add --best dev/loss");
  return std::move(selected.runs.front());
}

bool means_run(const App& app, const std::string& word) try {
  std::error_code none;
  if (!std::filesystem::exists(app.database, none)) return false;
  store::Store store(app.database, store::OpenMode::read);
  return !store::select_runs(store, {.words = {word}}).runs.empty();
} catch (const store::UnknownRun&) {
  return false;
}

std::string state_clause(store::RunState state) {
  return state == store::RunState::failed ? "has failed" : std::string("is ") + store::name_of(state);
}

bool asks_for_one(const store::RunSelection& selection, const store::SelectedRuns& selected) {
  return !selection.best.empty() || (selected.named && selection.words.size() == 1);
}

}  // namespace encore::app
