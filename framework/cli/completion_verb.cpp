// SPDX-License-Identifier: BSD-3-Clause
// exp completion: prints the scripts for bash, zsh and fish, and completes command lines for them
// (completions()) from the forms of the verbs and from names in the database. The scripts call `exp
// completion candidates WORD...`, a contract with scripts that users have installed. While it completes, it
// must print nothing else, even if it fails. help_verb.cpp lists the verb.
#include <algorithm>
#include <cstdlib>
#include <optional>

#include "cli/verbs.hpp"
#include "store/run_columns.hpp"
#include "store/store.hpp"

namespace encore::cli {

namespace {

// --- the words at a place of a command line ---

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

/// Returns the names of present or removed runs, and of their sweeps.
Words names_of_runs(store::Sight sight, const Words& words) {
  const std::string chosen = store::condition_of(sight);
  return ask_database(
      words, "SELECT * FROM (SELECT name FROM run WHERE " + chosen +
                 " ORDER BY number DESC LIMIT 1000) UNION SELECT name FROM sweep WHERE EXISTS "
                 "(SELECT 1 FROM run WHERE (run.sweep = sweep.number OR run.number IN (SELECT run FROM "
                 "sweep_run WHERE sweep_run.sweep = sweep.number)) AND " +
                 chosen + ")");
}

Words values_of(const app::FormField& option, const Words& words) {
  const std::string name = "--" + option.name;
  if (name == "--backend") return {"openmp", "serial", "cuda", "hip"};
  if (name == "--state")
    return {"pending", "running", "completed", "failed", "interrupted", "lost", "stopped", "pruned"};
  if (name == "--method") return {"ranks", "vectors", "weighted", "words"};
  if (name == "--model") return names_of_runs(store::Sight::present, words);
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
  return names_of_runs(verb.name == "undelete" ? store::Sight::removed : store::Sight::present, words);
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

// --- the verb ---

constexpr const char* candidates_word = "candidates";

// Bash also splits words at "=" and ":", which names of runs contain. The script splits the line again at
// blanks, and returns only the part of each answer after the last such character.
constexpr const char* bash_script = R"script(# completion of exp for bash: source <(exp completion bash)
_encore_exp() {
  local line=${COMP_LINE:0:COMP_POINT} cut= breaks= IFS=$' \t\n'
  local -a words
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  local typed=${words[${#words[@]}-1]}
  [[ $COMP_WORDBREAKS == *=* ]] && breaks+="="
  [[ $COMP_WORDBREAKS == *:* ]] && breaks+=":"
  [[ -n $breaks ]] && cut=${typed%"${typed##*[$breaks]}"}
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("${line#"$cut"}")
  done < <("${words[0]}" completion candidates "${words[@]:1}" 2>/dev/null)
}
complete -o bashdefault -o default -F _encore_exp exp ./exp
)script";

constexpr const char* zsh_script = R"script(#compdef exp
# completion of exp for zsh: source <(exp completion zsh), behind compinit
_encore_exp() {
  local -a found
  found=("${(@f)$("${words[1]}" completion candidates "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n ${found[1]} ]]; then compadd -a found; else _files; fi
}
compdef _encore_exp exp ./exp
)script";

constexpr const char* fish_script = R"script(# completion of exp for fish: exp completion fish | source
function __encore_exp
    set -l words (commandline -opc) (commandline -ct)
    $words[1] completion candidates $words[2..-1] 2>/dev/null
end
complete -c exp -a '(__encore_exp)'
)script";

/// Returns the script for a shell, or null for a shell that has none.
const char* script_for(const std::string& shell) {
  return shell == "bash"   ? bash_script
         : shell == "zsh"  ? zsh_script
         : shell == "fish" ? fish_script
                           : nullptr;
}

struct CompletionRequest {
  std::string shell;
};

app::Form<CompletionRequest> completion_form() {
  using R = CompletionRequest;
  return app::Form<R>("completion",
                      {"completion bash|zsh|fish",
                       "Prints a script for the shell that completes verbs, actions, options and "
                       "names of runs:\n  bash: add  source <(exp completion bash)  to ~/.bashrc\n  "
                       "zsh:  add  source <(exp completion zsh) to ~/.zshrc, after compinit\n  "
                       "fish: add  exp completion fish | source  to ~/.config/fish/config.fish",
                       {{"exp completion bash", "print the script for bash"}}})
      .argument("shell", &R::shell, "bash, zsh or fish")
      .refuse([](const R& request) -> std::string {
        if (script_for(request.shell) != nullptr) return "";
        return "invalid shell \"" + request.shell + "\": expected bash, zsh or fish";
      });
}

int completion_verb(const CompletionRequest& request, app::App&, Console& console) {
  console.out << script_for(request.shell);
  return exit_done;
}

int run_completion_verb(const Arguments& arguments, Console& console) {
  if (arguments.empty() || arguments.front() != candidates_word)
    return run_bound(completion_form(), arguments, console, completion_verb);
  for (const std::string& word : completions({arguments.begin() + 1, arguments.end()}))
    console.out << word << '\n';
  return exit_done;
}

}  // namespace

std::vector<std::string> completions(const std::vector<std::string>& words) {
  if (words.empty()) return {};
  Words found = candidates(words);
  std::erase_if(found, [&](const std::string& word) { return !word.starts_with(words.back()); });
  std::sort(found.begin(), found.end());
  return found;
}

Verb completion_verb() {
  return {.name = "completion",
          .summary = "print a script that completes commands in bash, zsh or fish",
          .run = run_completion_verb,
          .form = [] { return completion_form(); }};
}

}  // namespace encore::cli
