// SPDX-License-Identifier: BSD-3-Clause
// exp completion: prints the scripts for bash and zsh. Both call exp through a hidden first argument, which
// calls completions() of completion.cpp with the words.
#include "cli/completion.hpp"

namespace encore::cli {

namespace {

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

struct CompletionRequest {
  std::string shell;
};

app::Form<CompletionRequest> completion_form() {
  using R = CompletionRequest;
  return app::Form<R>("completion",
                      {"completion bash|zsh",
                       "Prints a script for the shell that completes verbs, actions, options and "
                       "names of runs:\n  bash: add  source <(exp completion bash)  to ~/.bashrc\n  "
                       "zsh:  add  source <(exp completion zsh) to ~/.zshrc, after compinit",
                       {{"exp completion bash", "print the script for bash"}}})
      .argument("shell", &R::shell, "bash or zsh")
      .refuse([](const R& request) -> std::string {
        if (request.shell == "bash" || request.shell == "zsh") return "";
        return "invalid shell \"" + request.shell + "\": expected bash or zsh";
      });
}

int completion_verb(const CompletionRequest& request, app::App&, Console& console) {
  console.out << (request.shell == "bash" ? bash_script : zsh_script);
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

Verb completion_verb() {
  return {.name = "completion",
          .summary = "print a script that completes commands in bash or zsh",
          .run = run_completion_verb,
          .form = [] { return completion_form(); }};
}

}  // namespace encore::cli
