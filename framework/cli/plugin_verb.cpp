// plugin: everything about plugins that does not train. Finds the action and runs it.
#include "cli/plugin_verb.hpp"

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
  return run_action(find_verb("plugin"),
                    "plugins offer layers, heads, tokenizers, optimizers, schedules, tasks and readers",
                    arguments);
}

}  // namespace encore
