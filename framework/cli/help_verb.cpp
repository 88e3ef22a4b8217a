// help: the list of verbs, or the help of one.
#include <algorithm>
#include <cstring>
#include <iostream>

#include "cli/command_line.hpp"
#include "cli/verbs.hpp"
#include "config/nearest.hpp"

namespace encore {

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> list = {
      {"run", "train what an experiment file asks for and is not done yet", run_verb},
      {"plan", "show what run would do, without doing it", plan_verb},
      {"ls", "list runs with their scores", ls_verb},
      {"show", "everything about one run", show_verb},
      {"status", "what is running now", status_verb},
      {"logs", "what a run has said", logs_verb},
      {"stop", "ask a run or a sweep to checkpoint and end", stop_verb},
      {"retry", "start failed or lost runs again", retry_verb},
      {"evaluate", "score a run's best model on a file", evaluate_verb},
      {"predict", "find entities in text with a run's best model", predict_verb},
      {"plugin", "list, explain, check, make and build plugins", plugin_verb},
      {"db", "check the database, or print its path", db_verb},
      {"version", "versions of Encore and of its parts", version_verb},
      {"help", "this list, or the help of a verb", help_verb},
  };
  return list;
}

const Verb& find_verb(const std::string& name) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) {
    if (name == verb.name) return verb;
    names.emplace_back(verb.name);
  }
  throw UsageError("unknown verb \"" + name + "\"" + did_you_mean(name, names) + " (exp help lists all)");
}

int help_verb(const Arguments& arguments) {
  CommandLine line("help", {"help [VERB]",
                            "Lists the verbs, or prints the help of one.",
                            {{"exp help run", "the options of run, as exp run -h prints them"}}});
  line.positional("verb");
  if (!line.parse(arguments)) return exit_done;
  if (line.has("verb")) return find_verb(line.text("verb")).run({"-h"});

  std::cout << "exp VERB [arguments]: trains Transformer encoders and keeps the record of every run\n\n";
  std::size_t width = 0;
  for (const Verb& verb : verbs()) width = std::max(width, std::strlen(verb.name));
  for (const Verb& verb : verbs())
    std::cout << "  " << verb.name << std::string(width + 2 - std::strlen(verb.name), ' ') << verb.summary
              << '\n';
  std::cout << "\nexp VERB -h shows the options of a verb and an example.\n"
               "example: exp run experiments/quickstart.toml\n";
  return exit_done;
}

}  // namespace encore
