// The worked example of docs/experiment_file.md is correct and asks for the runs that the page lists.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

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

}  // namespace
}  // namespace encore
