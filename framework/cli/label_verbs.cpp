// tag and note: what people write on runs, to find them again and to know later what they were about.
#include <algorithm>
#include <iostream>

#include "cli/access.hpp"
#include "cli/confirm.hpp"
#include "cli/run_selection.hpp"
#include "cli/verbs.hpp"

namespace encore {

namespace {

struct TagChange {
  std::string tag;
  bool present = false;
};

/// "+name" or "-name"; a tag of one letter "-h" is help and has to follow "--".
bool is_tag_change(const std::string& word) {
  return word.size() > 1 && (word[0] == '+' || (word[0] == '-' && word[1] != '-' && word != "-h"));
}

TagChange tag_change(const std::string& word) {
  const std::string tag = word.substr(1);
  const auto bad = [](unsigned char letter) { return letter <= ' ' || letter == 0x7f || letter == ','; };
  if (std::any_of(tag.begin(), tag.end(), bad))
    throw UsageError("\"" + tag + "\" is no tag: a tag is one word, without blanks and commas");
  return {tag, word[0] == '+'};
}

std::string text_of(const std::vector<std::string>& tags) {
  std::string text;
  for (const std::string& tag : tags) text += (text.empty() ? "" : ", ") + tag;
  return text.empty() ? "no tags" : text;
}

/// A word behind the first run may be meant as a tag.
SelectedRuns tagged_runs(const CommandLine& line, Store& store) try {
  return selected_runs(line, store, selection_from(line));
} catch (const UnknownRun& error) {
  const std::vector<std::string> words = line.texts("run");
  throw UnknownRun(error.what() +
                   (words.size() > 1 ? "; to put it on as a tag, write +" + words.back() : ""));
}

/// The value of an option, as in --where "-seconds < 0", is no tag.
bool is_option_value(const Arguments& arguments, std::size_t at) {
  return at > 0 && arguments[at - 1].starts_with("--") && arguments[at - 1].size() > 2 &&
         arguments[at - 1].find('=') == std::string::npos;
}

int print_notes(const std::vector<RunRow>& runs) {
  for (const RunRow& run : runs)
    std::cout << (runs.size() > 1 && !run.note.empty() ? run.name + ": " : "")
              << (run.note.empty() ? run.name + " has no note" : run.note) << '\n';
  return exit_done;
}

/// Asks where other notes would be lost on runs that nobody named.
bool may_replace(const CommandLine& line, const SelectedRuns& selected, const std::string& text) {
  std::vector<RunRow> losing = selected.runs;
  std::erase_if(losing, [&](const RunRow& run) { return run.note.empty() || run.note == text; });
  if (selected.named || losing.empty()) return true;
  constexpr std::size_t most = 30;
  return confirm(line, "replace the notes of " + std::to_string(losing.size()) +
                           (losing.size() == 1 ? " run, " : " runs, ") + names_text(losing, most));
}

}  // namespace

int tag_verb(const Arguments& arguments) {
  CommandLine line(
      "tag", {"tag RUN... [+NAME] [-NAME]... [options]",
              "Puts tags on runs (+name), takes them off (-name), and prints which they have then. exp ls "
              "--tag finds them; `tags` in the experiment file puts them on at the beginning.",
              {{"exp tag quickstart +paper -draft", "one more, one less"},
               {"exp tag --state completed --where \"test/f1 >= 0.0\" +scored", "on all that were scored"}}});
  add_run_arguments(line);
  // A word such as -draft would be taken for an option, so that these are set aside first.
  std::vector<TagChange> changes;
  Arguments rest;
  bool literal = false;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const std::string& word = arguments[at];
    if (word == "--" && !literal)
      literal = true;
    else if ((is_tag_change(word) && !is_option_value(arguments, at)) || (literal && word == "-h"))
      changes.push_back(tag_change(word));
    else
      rest.push_back(word);
  }
  if (!line.parse(rest)) return exit_done;

  Store store(line.database(), changes.empty() ? OpenMode::read : OpenMode::write);
  for (const RunRow& run : tagged_runs(line, store).runs) {
    for (const TagChange& change : changes) store.set_tag(run.number, change.tag, change.present);
    std::cout << run.name << ": " << text_of(store.read_tags(run.number)) << '\n';
  }
  return exit_done;
}

int note_verb(const Arguments& arguments) {
  CommandLine line(
      "note",
      {"note RUN [TEXT] [options]",
       "Writes a note on a run, in place of the one it has; without TEXT prints it. An empty text (\"\") "
       "removes it. The first argument is the run, or several: a sweep, a pattern, or all where an option "
       "chooses. Notes that were there on runs that were not named are replaced only after a yes.",
       {{"exp note quickstart \"the first one that ran on the new machine\"",
         "exp show prints it with the run"},
        {"exp note all --tag paper \"in table 2\" -y", "on every run with this tag"}}});
  add_run_options(line);
  add_yes_option(line);
  line.positional("run");
  line.positional("text");
  if (!line.parse(arguments)) return exit_done;
  const RunSelection selection = selection_from(line, {line.required("run", "a run")});

  Store store(line.database(), line.has("text") ? OpenMode::write : OpenMode::read);
  const SelectedRuns selected = selected_runs(line, store, selection);
  if (!line.has("text")) return print_notes(selected.runs);
  const std::string text = line.text("text");
  if (!may_replace(line, selected, text)) return exit_done;
  for (const RunRow& run : selected.runs) {
    store.set_note(run.number, text);
    std::cout << run.name << (text.empty() ? ": the note is removed\n" : ": noted\n");
  }
  return exit_done;
}

}  // namespace encore
