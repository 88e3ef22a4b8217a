// SPDX-License-Identifier: BSD-3-Clause
// Tests the verbs that run in separate programs (cli/components.hpp: exp-report, exp-serve, exp-bench,
// exp-index): the build knows the component of each verb, and exp itself has their help and options, so that
// neither needs a component to be built. A new component must be listed in CMake, from which components.txt
// in the build folder is written.
#include "cli/components.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "cli/report_formats.hpp"
#include "report/checklist.hpp"
#include "support/places.hpp"

namespace encore::cli {
namespace {

/// Returns the names of all components of the build.
std::set<std::string> components_of_build() {
  std::ifstream lines(ENCORE_BUILD_DIR "/components.txt");
  std::set<std::string> names;
  for (std::string line; std::getline(lines, line);) names.insert(line.substr(0, line.find(' ')));
  return names;
}

/// Returns what the verb prints for -h.
std::string help_of(const Verb& verb) {
  std::ostringstream out;
  Console console(out, out);
  EXPECT_EQ(verb.run({"-h"}, console), exit_done) << verb.name;
  return out.str();
}

TEST(Components, EveryComponentOfAVerbIsOneOfTheBuild) {
  const std::set<std::string> known = components_of_build();
  std::set<std::string> named;
  const auto take = [&](const std::vector<Verb>& list) {
    for (const Verb& verb : list)
      if (!verb.component.empty()) named.insert(verb.component);
  };
  take(verbs());
  for (const Verb& verb : verbs())
    if (!verb.actions.empty()) take(verb.actions);
  EXPECT_EQ(named, (std::set<std::string>{"exp-bench", "exp-index", "exp-report", "exp-serve"}));
  for (const std::string& component : named) EXPECT_TRUE(known.contains(component)) << component;
  EXPECT_EQ(component_of("report"), "exp-report");
  EXPECT_EQ(component_of("bundle show"), "exp-report") << "the list has no action of its own";
  EXPECT_EQ(component_of("db merge"), "exp-report");
  EXPECT_EQ(component_of("db check"), "");
  EXPECT_EQ(component_of("run"), "");
}

TEST(Components, HelpAndOptionsOfEveryVerbNeedNoComponent) {
  for (const Verb& verb : verbs()) {
    EXPECT_TRUE(help_of(verb).starts_with("exp " + verb.name)) << verb.name;
    if (verb.component.empty()) continue;
    std::ostringstream out;
    Console console(out, out);
    EXPECT_FALSE(verb.form().fields().empty()) << verb.name;
    EXPECT_THROW(verb.run({"--no-such-option"}, console), app::UsageError) << verb.name;
  }
}

TEST(Components, HelpOfReportListsWhatTheComponentCanWrite) {
  const std::string help = help_of(find_verb("report"));
  std::string formats, endings, checklists;
  for (const ReportFormat& format : report_formats()) {
    formats += (formats.empty() ? "" : ", ") + format.name;
    endings += (endings.empty() ? "" : ", ") + format.extensions.front();
  }
  for (const std::string& name : report::checklist_names())
    checklists += (checklists.empty() ? "" : ", ") + name;
  for (const std::string& list : {formats, endings, checklists})
    EXPECT_NE(help.find(list), std::string::npos) << list << "\n" << help;
}

}  // namespace
}  // namespace encore::cli
