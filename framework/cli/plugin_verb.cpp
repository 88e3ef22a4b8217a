// SPDX-License-Identifier: BSD-3-Clause
// exp plugin: the verb with the actions ls, info, check, new and build. Files beside this one have the
// actions, plugin_project.cpp both new and build. help_verb.cpp lists the verb. A new action is a line here
// and a declaration in verbs.hpp; names of actions must stay, because scripts call them.
#include "cli/verbs.hpp"

namespace encore::cli {

Verb plugin_verb() {
  return make_verb_of_actions("plugin", "list, explain, check, make and build plugins",
                              "plugins offer layers, heads, tokenizers, optimizers, schedules, tasks, "
                              "readers and steps",
                              {plugin_ls(), plugin_info(), plugin_new(), plugin_build(), plugin_check()});
}

}  // namespace encore::cli
