// SPDX-License-Identifier: BSD-3-Clause
// exp tag and exp note: print the tags and notes of runs. app/labels.cpp changes them; help_verb.cpp lists
// the verbs. This file also separates tags such as -draft from options, before the form reads the words.
// Programs read the JSON: members keep their names.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "app/labels.hpp"
#include "cli/verbs.hpp"

namespace encore::cli {

namespace {

/// Returns whether a word is "+name" or "-name". The word "-h" means help, so removing the tag "h" needs "--"
/// before it.
bool is_tag_change(const std::string& word) {
  return word.size() > 1 && (word[0] == '+' || (word[0] == '-' && word[1] != '-' && word != "-h"));
}

app::TagChange tag_change(const std::string& word) {
  const std::string tag = word.substr(1);
  const auto bad = [](unsigned char letter) { return letter <= ' ' || letter == 0x7f || letter == ','; };
  if (std::any_of(tag.begin(), tag.end(), bad))
    throw app::UsageError("invalid tag \"" + tag + "\": expected one word without blanks and commas");
  return {tag, word[0] == '+'};
}

/// Returns whether a word is the value of an option, as in --where "-seconds < 0", and so not a tag.
bool is_option_value(const Arguments& arguments, std::size_t at) {
  return at > 0 && arguments[at - 1].starts_with("--") && arguments[at - 1].size() > 2 &&
         arguments[at - 1].find('=') == std::string::npos;
}

std::string listed_tags(const std::vector<std::string>& tags) {
  std::string text;
  for (const std::string& tag : tags) text += (text.empty() ? "" : ", ") + tag;
  return text.empty() ? "no tags" : text;
}

int tag_verb(const app::TagRequest& request, app::App& app, Console& console) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const app::TaggedRun& one : app::tag(request, app))
    if (request.json)
      list.push_back({{"name", one.run.name}, {"id", one.run.id}, {"tags", one.tags}});
    else
      console.out << one.run.name << ": " << listed_tags(one.tags) << '\n';
  if (request.json) console.print({{"version", 1}, {"runs", list}});
  return exit_done;
}

/// Runs exp tag. It removes words such as -draft before the form is read, because they would be read as
/// options.
int run_tag_verb(const Arguments& arguments, Console& console) {
  std::vector<app::TagChange> changes;
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
  return run_bound(app::tag_form(), rest, console, [&](app::TagRequest& request, app::App& app, Console&) {
    request.changes = changes;
    return tag_verb(request, app, console);
  });
}

int note_verb(const app::NoteRequest& request, app::App& app, Console& console) {
  const app::NoteResult result = app::note(request, app);
  if (result.declined) {
    console.out << "nothing was done\n";
    return exit_done;
  }
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const store::RunRow& run : result.runs) {
    if (request.json)
      list.push_back({{"name", run.name}, {"id", run.id}, {"note", run.note}});
    else if (result.written)
      console.out << run.name << (run.note.empty() ? ": the note is removed\n" : ": noted\n");
    else
      console.out << (result.runs.size() > 1 && !run.note.empty() ? run.name + ": " : "")
                  << (run.note.empty() ? run.name + " has no note" : run.note) << '\n';
  }
  if (request.json) console.print({{"version", 1}, {"runs", list}});
  return exit_done;
}

}  // namespace

Verb tag_verb() {
  return {.name = "tag", .summary = "add tags to a run, or remove them", .run = run_tag_verb, .form = [] {
            return app::tag_form();
          }};
}

Verb note_verb() {
  return make_verb("note", "write or print the note of a run", app::note_form, note_verb);
}

}  // namespace encore::cli
