// SPDX-License-Identifier: BSD-3-Clause
// `exp tag` and `exp note`: reads and changes the tags and notes of runs in the database. cli/label_verbs.cpp
// calls tag() and note() and prints the result. Nothing that decides a run's identity may be written here.
// Read next: labels.hpp.
#include "app/labels.hpp"

namespace encore::app {

namespace {

/// Returns the runs of a request of tag. A word after the first run may be meant as a tag, which the error
/// message says.
store::SelectedRuns tagged_runs(const TagRequest& request, const App& app, store::Store& store) try {
  return selected_runs(app, store, selection_from(request.selection));
} catch (const store::UnknownRun& error) {
  const std::vector<std::string>& words = request.selection.runs;
  throw store::UnknownRun(error.what() +
                          (words.size() > 1 ? "; write +" + words.back() + " to add it as a tag" : ""));
}

/// Asks before the notes of runs that the user did not name are replaced.
bool may_replace(const NoteRequest& request, const App& app, const store::SelectedRuns& selected) {
  std::vector<store::RunRow> losing = selected.runs;
  std::erase_if(losing,
                [&](const store::RunRow& run) { return run.note.empty() || run.note == *request.text; });
  if (selected.named || losing.empty()) return true;
  constexpr std::size_t most = 30;
  return confirmed(app, request.yes,
                   "replace the notes of " + std::to_string(losing.size()) +
                       (losing.size() == 1 ? " run, " : " runs, ") + store::names_text(losing, most));
}

}  // namespace

Form<TagRequest> tag_form() {
  using R = TagRequest;
  return Form<R>("tag", {"tag RUN... [+NAME] [-NAME]... [options]",
                         "Adds tags to runs (+name), removes tags (-name), and prints the resulting tags. "
                         "exp ls --tag finds the runs; `tags` in the experiment file sets the initial tags.",
                         {{"exp tag quickstart +paper -draft", "add one tag, remove another"},
                          {"exp tag --state completed --where \"test/f1 >= 0.0\" +scored",
                           "tag all runs with a score"}}})
      .flag("json", &R::json, "as JSON")
      .include(&R::selection, run_arguments());
}

Form<NoteRequest> note_form() {
  using R = NoteRequest;
  return Form<R>(
             "note",
             {"note RUN [TEXT] [options]",
              "Writes a note on a run and replaces the old one; without TEXT prints the note. An empty text "
              "(\"\") removes it. The first argument is a run, or several: a sweep, a pattern, or all with "
              "an option that selects. Asks before it replaces notes of runs that are not named one by one.",
              {{"exp note quickstart \"first run on the new machine\"",
                "exp show prints the note with the run"},
               {"exp note all --tag paper \"in table 2\" -y", "write it on every run with this tag"}}})
      .include(&R::selection, run_options())
      .flag("json", &R::json, "as JSON")
      .flag("yes,y", &R::yes, "do not ask")
      .argument("run", &R::run, "a run")
      .argument("text", &R::text);
}

std::vector<TaggedRun> tag(const TagRequest& request, const App& app) {
  store::Store store(app.database, request.changes.empty() ? store::OpenMode::read : store::OpenMode::write);
  std::vector<TaggedRun> tagged;
  for (const store::RunRow& run : tagged_runs(request, app, store).runs) {
    for (const TagChange& change : request.changes) store.set_tag(run.number, change.tag, change.present);
    tagged.push_back({run, store.read_tags(run.number)});
  }
  return tagged;
}

NoteResult note(const NoteRequest& request, const App& app) {
  store::Store store(app.database, request.text ? store::OpenMode::write : store::OpenMode::read);
  const store::SelectedRuns selected =
      selected_runs(app, store, selection_from(request.selection, {request.run}));
  NoteResult result{.runs = selected.runs};
  if (!request.text) return result;
  result.declined = !may_replace(request, app, selected);
  result.written = !result.declined;
  if (result.declined) return result;
  for (store::RunRow& run : result.runs) {
    store.set_note(run.number, *request.text);
    run.note = *request.text;
  }
  return result;
}

}  // namespace encore::app
