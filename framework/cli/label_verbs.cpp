// tag and note: what people write on runs, to find them again and to know later what they were about.
#include <algorithm>
#include <iostream>

#include "cli/access.hpp"
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
RunRow find_other(Store& store, const std::string& name) try {
  return store.find_run(name);
} catch (const UnknownRun& error) {
  throw UnknownRun(std::string(error.what()) + "; to put it on as a tag, write +" + name);
}

}  // namespace

int tag_verb(const Arguments& arguments) {
  CommandLine line("tag",
                   {"tag RUN... [+NAME] [-NAME]...",
                    "Puts tags on runs (+name), takes them off (-name), and prints which they have then. "
                    "exp ls --tag finds\nthem; `tags` in the experiment file puts them on at the beginning.",
                    {{"exp tag quickstart +paper -draft", "one more, one less"}}});
  line.positional("run", -1);
  // A word such as -draft would be taken for an option, so that these are set aside first.
  std::vector<TagChange> changes;
  Arguments rest;
  bool literal = false;
  for (const std::string& word : arguments) {
    if (word == "--" && !literal)
      literal = true;
    else if (is_tag_change(word) || (literal && word == "-h"))
      changes.push_back(tag_change(word));
    else
      rest.push_back(word);
  }
  if (!line.parse(rest)) return exit_done;
  const std::vector<std::string> names = line.required_list("run", "a run");

  Store store(line.database(), changes.empty() ? OpenMode::read : OpenMode::write);
  std::vector<RunRow> runs;
  for (const std::string& name : names)
    runs.push_back(runs.empty() ? store.find_run(name) : find_other(store, name));
  for (const RunRow& run : runs) {
    for (const TagChange& change : changes) store.set_tag(run.number, change.tag, change.present);
    std::cout << run.name << ": " << text_of(store.read_tags(run.number)) << '\n';
  }
  return exit_done;
}

int note_verb(const Arguments& arguments) {
  CommandLine line(
      "note", {"note RUN [TEXT]",
               "Writes a note on a run, in place of the one it has; without TEXT prints it. An empty text "
               "(\"\") removes it.",
               {{"exp note quickstart \"the first one that ran on the new machine\"",
                 "exp show prints it with the run"}}});
  line.positional("run");
  line.positional("text");
  if (!line.parse(arguments)) return exit_done;
  const std::string name = line.required("run", "a run");

  Store store(line.database(), line.has("text") ? OpenMode::write : OpenMode::read);
  const RunRow run = store.find_run(name);
  if (line.has("text")) {
    store.set_note(run.number, line.text("text"));
    std::cout << run.name << (line.text("text").empty() ? ": the note is removed\n" : ": noted\n");
  } else {
    std::cout << (run.note.empty() ? run.name + " has no note" : run.note) << '\n';
  }
  return exit_done;
}

}  // namespace encore
