// SPDX-License-Identifier: BSD-3-Clause
// Tests that the control program knows no task: nothing in its code names a task, a reader or a measure of a
// plugin. What it knows of them comes as data, from manifests and with the runs. Exempt are comments,
// commands quoted in help output, and the one file that reads data of older versions. A word that the control
// program uses in another sense is added to words_of_the_host.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/places.hpp"

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::json;

const std::vector<std::string> blind_folders = {"plan",   "store", "monitor", "runner", "document",
                                                "report", "cli",   "record",  "config", "pretrained"};

/// "precision" is also a format of numbers (train.precision, exp bench --precision), "jsonl" a format of
/// predictions and of answers (exp predict --format jsonl), "parallel" a kind of chart, "summarize" a
/// function over samples, "tag" a label of runs (exp tag).
const std::set<std::string> words_of_the_host = {"embed",     "jsonl",     "parallel",
                                                 "precision", "summarize", "tag"};

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Names in a manifest: of its tasks and readers, and of their measures.
std::set<std::string> names_in(const Json& manifest) {
  std::set<std::string> names;
  for (const Json& offer : manifest.value("offers", Json::array())) {
    const std::string kind = offer.value("kind", "");
    if (kind != "task" && kind != "reader") continue;
    names.insert(offer.value("name", ""));
    for (const Json& measure : offer.value("measures", Json::array())) {
      const std::string name = measure.value("name", "");
      names.insert(name.substr(0, name.find("/{")));
    }
  }
  return names;
}

std::set<std::string> shipped_names() {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(ENCORE_BUILD_DIR) / "lib/encore/plugins"))
    if (entry.path().extension() == ".json") names.merge(names_in(Json::parse(text_of(entry.path()))));
  return names;
}

/// Code without comments, and without text in quotes that begins as a command of `exp`. Lines stay.
std::string code_of(const std::string& text) {
  std::string code;
  for (std::size_t at = 0; at < text.size();) {
    const char letter = text[at];
    if (text.compare(at, 2, "//") == 0) {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.compare(at, 2, "/*") == 0) {
      const std::size_t end = std::min(text.find("*/", at), text.size() - 2) + 2;
      for (; at < end; ++at)
        if (text[at] == '\n') code += '\n';
    } else if (letter == '"' || (letter == '\'' && at + 2 < text.size())) {
      std::size_t end = at + 1;
      while (end < text.size() && text[end] != letter && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, text.size());
      const std::string literal = text.substr(at, end - at);
      code += literal.starts_with("\"exp ") ? "\"\"" : literal;
      at = end;
    } else {
      code += letter;
      ++at;
    }
  }
  return code;
}

/// Returns "file:line: name" for the first name in each line of the code that has one as a word. Words of the
/// host do not count, except "precision" as a measure of a split.
std::vector<std::string> leaks_in(const std::string& file, const std::string& text,
                                  const std::set<std::string>& names) {
  std::vector<std::string> leaks;
  std::string pattern;
  for (const std::string& name : names)
    if (!name.empty() && !words_of_the_host.contains(name)) pattern += (pattern.empty() ? "" : "|") + name;
  if (pattern.empty()) return leaks;
  const std::regex word("\\b(" + pattern + ")\\b");
  // As a measure of a split, a word of the host names a measure too.
  const std::regex of_split("\\b(dev|test)/(precision)\\b");
  const std::string code = code_of(text);
  int line = 1;
  for (std::size_t begin = 0; begin < code.size(); ++line) {
    const std::size_t end = std::min(code.find('\n', begin), code.size());
    const std::string content = code.substr(begin, end - begin);
    for (const std::regex& searched : {word, of_split})
      if (std::smatch match; std::regex_search(content, match, searched))
        leaks.push_back(file + ":" + std::to_string(line) + ": " + match[0].str());
    begin = end + 1;
  }
  return leaks;
}

}  // namespace

TEST(Leak, NoCodeOfTheControlProgramNamesATaskAReaderOrAMeasure) {
  const std::set<std::string> names = shipped_names();
  EXPECT_TRUE(names.contains("ner") && names.contains("conll") && names.contains("f1"))
      << "no manifest was read";
  int seen = 0;
  for (const std::string& folder : blind_folders)
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(ENCORE_SOURCE_DIR) / "framework" / folder)) {
      const fs::path& path = entry.path();
      if ((path.extension() != ".cpp" && path.extension() != ".hpp") || path.stem() == "legacy_metrics")
        continue;
      ++seen;
      const std::string file = fs::relative(path, ENCORE_SOURCE_DIR).string();
      for (const std::string& leak : leaks_in(file, text_of(path), names)) ADD_FAILURE() << leak;
    }
  EXPECT_GT(seen, 100) << "the test looked at the wrong folder";
}

TEST(Leak, TheTestFindsWhatItShould) {
  const std::set<std::string> names = {"f1", "recall", "ner"};
  EXPECT_EQ(leaks_in("a.cpp", "int a;\nif (metric == \"dev/f1\") return;\n", names),
            std::vector<std::string>{"a.cpp:2: f1"});
  EXPECT_EQ(leaks_in("a.cpp", "double recall = 0;", names), std::vector<std::string>{"a.cpp:1: recall"});
  EXPECT_EQ(leaks_in("a.cpp", "at(\"test/precision\")", names),
            std::vector<std::string>{"a.cpp:1: test/precision"});
  EXPECT_TRUE(leaks_in("a.cpp", "// f1\n/* recall\n f1 */ int f12 = 0; train.precision();", names).empty());
  EXPECT_TRUE(leaks_in("a.cpp", "{{\"exp ls --sort test/f1\", \"best first\"}}", names).empty());
  const Json manifest = Json::parse(R"({"offers": [
    {"kind": "task", "name": "ner", "measures": [{"name": "f1"}, {"name": "f1/{label}"}, {"name": "taken"}]},
    {"kind": "reader", "name": "conll"}, {"kind": "layer", "name": "highway"}]})");
  EXPECT_EQ(names_in(manifest), (std::set<std::string>{"ner", "f1", "taken", "conll"}));
}
