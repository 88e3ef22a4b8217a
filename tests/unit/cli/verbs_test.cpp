// SPDX-License-Identifier: BSD-3-Clause
// Tests what holds for every verb and action of `exp` (cli/verbs.hpp): a help with an example, lines that fit
// a terminal, --json or --csv for programs, and no option or letter twice. A new verb is covered as soon as
// cli/help_verb.cpp lists it; no verb may be exempt.
#include "cli/verbs.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <sstream>

#include "cli/terminal.hpp"

namespace encore::cli {
namespace {

/// Calls `look` for each verb without actions, and for each action of the others, with the name as users
/// write it.
void for_each_verb(const std::function<void(const Verb& verb, const std::string& name)>& look) {
  for (const Verb& verb : verbs()) {
    if (verb.actions.empty()) look(verb, verb.name);
    for (const Verb& action : verb.actions) look(action, verb.name + " " + action.name);
  }
}

std::string help_of(const Verb& verb) {
  std::ostringstream out, err;
  Console console(out, err);
  EXPECT_EQ(verb.run({"-h"}, console), exit_done) << verb.name;
  return out.str();
}

/// Returns whether the verb has an option or argument with this name.
bool has(const Verb& verb, const std::string& name) {
  const app::FormFields form = verb.form();
  return std::ranges::find(form.fields(), name, &app::FormField::name) != form.fields().end();
}

TEST(Verbs, EachHasAHelpWithAnExampleOfItself) {
  for_each_verb([](const Verb& verb, const std::string& name) {
    const std::string text = help_of(verb), command = "exp " + name;
    EXPECT_TRUE(text.starts_with(command)) << text;
    EXPECT_NE(text.find("example: " + command), std::string::npos) << text;
  });
}

TEST(Verbs, NoLineOfHelpIsWiderThan100ColumnsButForCommands) {
  for_each_verb([](const Verb& verb, const std::string& name) {
    std::istringstream text(help_of(verb));
    for (std::string line; std::getline(text, line);)
      if (!line.starts_with("example: ")) {
        EXPECT_LE(display_width(line), 100) << name << ": " << line;
      }
  });
}

TEST(Verbs, EachThatAnswersHasJson) {
  // `serve` runs a server until it is stopped, and `completion` prints a script for the shell.
  const std::set<std::string> silent = {"serve", "completion"};
  for_each_verb([&](const Verb& verb, const std::string& name) {
    EXPECT_EQ(has(verb, "json"), !silent.contains(name)) << name;
  });
}

/// verbs() does not list `bench ls` and `bundle show`, which have --csv too: cli/components.cpp finds these
/// actions itself.
TEST(Verbs, EachWithATableHasCsv) {
  std::set<std::string> found;
  for_each_verb([&](const Verb& verb, const std::string& name) {
    if (has(verb, "csv")) found.insert(name);
  });
  EXPECT_EQ(found, (std::set<std::string>{
                       "compare",   "db merge",      "diff",         "doctor",      "dump",  "embed",
                       "evaluate",  "explain",       "gc",           "index query", "ls",    "monitor",
                       "plan",      "plugin info",   "plugin ls",    "quantize",    "query", "retrain",
                       "review ls", "review report", "review trail", "show",        "status"}));
}

TEST(Verbs, NoFormHasANameOrALetterTwice) {
  for_each_verb([](const Verb& verb, const std::string& name) {
    std::set<std::string> names;
    for (const app::FormField& field : fields_of(verb.form()))
      for (const std::string& one : {field.name, field.letter})
        if (!one.empty()) {
          EXPECT_TRUE(names.insert(one).second) << name << ": " << one;
        }
  });
}

TEST(Verbs, AnUnknownVerbNamesTheNearest) {
  try {
    find_verb("shwo");
    FAIL();
  } catch (const app::UsageError& error) {
    EXPECT_STREQ(error.what(), "unknown verb \"shwo\"; did you mean \"show\"? (exp help lists all)");
  }
  EXPECT_THROW(find_verb("transmogrify"), app::UsageError);
}

}  // namespace
}  // namespace encore::cli
