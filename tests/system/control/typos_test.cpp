// SPDX-License-Identifier: BSD-3-Clause
// Tests the messages for mistakes in experiment files (config/experiment.hpp and others) by a collection of
// them, typos/cases.txt: `exp plan` and `exp run` reject each with exactly the message of the case, exit code
// 2, and nothing written. typos/experiment.toml, which the cases change, is itself correct.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include <encore/error.hpp>

#include "support/places.hpp"
#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

const std::string folder_of_cases = ENCORE_SOURCE_DIR "/tests/system/control/typos/";

struct Edit {
  std::string from, to;
};

struct Case {
  std::string name;
  int line = 0;  ///< in cases.txt
  std::vector<Edit> edits;
  std::vector<std::pair<std::string, std::string>> files;
  std::vector<std::string> arguments;
  std::string expected;
};

std::string content_of(const std::string& file) {
  std::ifstream stream(folder_of_cases + file);
  if (!stream) throw Error("cannot read " + folder_of_cases + file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

void join(std::string& text, bool first, const std::string& line) {
  text += (first ? "" : "\n") + line;
}

/// One line of a case; `mark` is its first letter, `before` that of the line above.
void read_line(Case& current, char mark, char before, const std::string& rest) {
  if (mark == '-') {
    if (before != '-') current.edits.emplace_back();
    join(current.edits.back().from, before != '-', rest);
  } else if (mark == '+') {
    join(current.edits.back().to, before != '+', rest);
  } else if (mark == '@') {
    const std::size_t blank = rest.find(' ');
    current.files.emplace_back(rest.substr(0, blank), replaced(rest.substr(blank + 1), "\\n", "\n"));
  } else if (mark == '$') {
    std::istringstream words(rest);
    for (std::string word; words >> word;) current.arguments.push_back(word);
  } else if (mark == '>') {
    current.expected +=
        (std::isdigit(static_cast<unsigned char>(rest.front())) != 0 ? "typo.toml:" : "") + rest + "\n";
  }
}

std::vector<Case> read_cases() {
  std::vector<Case> cases;
  std::istringstream lines(content_of("cases.txt"));
  char before = ' ';
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string start = "=== ";
    if (line.starts_with("=== NAME"))
      before = ' ';  // the explanation at the top
    else if (line.starts_with(start))
      cases.push_back({line.substr(start.size()), number, {}, {}, {}, {}});
    else if (!cases.empty() && !line.empty() && !line.starts_with("---"))
      read_line(cases.back(), line.front(), before, line.size() > 2 ? line.substr(2) : "");
    before = line.empty() ? ' ' : line.front();
  }
  return cases;
}

std::string edited(const Case& one) {
  std::string text = content_of("experiment.toml");
  for (const Edit& edit : one.edits) {
    const std::size_t place = text.find(edit.from);
    if (place == std::string::npos || text.find(edit.from, place + 1) != std::string::npos)
      throw Error("\"" + edit.from + "\" is not exactly once in experiment.toml");
    // A removed text leaves its line empty: the numbers of the lines below stay.
    text.replace(place, edit.from.size(), edit.to);
  }
  return text;
}

class Typos : public ::testing::Test {
 protected:
  Typos() { sandbox_.set("CORPUS", sandbox_.folder().string()); }

  void expect_refused(const std::string& verb, const Case& one) const {
    std::vector<std::string> arguments = {verb, "typo.toml"};
    arguments.insert(arguments.end(), one.arguments.begin(), one.arguments.end());
    const runner::ProgramOutput output = sandbox_.exp(arguments);
    EXPECT_EQ(output.end.exit_code, 2) << verb << output.output;
    std::string said = replaced(output.errors, sandbox_.folder().string(), "FOLDER");
    said = replaced(said, "\"unigram\", ", "");  // a build without SentencePiece has none
    EXPECT_EQ(replaced(said, ENCORE_BUILD_DIR "/lib/encore/plugins", "PLUGINS"), one.expected) << verb;
  }

  Sandbox sandbox_;
};

TEST_F(Typos, TheExperimentThatTheyChangeIsCorrect) {
  sandbox_.write("typo.toml", content_of("experiment.toml"));
  const runner::ProgramOutput output = sandbox_.exp({"plan", "typo.toml"});
  EXPECT_EQ(output.end.exit_code, 0) << output.errors;
  EXPECT_NE(output.output.find("32 of 32 runs to do"), std::string::npos) << output.output;
}

TEST_F(Typos, EachIsRefusedWithItsPlaceAndANearName) {
  const std::vector<Case> cases = read_cases();
  EXPECT_GE(cases.size(), 100U);
  for (const Case& one : cases) {
    SCOPED_TRACE("cases.txt:" + std::to_string(one.line) + ": " + one.name);
    sandbox_.write("typo.toml", edited(one));
    for (const auto& [file, text] : one.files) sandbox_.write(file, text);
    expect_refused("plan", one);
    expect_refused("run", one);
  }
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "encore.db")) << "nothing may be written";
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "encore.db.runs")) << "nothing may be written";
}

}  // namespace
}  // namespace encore::system_test
