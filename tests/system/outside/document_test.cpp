// SPDX-License-Identifier: BSD-3-Clause
// Tests that the pages docs/guides/adding_a_*.md and layer_contract.md show the templates (plugins/template),
// and a norm of Encore's own, as they are. After a change of a template, change the page.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "support/places.hpp"
#include "system/outside/workshop.hpp"

namespace encore::system_test {
namespace {

std::string content(const std::string& file) {
  std::ifstream in(ENCORE_SOURCE_DIR "/" + file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Returns the text without white space: the page has its own indentation.
std::string dense(const std::string& text) {
  std::string result;
  for (const char letter : text)
    if (letter != ' ' && letter != '\n') result += letter;
  return result;
}

/// Expects that every line of code on the page is a line of one of these files of plugins/, and that at least
/// `least` lines are shown.
void expect_shows(const std::string& page, const std::vector<std::string>& files, int least) {
  std::string source;
  for (const std::string& file : files) source += dense(content("plugins/" + file));
  const std::string text = content("docs/" + page);
  int seen = 0;
  for (const char* language : {"cpp", "cmake"})
    for (const std::string& block : code_blocks(text, language)) {
      std::istringstream lines(block);
      for (std::string line; std::getline(lines, line); ++seen)
        EXPECT_NE(source.find(dense(line)), std::string::npos)
            << page << ": none of the sources has: " << line;
    }
  EXPECT_GT(seen, least) << page << " shows almost nothing";
}

TEST(AddingALayer, ShowsTheSourcesAsTheyAre) {
  expect_shows("guides/adding_a_layer.md",
               {"template/layer/my_plugin.cpp", "template/layer/my_plugin_test.cpp",
                "template/layer/CMakeLists.txt", "layers/layer_norm.cpp", "layers/rms_norm.cpp"},
               50);
}

TEST(LayerContract, ShowsTheSourcesAsTheyAre) {
  expect_shows("reference/layer_contract.md", {"layers/layer_norm.cpp", "layers/rms_norm.cpp"}, 10);
}

TEST(AddingATask, ShowsTheSourcesAsTheyAre) {
  expect_shows("guides/adding_a_task.md", {"template/task/my_plugin.cpp", "tasks/classify/classify.hpp"}, 30);
}

TEST(TestingATask, ShowsTheTestOfTheTemplate) {
  const std::string page = content("docs/guides/testing_a_task.md");
  const std::string test = dense(content("plugins/template/task/my_plugin_test.cpp"));
  for (const std::string& block : code_blocks(page, "cpp"))
    EXPECT_NE(test.find(dense(block)), std::string::npos) << block;
}

TEST(AddingAReader, ShowsTheSourcesAsTheyAre) {
  expect_shows("guides/adding_a_reader.md", {"template/reader/my_plugin.cpp", "readers/tsv.hpp"}, 12);
}

TEST(AddingAStep, ShowsTheSourcesAsTheyAre) {
  expect_shows("guides/adding_a_step.md",
               {"template/step/my_plugin.cpp", "template/step/my_plugin_test.cpp", "steps/predict.cpp"}, 40);
}

/// Expects that the page has the whole source, line by line in its order, and that the test code it shows
/// exists.
void expect_shows_whole(const std::string& page, const std::string& kind, int least) {
  const std::string folder = "template/" + kind + "/";
  expect_shows(page, {folder + "my_plugin.cpp", folder + "my_plugin_test.cpp"}, least);
  EXPECT_NE(dense(content("docs/" + page)).find(dense(content("plugins/" + folder + "my_plugin.cpp"))),
            std::string::npos)
      << page << " does not show the whole of plugins/" << folder << "my_plugin.cpp";
}

TEST(AddingAnOptimizer, ShowsTheWholeTemplate) {
  expect_shows_whole("guides/adding_an_optimizer.md", "optimizer", 80);
}

TEST(AddingASchedule, ShowsTheWholeTemplate) {
  expect_shows_whole("guides/adding_a_schedule.md", "schedule", 40);
}

TEST(AddingATokenizer, ShowsTheWholeTemplate) {
  expect_shows_whole("guides/adding_a_tokenizer.md", "tokenizer", 110);
}

TEST(TaskTemplate, IsShort) {
  std::ptrdiff_t lines = 0;
  for (const char* file : {"my_plugin.cpp", "my_plugin_test.cpp"}) {
    const std::string text = content(std::string("plugins/template/task/") + file);
    ASSERT_FALSE(text.empty()) << file;
    lines += std::count(text.begin(), text.end(), '\n');
  }
  EXPECT_LT(lines, 220);
}

}  // namespace
}  // namespace encore::system_test
