// SPDX-License-Identifier: BSD-3-Clause
// Runs the commands that README.md and the pages below docs/ show, in the order of each page with the real
// programs, in a folder that holds experiments/ with a small part of its corpus, and tests/bench/. The pages
// of plugins, which a program writes, and stubs that link to the new place of a page show no commands. What a
// page shows as output is compared by its words: numbers, ids and times are left out. HTML comments before a
// block, which no reader sees, say what the page takes for granted:
//   <!-- test: setup              shell lines that are run there, unseen
//   <!-- test: file NAME          the next block is written to that file
//   <!-- test: exit 2 0           exit codes of the next block's commands; without it all are 0
//   <!-- test: run as             the lines that stand for the next block's commands, where those take too
//   long
//   <!-- test: machine WORDS      what follows one of these words in a line depends on the processor or on
//   libraries, and is not compared
//   <!-- test: needs COMMAND      a machine on which it fails cannot show the next block: the test leaves it
//   out, and ends as skipped
//   <!-- test: output REASON      the next block's output is not compared
//   <!-- test: not run REASON     the next block's commands are not run
//   <!-- test: writes FILE as PAGE  the next block's commands write FILE, and PAGE of the tree is such a
//   file:
//                                 of the same headings, heads of tables, pictures and listings
// A command that ends in a backslash goes to the end of the next line.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "support/places.hpp"
#include "system/control/sandbox.hpp"
#include "system/control/shown_commands.hpp"

namespace encore::system_test {
namespace {

namespace fs = std::filesystem;

/// One fenced block, with what the comments before it say.
struct Block {
  int line = 0;
  std::string language, text;
  std::map<std::string, std::string> marks;  ///< "file" -> "sweep.toml"
};

const std::vector<std::string> kinds = {"setup", "file",   "exit",    "run as", "machine",
                                        "needs", "output", "not run", "writes"};

/// Adds a mark such as "file sweep.toml" to `marks`; several setups before one block run one after the other.
void take_mark(const std::string& text, const std::string& place, std::map<std::string, std::string>& marks) {
  for (const std::string& kind : kinds) {
    if (!text.starts_with(kind)) continue;
    const std::size_t begin = text.find_first_not_of(" \n", kind.size());
    ASSERT_NE(begin, std::string::npos) << place << ": <!-- test: " << kind << " says nothing more";
    marks[kind] +=
        text.substr(begin, text.find_last_not_of(" \n") - begin + 1) + (kind == "setup" ? "\n" : "");
    return;
  }
  FAIL() << place << ": no mark of this test: " << text;
}

std::vector<Block> blocks_of(const std::string& page, const std::string& name) {
  std::vector<Block> blocks;
  std::map<std::string, std::string> marks;
  const std::vector<std::string> lines = lines_of(page);
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const std::string opening = "<!-- test: ";
    if (lines[at].starts_with(opening)) {
      std::string text = lines[at].substr(opening.size());
      const std::string place = name + ":" + std::to_string(at + 1);
      while (text.find("-->") == std::string::npos && at + 1 < lines.size()) text += "\n" + lines[++at];
      take_mark(text.substr(0, text.find("-->")), place, marks);
    } else if (lines[at].starts_with("```")) {
      Block block{static_cast<int>(at + 1), lines[at].substr(3), "", std::move(marks)};
      marks.clear();
      for (++at; at < lines.size() && !lines[at].starts_with("```"); ++at) block.text += lines[at] + "\n";
      blocks.push_back(std::move(block));
    }
  }
  EXPECT_TRUE(marks.empty()) << name << ": a mark of this test without a block after it";
  return blocks;
}

/// Returns the commands of a block. If one begins with "$ ", the lines after it are its output; if none does,
/// each line of a shell block is a command.
std::vector<ShownCommand> commands_of(const Block& block) {
  if (block.language != "" && block.language != "text" && block.language != "console" &&
      block.language != "sh" && block.language != "bash")
    return {};
  std::vector<ShownCommand> commands = shown_commands(block.text);
  if (commands.empty() && (block.language == "sh" || block.language == "bash"))
    commands = script_commands(block.text);
  return commands;
}

std::set<std::string> split_words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

/// Returns the words of a line that do not change from run to run: those with letters and without digits, up
/// to the first of `last_words`.
std::set<std::string> words_of(const std::string& line, const std::set<std::string>& last_words = {}) {
  std::set<std::string> words;
  std::istringstream in(line);
  for (std::string word; in >> word;) {
    const auto is = [&](int (*kind)(int)) {
      return std::ranges::any_of(word, [&](unsigned char letter) { return kind(letter) != 0; });
    };
    if (is(std::isalpha) && !is(std::isdigit)) words.insert(word);
    if (last_words.contains(word)) break;
  }
  return words;
}

/// Expects for each line that the page shows a line of the output with all of its words, up to the first of
/// `last_words`.
void expect_output(const ShownCommand& command, const std::set<std::string>& last_words,
                   const std::string& output) {
  std::vector<std::set<std::string>> found;
  for (const std::string& line : lines_of(output)) found.push_back(words_of(line));
  for (const std::string& line : command.output) {
    const std::set<std::string> wanted = words_of(line, last_words);
    const bool there = std::ranges::any_of(
        found, [&](const std::set<std::string>& words) { return std::ranges::includes(words, wanted); });
    EXPECT_TRUE(there || line == "...") << "the page shows\n  " << line << "\nbut it prints\n" << output;
  }
}

/// Returns the parts of a page that a program wrote, without their numbers, a line for each part.
std::string form_of(const std::string& page) {
  const std::vector<std::string> lines = lines_of(page);
  std::string form;
  const auto add = [&](const std::string& part) {
    for (const std::string& word : words_of(part)) form += word + " ";
    form += "\n";
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool head = i + 1 < lines.size() && lines[i + 1].starts_with("| ---");
    if (head || lines[i].starts_with('#') || lines[i].starts_with("```"))
      add(lines[i]);
    else if (lines[i].starts_with("!["))
      form += lines[i].substr(lines[i].rfind('('));
  }
  return form;
}

class Page : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const runner::ProgramOutput version =
        runner::run_program(ENCORE_BUILD_DIR "/bin/encore-worker", {"version"});
    if (!version.end.success()) GTEST_SKIP() << "this worker does not run here: " << version.errors;
    if (std::string(ENCORE_BACKEND_NAME) != "openmp") GTEST_SKIP() << "the pages show what openmp prints";
    sandbox.set("OMP_NUM_THREADS", "2");
    sandbox.set("OMP_WAIT_POLICY", "passive");
    const fs::path source = ENCORE_SOURCE_DIR "/experiments";
    for (const auto& entry : fs::directory_iterator(source))
      if (entry.is_regular_file())
        sandbox.write("experiments/" + entry.path().filename().string(), content(entry.path()));
    for (const char* folder :
         {"alerts", "apps", "bill_corpus", "help_corpus", "notice_corpus", "ticket_corpus"})
      fs::copy(source / folder, sandbox.folder() / "experiments" / folder, fs::copy_options::recursive);
    for (const auto& [set, sentences] : std::map<std::string, int>{{"train", 160}, {"dev", 40}, {"test", 40}})
      sandbox.write("experiments/corpus/" + set + ".conll",
                    beginning(content(source / "corpus" / (set + ".conll")), sentences));
    fs::create_directory(sandbox.folder() / "tests");
    fs::create_directory_symlink(ENCORE_SOURCE_DIR "/tests/bench", sandbox.folder() / "tests" / "bench");
    sandbox.write("exp", "#!/bin/sh\nENCORE_COMMAND=./exp exec " ENCORE_BUILD_DIR "/bin/exp \"$@\"\n");
    fs::permissions(sandbox.folder() / "exp", fs::perms::owner_all);
    sandbox.set("PATH", ENCORE_BUILD_DIR "/bin:" + std::string(std::getenv("PATH")));
    sandbox.set("HOME", sandbox.folder().string());
  }

  static std::string beginning(const std::string& corpus, int sentences) {
    std::size_t end = 0;
    for (int i = 0; i < sentences && end != std::string::npos; ++i) end = corpus.find("\n\n", end + 1);
    return corpus.substr(0, end + 2);
  }

  void run(const Block& block) {
    if (const auto needed = block.marks.find("needs");
        needed != block.marks.end() && sandbox.shell(needed->second).end.exit_code != 0) {
      left_out += " " + std::to_string(block.line);
      return;
    }
    if (const auto setup = block.marks.find("setup"); setup != block.marks.end()) {
      const runner::ProgramOutput output = sandbox.shell("set -e\n" + setup->second);
      ASSERT_EQ(output.end.exit_code, 0) << setup->second << output.output << output.errors;
    }
    if (const auto file = block.marks.find("file"); file != block.marks.end())
      sandbox.write(file->second, block.text);
    std::vector<ShownCommand> commands = commands_of(block);
    if (block.marks.contains("not run")) {
      EXPECT_FALSE(commands.empty()) << "there is nothing here that would be run";
      return;
    }
    if (const auto other = block.marks.find("run as"); other != block.marks.end()) {
      const std::vector<ShownCommand> others = script_commands(other->second);
      ASSERT_EQ(others.size(), commands.size()) << "one line for each command";
      for (std::size_t i = 0; i < others.size(); ++i) commands[i].line = others[i].line;
    }
    const auto mark = [&](const char* kind) {
      return block.marks.contains(kind) ? block.marks.at(kind) : "";
    };
    const std::set<std::string> last_words = split_words(mark("machine"));
    std::istringstream codes(mark("exit"));
    for (const ShownCommand& command : commands) {
      int code = 0;
      codes >> code;
      const runner::ProgramOutput output = sandbox.shell("{ " + command.line + "\n} 2>&1");
      EXPECT_EQ(output.end.exit_code, code) << command.line << "\n" << output.output;
      if (!block.marks.contains("output")) expect_output(command, last_words, output.output);
    }
    if (const auto writes = block.marks.find("writes"); writes != block.marks.end()) {
      std::istringstream words(writes->second);
      std::string file, as, page;
      words >> file >> as >> page;
      ASSERT_EQ(as, "as") << "<!-- test: writes FILE as PAGE -->";
      EXPECT_EQ(form_of(content(fs::path(ENCORE_SOURCE_DIR) / page)), form_of(sandbox.read(file)))
          << page << " is to be written again by the commands of this page";
    }
  }

  Sandbox sandbox{true};
  std::string left_out;  ///< lines of blocks that this machine cannot show
};

TEST_P(Page, ShowsCommandsThatRunAndWhatTheyPrint) {
  for (const Block& block : blocks_of(content(fs::path(ENCORE_SOURCE_DIR) / GetParam()), GetParam())) {
    SCOPED_TRACE(GetParam() + ":" + std::to_string(block.line));
    run(block);
  }
  if (!left_out.empty()) GTEST_SKIP() << "this machine cannot show the blocks in the lines" << left_out;
}

/// Returns the pages of the tree that have a fenced block: the others have nothing to run.
std::vector<std::string> pages() {
  const fs::path tree = ENCORE_SOURCE_DIR;
  std::vector<std::string> list = {"README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(tree / "docs")) {
    const std::string page = fs::relative(entry.path(), tree).generic_string();
    const bool is_generated = page.starts_with("docs/reference/plugins/") || page.starts_with("docs/sample/");
    if (page.ends_with(".md") && !is_generated && content(entry.path()).find("```") != std::string::npos)
      list.push_back(page);
  }
  std::ranges::sort(list);
  return list;
}

/// "docs/guides/tasks/qa.md" is called guides_tasks_qa.
INSTANTIATE_TEST_SUITE_P(Pages, Page, testing::ValuesIn(pages()), [](const auto& info) {
  std::string name = info.param.substr(0, info.param.size() - std::string(".md").size());
  if (name.starts_with("docs/")) name = name.substr(std::string("docs/").size());
  std::ranges::replace_if(
      name, [](char letter) { return letter == '/' || letter == '-'; }, '_');
  return name;
});

}  // namespace
}  // namespace encore::system_test
