// The worked examples of docs/experiment_file.md are correct and ask for the runs that the page lists.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "support/places.hpp"
#include "unit/plan/planning.hpp"

namespace encore {
namespace {

std::string read_page() {
  std::ifstream stream(ENCORE_SOURCE_DIR "/docs/experiment_file.md");
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The first block of that language.
std::string block(const std::string& page, const std::string& language) {
  const std::string open = "```" + language + "\n";
  const std::size_t begin = page.find(open) + open.size();
  return page.substr(begin, page.find("```", begin) - begin);
}

TEST(ExperimentFilePage, ItsExampleAsksForTheRunsThatItLists) {
  ::setenv("ENCORE_DATA", "/data", 1);
  const std::string page = read_page();
  std::string listed;
  for (const std::string& name : planning::names(planning::plan(block(page, "toml")))) listed += name + "\n";
  EXPECT_EQ(listed, block(page, "text"));
}

TEST(ExperimentFilePage, TheExampleOfWhenAsksForTheRunsThatItLists) {
  const std::string page = read_page();
  const std::size_t begin = page.find("<!-- example of when -->");
  ASSERT_NE(begin, std::string::npos);
  const std::string example = page.substr(begin);
  std::string text = block(example, "toml");
  const std::string base = "base = \"wnut17.toml\"\n", name = "name = \"attention\"\n";
  text = sample::changed(sample::changed(text, base, ""), name, "");
  std::string listed;
  for (const std::string& run :
       planning::names(planning::plan(sample::changed(sample::experiment, "name = \"tiny\"\n", name) + text)))
    listed += run + "\n";
  EXPECT_EQ(listed, block(example, "text"));
}

}  // namespace
}  // namespace encore
