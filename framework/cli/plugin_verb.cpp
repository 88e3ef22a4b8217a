// plugin: everything about plugins that does not train. Finds the action and runs it.
#include "cli/plugin_verb.hpp"

#include <algorithm>
#include <cstring>
#include <iostream>

#include "cli/command_line.hpp"
#include "config/nearest.hpp"

namespace encore {

const std::vector<Verb>& plugin_actions() {
  static const std::vector<Verb> list = {
      {"ls", "list the plugins that runs find, and those refused", plugin_ls},
      {"info", "explain a plugin or a type: options, file, fingerprint", plugin_info},
      {"new", "a folder with a plugin of your own, ready to build", plugin_new},
      {"build", "build a plugin's folder for this Encore", plugin_build},
      {"check", "put a plugin through the contract suite", plugin_check},
  };
  return list;
}

int plugin_verb(const Arguments& arguments) {
  if (arguments.empty() || arguments.front() == "-h" || arguments.front() == "--help") {
    std::cout << "exp plugin ACTION [arguments]: plugins offer layers, heads, tokenizers, optimizers and "
                 "schedules\n\n";
    std::size_t width = 0;
    for (const Verb& action : plugin_actions()) width = std::max(width, std::strlen(action.name));
    for (const Verb& action : plugin_actions())
      std::cout << "  " << action.name << std::string(width + 2 - std::strlen(action.name), ' ')
                << action.summary << '\n';
    std::cout << "\nexp plugin ACTION -h shows the options of an action and an example.\n"
                 "example: exp plugin ls\n";
    return arguments.empty() ? exit_usage : exit_done;
  }
  const std::string& name = arguments.front();
  std::vector<std::string> names;
  for (const Verb& action : plugin_actions()) {
    if (name == action.name) return action.run({arguments.begin() + 1, arguments.end()});
    names.emplace_back(action.name);
  }
  throw UsageError("exp plugin has no \"" + name + "\"" + did_you_mean(name, names) +
                   " (exp plugin -h lists all)");
}

}  // namespace encore
