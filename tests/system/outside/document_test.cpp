// docs/adding_a_layer.md shows the template, and a norm of Encore's own, as they are.
#include <gtest/gtest.h>

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

/// All text without white space: the page has its own indentation.
std::string dense(const std::string& text) {
  std::string result;
  for (const char letter : text)
    if (letter != ' ' && letter != '\n') result += letter;
  return result;
}

TEST(AddingALayer, ShowsTheSourcesAsTheyAre) {
  const std::string page = content("docs/adding_a_layer.md");
  std::string source;
  for (const char* file : {"template/layer/my_plugin.cpp", "template/layer/my_plugin_test.cpp",
                           "template/layer/CMakeLists.txt", "layers/rms_norm.cpp"})
    source += dense(content(std::string("plugins/") + file));
  int seen = 0;
  for (const char* language : {"cpp", "cmake"})
    for (const std::string& block : code_blocks(page, language)) {
      std::istringstream lines(block);
      for (std::string line; std::getline(lines, line); ++seen)
        EXPECT_NE(source.find(dense(line)), std::string::npos)
            << "neither the template nor rms_norm.cpp has: " << line;
    }
  EXPECT_GT(seen, 50) << "the page shows almost nothing";
}

}  // namespace
}  // namespace encore::system_test
