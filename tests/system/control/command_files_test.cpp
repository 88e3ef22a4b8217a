// SPDX-License-Identifier: BSD-3-Clause
// Runs the command tests of tests/cli/*.test, which are plain text: a command, its exact output, its exit
// code. To test another rejected call, add it to such a file; no C++ is needed. Each file runs in a folder of
// its own with tiny.toml, its corpus, and a worker that trains nothing (sandbox.hpp). shown_commands.hpp
// reads the files. This is their format (docs/internals/testing.md has examples):
//
//   # a comment
//   @ FILE        the lines up to the next "@" alone are written to FILE
//   $ command     run by a shell; standard error is part of the output
//   output        "..." stands for any text, a line "..." for any lines, FOLDER for the folder of the test
//   [2]           the exit code; without such a line it is 0
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>

#include "support/places.hpp"
#include "system/control/sandbox.hpp"
#include "system/control/shown_commands.hpp"

namespace encore::system_test {
namespace {

namespace fs = std::filesystem;

const fs::path folder_of_files = ENCORE_SOURCE_DIR "/tests/cli";

/// A file to write, or a command to run.
struct CommandStep {
  std::string file, content;  ///< empty for a command
  std::string command;
  std::vector<std::string> output;
  int exit_code = 0;
  int line = 0;
};

/// Returns the number of a line such as "[2]"; nothing for any other line.
std::optional<int> exit_code_of(const std::string& line) {
  if (line.size() < 3 || line.front() != '[' || line.back() != ']') return {};
  const std::string digits = line.substr(1, line.size() - 2);
  if (!std::ranges::all_of(digits, [](unsigned char letter) { return std::isdigit(letter) != 0; })) return {};
  return std::atoi(digits.c_str());
}

/// Removes comments, the blank line before the next command, and the exit code from the lines after a
/// command.
void read_output(const std::vector<std::string>& lines, CommandStep& step) {
  for (const std::string& line : lines) {
    if (const std::optional<int> code = exit_code_of(line))
      step.exit_code = *code;
    else if (!line.starts_with("# "))
      step.output.push_back(line);
  }
  while (!step.output.empty() && step.output.back().empty()) step.output.pop_back();
}

std::vector<CommandStep> steps_of(const std::string& text) {
  std::vector<CommandStep> steps;
  std::string commands;  // the text with the lines of files left empty, so that line numbers stay
  std::optional<CommandStep> file;
  int number = 0;
  for (const std::string& line : lines_of(text)) {
    ++number;
    if (file && line == "@") {
      steps.push_back(*file);
      file.reset();
    } else if (file) {
      file->content += line + "\n";
    } else if (line.starts_with("@ ")) {
      file = CommandStep{.file = line.substr(2), .content = {}, .command = {}, .output = {}, .line = number};
    } else {
      commands += line + "\n";
      continue;
    }
    commands += "\n";
  }
  EXPECT_FALSE(file) << "the file " << (file ? file->file : "") << " has no end: a line of \"@\" alone";
  for (const ShownCommand& command : shown_commands(commands)) {
    CommandStep step{
        .file = {}, .content = {}, .command = command.line, .output = {}, .line = command.number};
    read_output(command.output, step);
    steps.push_back(std::move(step));
  }
  std::ranges::stable_sort(steps, {}, &CommandStep::line);
  return steps;
}

/// Returns the lines that a command printed, with FOLDER in place of the folder of the test.
std::vector<std::string> printed_lines(std::string output, const fs::path& folder) {
  for (const std::string& name : {fs::canonical(folder).string(), folder.string()})
    for (std::size_t at = 0; (at = output.find(name, at)) != std::string::npos;)
      output.replace(at, name.size(), "FOLDER");
  std::vector<std::string> lines = lines_of(output);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

class CommandFile : public ::testing::TestWithParam<std::string> {};

TEST_P(CommandFile, PrintsWhatItSays) {
  Sandbox sandbox;
  sandbox.set("PATH", ENCORE_BUILD_DIR "/bin:" + std::string(std::getenv("PATH")));
  const std::string name = "tests/cli/" + GetParam();
  const std::vector<CommandStep> steps = steps_of(content(folder_of_files / GetParam()));
  EXPECT_TRUE(std::ranges::any_of(steps, [](const CommandStep& step) { return !step.command.empty(); }))
      << name << " has no command";
  for (const CommandStep& step : steps) {
    SCOPED_TRACE(name + ":" + std::to_string(step.line));
    if (!step.file.empty()) {
      sandbox.write(step.file, step.content);
      continue;
    }
    const runner::ProgramOutput output = sandbox.shell("{ " + step.command + "\n} 2>&1");
    EXPECT_EQ(output.end.exit_code, step.exit_code) << step.command << "\n" << output.output;
    EXPECT_TRUE(match_lines(step.output, printed_lines(output.output, sandbox.folder())))
        << step.command << "\nprints\n"
        << output.output << "\nbut the file shows\n"
        << ::testing::PrintToString(step.output);
  }
}

std::vector<std::string> command_files() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_of_files))
    if (entry.path().extension() == ".test") names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Cli, CommandFile, testing::ValuesIn(command_files()), [](const auto& info) {
  std::string name = fs::path(info.param).stem().string();
  std::ranges::replace(name, '-', '_');
  return name;
});

// A comparison that always agrees would accept every file.
TEST(ShownCommands, ALineIsComparedToTheLetterButForDots) {
  EXPECT_TRUE(matches_line("exp: no run a", "exp: no run a"));
  EXPECT_FALSE(matches_line("exp: no run a", "exp: no run ab"));
  EXPECT_FALSE(matches_line("", "a"));
  EXPECT_TRUE(matches_line("a ... c", "a b c"));
  EXPECT_TRUE(matches_line("a...", "a"));
  EXPECT_FALSE(matches_line("a...b...c", "a c"));
  EXPECT_FALSE(matches_line("...a", "ab"));
}

TEST(ShownCommands, ALineOfDotsStandsForAnyLines) {
  using Lines = std::vector<std::string>;
  EXPECT_TRUE(match_lines(Lines{}, Lines{}));
  EXPECT_FALSE(match_lines(Lines{}, Lines{"a"}));
  EXPECT_FALSE(match_lines(Lines{"a"}, Lines{}));
  EXPECT_TRUE(match_lines(Lines{"a", "...", "c"}, Lines{"a", "b", "b", "c"}));
  EXPECT_TRUE(match_lines(Lines{"a", "...", "c"}, Lines{"a", "c"}));
  EXPECT_FALSE(match_lines(Lines{"a", "...", "c"}, Lines{"a", "b"}));
}

TEST(ShownCommands, StepsKeepTheirOrderTheirFilesAndTheirCodes) {
  const std::vector<CommandStep> steps =
      steps_of("# head\n\n@ a.toml\n$ no command\n@\n$ exp one \\\n  two\nout\n[2]\n\n# more\n$ exp three\n");
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].content, "$ no command\n");
  EXPECT_EQ(steps[1].command, "exp one two");
  EXPECT_EQ(steps[1].output, std::vector<std::string>{"out"});
  EXPECT_EQ(steps[1].exit_code, 2);
  EXPECT_EQ(steps[2].command, "exp three");
  EXPECT_EQ(steps[2].line, 12);
}

}  // namespace
}  // namespace encore::system_test
