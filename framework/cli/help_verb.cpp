// help: the list of verbs, or the help of one.
#include <algorithm>
#include <cstring>
#include <iostream>

#include "base/nearest.hpp"
#include "cli/command_line.hpp"
#include "cli/db_verb.hpp"
#include "cli/plugin_verb.hpp"
#include "cli/verbs.hpp"
#include "cli/wrapped_text.hpp"

namespace encore {

namespace {

void print_list(const std::vector<Verb>& list) {
  std::size_t width = 0;
  for (const Verb& verb : list) width = std::max(width, std::strlen(verb.name));
  for (const Verb& verb : list)
    std::cout << wrapped(std::string("  ") + verb.name +
                             std::string(width + 2 - std::strlen(verb.name), ' ') + verb.summary,
                         help_width(), static_cast<int>(width) + 2)
              << '\n';
}

}  // namespace

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
      {"verify", "train a run again and compare it bit by bit", verify_verb, nullptr, "exp-report"},
      {"diff", "where two runs differ", diff_verb},
      {"compare", "intervals and tests over the seeds of several candidates", compare_verb, nullptr,
       "exp-report"},
      {"report", "a document about a run, a sweep or everything", report_verb, nullptr, "exp-report"},
      {"bundle", "runs with all that proves them as one file, and what is in such a file", bundle_verb,
       nullptr, "exp-report"},
      {"explain", "why a run is one of its own, or why a file's runs would be done", explain_verb},
      {"tag", "put tags on a run, or take them off", tag_verb},
      {"note", "write down what a run is about", note_verb},
      {"rm", "take runs out of sight, or remove them for good", rm_verb},
      {"undelete", "bring back runs that rm took out of sight", undelete_verb},
      {"evaluate", "score a run's best model on a file", evaluate_verb},
      {"predict", "ask a run's best model about text", predict_verb},
      {"generate", "have a run's best model write texts", generate_verb},
      {"attention", "show what the attention of a run's best model looks at", attention_verb, nullptr,
       "exp-report"},
      {"embed", "vectors of texts and words, and what is nearest to them", embed_verb},
      {"serve", "answer requests over HTTP with the best models of runs", serve_verb, nullptr, "exp-serve"},
      {"monitor", "how the texts that a served model gets differ from those it was trained for", monitor_verb,
       nullptr, "exp-serve"},
      {"retrain", "train a run again on more data, and promote it if it is better", retrain_verb},
      {"quantize", "write a run's weights as 8-bit integers", quantize_verb},
      {"export", "write a run's best model as a folder for other programs", export_verb, nullptr,
       "exp-report"},
      {"import", "make a run of a model from elsewhere, without training", import_verb},
      {"bench", "measure this machine and a step of an experiment on it", bench_verb, nullptr, "exp-bench"},
      {"query", "ask the database in SQL", query_verb},
      {"dump", "write runs as CSV, JSON or TensorBoard files", dump_verb},
      {"plugin", "list, explain, check, make and build plugins", plugin_verb, plugin_actions},
      {"db", "check, back up, shrink or upgrade the database", db_verb, db_actions},
      {"doctor", "what this machine has and lacks, and what to do about it", doctor_verb},
      {"gc", "remove checkpoints and leftovers that nothing needs", gc_verb},
      {"completion", "a script that completes commands in bash or zsh", completion_verb},
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

int run_action(const Verb& verb, const std::string& purpose, const Arguments& arguments) {
  const std::string name = std::string("exp ") + verb.name;
  const std::vector<Verb>& actions = verb.actions();
  if (arguments.empty() || arguments.front() == "-h" || arguments.front() == "--help") {
    std::cout << wrapped(name + " ACTION [arguments]: " + purpose, help_width()) << "\n\n";
    print_list(actions);
    std::cout << '\n'
              << wrapped(name + " ACTION -h shows the options of an action and an example.", help_width())
              << "\nexample: " << name << ' ' << actions.front().name << '\n';
    return arguments.empty() ? exit_usage : exit_done;
  }
  std::vector<std::string> names;
  for (const Verb& action : actions) {
    if (arguments.front() == action.name) return action.run({arguments.begin() + 1, arguments.end()});
    names.emplace_back(action.name);
  }
  throw UsageError(name + " has no \"" + arguments.front() + "\"" + did_you_mean(arguments.front(), names) +
                   " (" + name + " -h lists all)");
}

int help_verb(const Arguments& arguments) {
  CommandLine line("help", {"help [VERB]",
                            "Lists the verbs, or prints the help of one.",
                            {{"exp help run", "the options of run, as exp run -h prints them"}}});
  line.positional("verb");
  if (!line.parse(arguments)) return exit_done;
  if (line.has("verb")) return find_verb(line.text("verb")).run({"-h"});

  std::cout << wrapped("exp VERB [arguments]: trains Transformers and keeps the record of every run",
                       help_width())
            << "\n\n";
  print_list(verbs());
  std::cout << '\n'
            << wrapped("exp VERB -h shows the options of a verb and an example.", help_width())
            << "\nexample: exp run experiments/quickstart.toml\n";
  return exit_done;
}

}  // namespace encore
