// Reads and writes tags and notes.
#include "app/labels.hpp"

namespace encore {

namespace {

/// A word behind the first run may be meant as a tag.
SelectedRuns tagged_runs(const TagRequest& request, const App& app, Store& store) try {
  return selected_runs(app, store, selection_from(request.selection));
} catch (const UnknownRun& error) {
  const std::vector<std::string>& words = request.selection.runs;
  throw UnknownRun(error.what() +
                   (words.size() > 1 ? "; to put it on as a tag, write +" + words.back() : ""));
}

/// Asks where other notes would be lost on runs that nobody named.
bool may_replace(const NoteRequest& request, const App& app, const SelectedRuns& selected) {
  std::vector<RunRow> losing = selected.runs;
  std::erase_if(losing, [&](const RunRow& run) { return run.note.empty() || run.note == *request.text; });
  if (selected.named || losing.empty()) return true;
  constexpr std::size_t most = 30;
  return confirmed(app, request.yes,
                   "replace the notes of " + std::to_string(losing.size()) +
                       (losing.size() == 1 ? " run, " : " runs, ") + names_text(losing, most));
}

}  // namespace

Form<TagRequest> tag_form() {
  using R = TagRequest;
  return Form<R>(
             "tag",
             {"tag RUN... [+NAME] [-NAME]... [options]",
              "Puts tags on runs (+name), takes them off (-name), and prints which they have then. exp "
              "ls --tag finds them; `tags` in the experiment file puts them on at the beginning.",
              {{"exp tag quickstart +paper -draft", "one more, one less"},
               {"exp tag --state completed --where \"test/f1 >= 0.0\" +scored", "on all that were scored"}}})
      .flag("json", &R::json, "as JSON")
      .include(&R::selection, run_arguments());
}

Form<NoteRequest> note_form() {
  using R = NoteRequest;
  return Form<R>("note",
                 {"note RUN [TEXT] [options]",
                  "Writes a note on a run, in place of the one it has; without TEXT prints it. An empty "
                  "text (\"\") removes it. The first argument is the run, or several: a sweep, a pattern, "
                  "or all where an option chooses. Notes that were there on runs that were not named are "
                  "replaced only after a yes.",
                  {{"exp note quickstart \"the first one that ran on the new machine\"",
                    "exp show prints it with the run"},
                   {"exp note all --tag paper \"in table 2\" -y", "on every run with this tag"}}})
      .include(&R::selection, run_options())
      .flag("json", &R::json, "as JSON")
      .flag("yes,y", &R::yes, "do not ask")
      .argument("run", &R::run, "a run")
      .argument("text", &R::text);
}

std::vector<TaggedRun> tag(const TagRequest& request, const App& app) {
  Store store(app.database, request.changes.empty() ? OpenMode::read : OpenMode::write);
  std::vector<TaggedRun> tagged;
  for (const RunRow& run : tagged_runs(request, app, store).runs) {
    for (const TagChange& change : request.changes) store.set_tag(run.number, change.tag, change.present);
    tagged.push_back({run, store.read_tags(run.number)});
  }
  return tagged;
}

NoteResult note(const NoteRequest& request, const App& app) {
  Store store(app.database, request.text ? OpenMode::write : OpenMode::read);
  const SelectedRuns selected = selected_runs(app, store, selection_from(request.selection, {request.run}));
  NoteResult result{.runs = selected.runs};
  if (!request.text) return result;
  result.declined = !may_replace(request, app, selected);
  result.written = !result.declined;
  if (result.declined) return result;
  for (RunRow& run : result.runs) {
    store.set_note(run.number, *request.text);
    run.note = *request.text;
  }
  return result;
}

}  // namespace encore
