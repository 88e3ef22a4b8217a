// SPDX-License-Identifier: BSD-3-Clause
// Tests the worked examples of experiment_file.md, sweep_tables.md and run_names.md in docs/reference:
// make_plan() (plan/plan.hpp) accepts them and plans the runs that the pages list. If it fails, correct the
// page or the planner, whichever is wrong; never exempt an example.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "support/places.hpp"
#include "unit/plan/planning.hpp"

namespace encore::plan {
namespace {

std::string read_page(const std::string& name) {
  std::ifstream stream(ENCORE_SOURCE_DIR "/docs/reference/" + name);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Returns the first block of that language.
std::string block(const std::string& page, const std::string& language) {
  const std::string open = "```" + language + "\n";
  const std::size_t begin = page.find(open) + open.size();
  return page.substr(begin, page.find("```", begin) - begin);
}

TEST(ExperimentFilePage, ItsExampleAsksForTheRunsThatItLists) {
  ::setenv("ENCORE_DATA", "/data", 1);
  const std::string page = read_page("experiment_file.md");
  std::string listed;
  for (const std::string& name : planning::names(planning::plan(block(page, "toml")))) listed += name + "\n";
  EXPECT_EQ(listed, block(page, "text"));
}

/// An example of a page: the runs that its file asks for, planned on the sample experiment, and the runs that
/// the page lists, one in a line.
struct Example {
  std::string asked, listed;
};

/// Returns the example that follows the mark `<!-- example of MARK -->` in the page.
Example example(const std::string& name, const std::string& mark) {
  const std::string page = read_page(name);
  const std::size_t begin = page.find("<!-- example of " + mark + " -->");
  ENCORE_REQUIRE(begin != std::string::npos, "the page has no example of " + mark);
  const std::string example = page.substr(begin), base = "base = \"wnut17.toml\"\n";
  const std::string text = sample::changed(block(example, "toml"), base, "");
  const std::size_t tables = text.find('[', text.find("\n\n"));
  const bool has_seeds = text.find("seeds = ") < tables;
  const std::string own = has_seeds ? "name = \"tiny\"\nseed = 1\n" : "name = \"tiny\"\n";
  std::string asked;
  for (const std::string& run : planning::names(planning::plan(
           sample::changed(sample::experiment, own, text.substr(0, tables)) + text.substr(tables))))
    asked += run + "\n";
  return {asked, block(example, "text")};
}

TEST(SweepTablesPage, TheExampleOfWhenAsksForTheRunsThatItLists) {
  const Example when = example("sweep_tables.md", "when");
  EXPECT_EQ(when.asked, when.listed);
}

TEST(RunNamesPage, TheExampleOfAPatternAsksForTheRunsThatItLists) {
  const Example pattern = example("run_names.md", "pattern");
  EXPECT_EQ(pattern.asked, pattern.listed);
}

}  // namespace
}  // namespace encore::plan
