// completion: the scripts that bash and zsh read. Both only hand the words to completion.cpp.
#include <iostream>

#include "cli/completion.hpp"

namespace encore {

namespace {

constexpr const char* request = "candidates";

// Bash cuts words at "=" and ":" too, which names of runs contain: the line is split anew at blanks, and of
// each answer only what follows the last such letter is what bash wants to hear.
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

}  // namespace

int completion_verb(const Arguments& arguments) {
  if (!arguments.empty() && arguments.front() == request) {
    for (const std::string& word : completions({arguments.begin() + 1, arguments.end()}))
      std::cout << word << '\n';
    return exit_done;
  }
  CommandLine line("completion",
                   {"completion bash|zsh",
                    "Prints a script with which the shell completes verbs, actions, options and the names of "
                    "runs:\n  bash: add  source <(exp completion bash)  to ~/.bashrc\n  zsh:  add  source "
                    "<(exp completion zsh)  to ~/.zshrc, behind compinit",
                    {{"exp completion bash", "the script for bash"}}});
  line.positional("shell");
  if (!line.parse(arguments)) return exit_done;
  const std::string shell = line.required("shell", "bash or zsh");
  if (shell != "bash" && shell != "zsh")
    throw UsageError("there is no completion for \"" + shell + "\"; there is for bash and zsh");
  std::cout << (shell == "bash" ? bash_script : zsh_script);
  return exit_done;
}

}  // namespace encore
