// SPDX-License-Identifier: BSD-3-Clause
// exp help: prints the list of verbs, or the help of one. verbs() is defined here: main.cpp, help and
// completion find every verb in it, and a new verb is added to it, at the place where users should meet it.
// Names of verbs never change, because scripts call them.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/nearest.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"

namespace encore::cli {

namespace {

struct HelpRequest {
  std::string verb;
  bool json = false;
};

app::Form<HelpRequest> help_form() {
  using R = HelpRequest;
  return app::Form<R>("help", {"help [VERB]",
                               "Lists the verbs, or prints the help of one.",
                               {{"exp help run", "print the options of run, like exp run -h"}}})
      .argument("verb", &R::verb)
      .flag("json", &R::json, "print the list as JSON");
}

void print_list(const std::vector<Verb>& list, Console& console) {
  std::size_t width = 0;
  for (const Verb& verb : list) width = std::max(width, verb.name.size());
  for (const Verb& verb : list)
    console.out << wrapped("  " + verb.name + std::string(width + 2 - verb.name.size(), ' ') + verb.summary,
                           help_width(console.terminal), static_cast<int>(width) + 2)
                << '\n';
}

nlohmann::ordered_json json_of(const std::vector<Verb>& list) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Verb& verb : list) {
    json.push_back({{"name", verb.name}, {"summary", verb.summary}});
    if (!verb.actions.empty()) json.back()["actions"] = json_of(verb.actions);
  }
  return json;
}

int help_verb(const HelpRequest& request, app::App&, Console& console) {
  if (!request.verb.empty()) return find_verb(request.verb).run({"-h"}, console);
  if (request.json) {
    console.print({{"version", 1}, {"verbs", json_of(verbs())}});
    return exit_done;
  }
  const int width = help_width(console.terminal);
  console.out << wrapped("exp VERB [arguments]: trains Transformers and records every run", width) << "\n\n";
  print_list(verbs(), console);
  console.out << '\n'
              << wrapped("exp VERB -h shows the options of a verb and an example.", width)
              << "\nexample: exp run experiments/quickstart.toml\n";
  return exit_done;
}

}  // namespace

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> list = {
      run_verb(),      plan_verb(),    ls_verb(),       show_verb(),      status_verb(),     logs_verb(),
      stop_verb(),     retry_verb(),   verify_verb(),   diff_verb(),      compare_verb(),    report_verb(),
      bundle_verb(),   explain_verb(), tag_verb(),      note_verb(),      rm_verb(),         undelete_verb(),
      evaluate_verb(), predict_verb(), generate_verb(), attention_verb(), embed_verb(),      serve_verb(),
      monitor_verb(),  review_verb(),  index_verb(),    text_verb(),      retrain_verb(),    quantize_verb(),
      export_verb(),   import_verb(),  bench_verb(),    query_verb(),     dump_verb(),       app_verb(),
      plugin_verb(),   db_verb(),      doctor_verb(),   gc_verb(),        completion_verb(), version_verb(),
      help_verb()};
  return list;
}

const Verb& find_verb(const std::string& name) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) {
    if (name == verb.name) return verb;
    names.emplace_back(verb.name);
  }
  throw app::UsageError("unknown verb \"" + name + "\"" + did_you_mean(name, names) +
                        " (exp help lists all)");
}

Verb make_verb_of_actions(const std::string& name, const std::string& summary, const std::string& purpose,
                          std::vector<Verb> actions) {
  const auto run = [name = "exp " + name, purpose, actions](const Arguments& arguments, Console& console) {
    if (arguments.empty() || arguments.front() == "-h" || arguments.front() == "--help") {
      const int width = help_width(console.terminal);
      console.out << wrapped(name + " ACTION [arguments]: " + purpose, width) << "\n\n";
      print_list(actions, console);
      console.out << '\n'
                  << wrapped(name + " ACTION -h shows the options of an action and an example.", width)
                  << "\nexample: " << actions.front().form().help().examples.front().command << '\n';
      return arguments.empty() ? exit_usage : exit_done;
    }
    std::vector<std::string> names;
    for (const Verb& action : actions) {
      if (arguments.front() == action.name)
        return static_cast<ExitCode>(action.run({arguments.begin() + 1, arguments.end()}, console));
      names.push_back(action.name);
    }
    throw app::UsageError(name + " has no \"" + arguments.front() + "\"" +
                          did_you_mean(arguments.front(), names) + " (" + name + " -h lists all)");
  };
  return {.name = name, .summary = summary, .run = run, .form = {}, .actions = std::move(actions)};
}

Verb help_verb() {
  return make_verb("help", "print this list, or the help of a verb", help_form, help_verb);
}

}  // namespace encore::cli
