// SPDX-License-Identifier: BSD-3-Clause
// Completes a command line with names of verbs, options, and values from the database. completion_verb.cpp
// calls it for a shell. It must print nothing else, even if it fails. Read next: completion.hpp.
#include "cli/completion.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "store/run_columns.hpp"
#include "store/store.hpp"

namespace encore::cli {

namespace {

using Words = std::vector<std::string>;

const Verb* find(const std::vector<Verb>& list, const std::string& name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Verb& verb) { return name == verb.name; });
  return found == list.end() ? nullptr : &*found;
}

Words names_of(const std::vector<Verb>& list) {
  Words names;
  for (const Verb& verb : list) names.push_back(verb.name);
  return names;
}

Words spellings(const app::FormField& option) {
  Words all = {"--" + option.name};
  if (!option.letter.empty()) all.push_back("-" + option.letter);
  return all;
}

const app::FormField* find_option(const std::vector<app::FormField>& fields, const std::string& word) {
  for (const app::FormField& field : fields)
    if (!field.is_argument &&
        (word == "--" + field.name || (!field.letter.empty() && word == "-" + field.letter)))
      return &field;
  return nullptr;
}

/// Returns the result of `ask(store)` for the database of the words or the environment. Returns nothing if it
/// cannot be read, because completion must not print messages.
template <class Ask>
Words ask_store(const Words& words, const Ask& ask) {
  const char* variable = std::getenv("ENCORE_DB");
  std::string path = variable != nullptr && *variable != '\0' ? variable : "encore.db";
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "--db") path = words[i + 1];
    if (words[i].starts_with("--db=")) path = words[i].substr(5);
  }
  try {
    store::Store store(path, store::OpenMode::read, std::chrono::milliseconds(200));
    return ask(store);
  } catch (const Error&) {
    return {};
  }
}

/// Returns the first column of a query.
Words ask_database(const Words& words, const std::string& sql) {
  return ask_store(words, [&](store::Store& store) {
    Words found;
    store::Statement rows(store.database(), sql);
    while (rows.step()) found.push_back(rows.text(0));
    return found;
  });
}

Words values_of(const app::FormField& option, const Words& words) {
  const std::string name = "--" + option.name;
  if (name == "--backend") return {"openmp", "cuda", "hip"};
  if (name == "--state")
    return {"pending", "running", "completed", "failed", "interrupted", "lost", "stopped", "pruned"};
  if (name == "--tag") return ask_database(words, "SELECT DISTINCT tag FROM tag");
  if (name == "--sweep") return ask_database(words, "SELECT DISTINCT name FROM sweep");
  if (name == "--best")
    return ask_store(words, [](store::Store& store) { return store::RunColumns(store).measures(); });
  if (name == "--where" || name == "--sort" || name == "--column")
    return ask_store(words, [](store::Store& store) { return store::RunColumns(store).names(); });
  return {};
}

Words positional_values(const std::string& name, const Verb& verb, const Words& words) {
  if (name == "verb") return names_of(verbs());
  if (name == "shell") return {"bash", "zsh"};
  if (name != "run") return {};
  const bool removed = verb.name == "undelete";
  const std::string chosen = store::condition_of(removed ? store::Sight::removed : store::Sight::present);
  return ask_database(
      words, "SELECT * FROM (SELECT name FROM run WHERE " + chosen +
                 " ORDER BY number DESC LIMIT 1000) UNION SELECT name FROM sweep WHERE EXISTS "
                 "(SELECT 1 FROM run WHERE (run.sweep = sweep.number OR run.number IN (SELECT run FROM "
                 "sweep_run WHERE sweep_run.sweep = sweep.number)) AND " +
                 chosen + ")");
}

/// Completes the last word as an option, as the value of the option before it, or as an argument.
Words next_of(const Verb& verb, const Words& words, std::size_t begin) {
  const app::FormFields form = verb.form();
  const std::vector<app::FormField> fields = fields_of(form);
  std::size_t position = 0;
  const app::FormField* waiting = nullptr;  // for its value
  for (std::size_t i = begin; i + 1 < words.size(); ++i) {
    const app::FormField* const option = waiting != nullptr ? nullptr : find_option(fields, words[i]);
    if (waiting == nullptr && option == nullptr && !words[i].starts_with("-")) ++position;
    waiting = option != nullptr && !option->value.empty() ? option : nullptr;
  }
  if (waiting != nullptr) return values_of(*waiting, words);
  Words names;
  std::vector<const app::FormField*> arguments;
  for (const app::FormField& field : fields)
    if (field.is_argument)
      arguments.push_back(&field);
    else
      for (std::string& name : spellings(field)) names.push_back(std::move(name));
  if (words.back().starts_with("-")) return names;
  if (arguments.empty() || (position >= arguments.size() && !form.repeats(*arguments.back()))) return {};
  return positional_values(arguments[std::min(position, arguments.size() - 1)]->name, verb, words);
}

Words candidates(const Words& words) {
  if (words.size() == 1) return names_of(verbs());
  const Verb* verb = find(verbs(), words.front());
  if (verb == nullptr) return {};
  if (verb->actions.empty()) return next_of(*verb, words, 1);
  if (words.size() == 2) return names_of(verb->actions);
  verb = find(verb->actions, words[1]);
  return verb == nullptr ? Words() : next_of(*verb, words, 2);
}

}  // namespace

std::vector<std::string> completions(const std::vector<std::string>& words) {
  if (words.empty()) return {};
  Words found = candidates(words);
  std::erase_if(found, [&](const std::string& word) { return !word.starts_with(words.back()); });
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace encore::cli
