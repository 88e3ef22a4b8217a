// SPDX-License-Identifier: BSD-3-Clause
// Tests that `exp` bounds its input (base/input_file.hpp, base/json_text.hpp and others): input from outside
// that is invalid or has no end is rejected with a message, in bounded time and memory, and the contents of
// old databases stop nothing. A limit may change with the one in the code (base/limits.hpp); that there is
// one must stay.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

std::string changed(const std::string& from, const std::string& to) {
  std::string text = tiny_experiment();
  text.replace(text.find(from), from.size(), to);
  return text;
}

class Bounds : public ::testing::Test {
 protected:
  std::string output_of(const std::vector<std::string>& arguments) const {
    const runner::ProgramOutput output = sandbox_.exp(arguments);
    EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors;
    return output.output;
  }
  /// Runs `exp`, which must end with exit code 2, and returns its message.
  std::string refusal(const std::vector<std::string>& arguments) const {
    const runner::ProgramOutput output = sandbox_.exp(arguments);
    EXPECT_EQ(output.end.signal, 0) << output.end.text();
    EXPECT_EQ(output.end.exit_code, 2) << output.output << output.errors;
    return output.errors;
  }
  void make_pipe(const std::string& name) const {
    ASSERT_EQ(::mkfifo((sandbox_.folder() / name).c_str(), 0600), 0);
  }

  Sandbox sandbox_;
};

TEST_F(Bounds, PipesAndDevicesAreNotRead) {
  make_pipe("pipe");
  EXPECT_TRUE(contains(refusal({"run", "pipe"}), "pipe: the experiment file cannot be read: it is a pipe"));
  EXPECT_TRUE(contains(refusal({"plan", "/dev/zero"}), "it is a device, which may never end; name a file"));
  sandbox_.write("data.toml", changed("\"train.conll\"", "\"pipe\""));
  EXPECT_TRUE(contains(refusal({"plan", "data.toml"}), "data.toml:7:9: option \"data.train\": cannot read "));
  sandbox_.write("vocab.toml", changed("vocab_size = 60", "vocab = \"/dev/zero\""));
  EXPECT_TRUE(contains(refusal({"plan", "vocab.toml"}),
                       "vocab.toml:13:9: option \"tokenizer.vocab\": cannot read /dev/zero: it is a device"));
  output_of({"run", "tiny.toml", "--quiet"});
  const std::string flows =
      "it is a pipe, which may never end; write what comes through it to a file, and name that; or read "
      "standard input with --file -";
  EXPECT_TRUE(contains(refusal({"predict", "tiny", "--file", "pipe"}), flows));
}

TEST_F(Bounds, DeepKeysConditionsAndJsonAreRefused) {
  std::string key = "a";
  for (int i = 1; i < 8000; ++i) key += ".a";
  sandbox_.write("key.toml", tiny_experiment() + key + " = 1\n");
  EXPECT_TRUE(contains(refusal({"plan", "key.toml"}), "nest more than 100 levels deep"));
  EXPECT_TRUE(contains(refusal({"plan", "tiny.toml", "-S", key + "=1"}), "has more than the 100 parts"));
  const std::string grid = "[sweep.grid]\n\"model.dropout\" = [0.1, 0.2]\n[sweep]\nexclude = [\"";
  for (const char sign : {'(', '!'}) {
    sandbox_.write("deep.toml",
                   tiny_experiment() + grid + std::string(1000000, sign) + "train.epochs == 1\"]\n");
    EXPECT_TRUE(
        contains(refusal({"plan", "deep.toml"}), "nested more than 100 levels deep at character 102"));
  }
}

TEST_F(Bounds, ThousandsOfProblemsAreCounted) {
  std::string text = tiny_experiment();
  for (int i = 0; i < 20000; ++i) text += "zkey" + std::to_string(i) + " = 1\n";
  sandbox_.write("many.toml", text);
  const std::string errors = refusal({"plan", "many.toml"});
  EXPECT_TRUE(contains(errors, "unknown option \"zkey0\" of [train]"));
  EXPECT_TRUE(errors.ends_with("\nand at least 950 more\n")) << errors.substr(errors.size() - 200);
}

TEST_F(Bounds, NamesAreNeitherFoldersNorTooLong) {
  EXPECT_TRUE(contains(refusal({"plan", "tiny.toml", "--name", ".."}), "the name \"..\" means a folder"));
  sandbox_.write("long.toml", changed("\"tiny\"", "\"" + std::string(300, 'n') + "\""));
  EXPECT_TRUE(
      contains(refusal({"plan", "long.toml"}), "long.toml:1:8: option \"name\" of the experiment has "));
  sandbox_.write("empty.toml", changed("\"train.conll\"", "\"\""));
  EXPECT_TRUE(
      contains(refusal({"plan", "empty.toml"}),
               "empty.toml:7:9: option \"train\" of [data] must be a path in quotes, found an empty one"));
}

TEST_F(Bounds, NamesOfOldDatabasesAreDumped) {
  sandbox_.write("two.toml", tiny_experiment("two") + "[sweep.grid]\n\"model.dropout\" = [0.2, 0.3, 0.4]\n");
  output_of({"run", "two.toml", "--quiet"});
  sandbox_.change("UPDATE run SET name = '..' WHERE number = 1");
  sandbox_.change("UPDATE run SET name = '.' WHERE number = 2");
  sandbox_.change("UPDATE run SET name = '" + std::string(300, 'n') + "' WHERE number = 3");
  EXPECT_TRUE(contains(output_of({"dump", "--tensorboard", "-o", "boards"}), "3 runs written to boards"));
  std::size_t folders = 0;
  for (const auto& entry : std::filesystem::directory_iterator(sandbox_.folder() / "boards")) {
    EXPECT_TRUE(entry.is_directory());
    ++folders;
  }
  EXPECT_EQ(folders, 3U);
  EXPECT_TRUE(std::filesystem::exists(sandbox_.folder() / "boards" /
                                      ("_.-" + sandbox_.one("SELECT id FROM run WHERE number = 1"))));
}

TEST_F(Bounds, DeepJsonInTheDatabaseIsNamedAndStopsNothing) {
  output_of({"run", "tiny.toml", "--quiet"});
  sandbox_.change("PRAGMA ignore_check_constraints = ON; UPDATE host SET description = '" +
                  std::string(100000, '[') + std::string(100000, ']') + "'");
  output_of({"show", "tiny"});
  output_of({"report", "tiny", "-o", "report.html"});
  output_of({"ls"});
  const runner::ProgramOutput check = sandbox_.exp({"db", "check"});
  EXPECT_EQ(check.end.exit_code, 1);
  EXPECT_TRUE(contains(check.errors,
                       "host 1: its description cannot be read: line 1, column 101: nested more than "
                       "100 levels deep"))
      << check.errors;
}

TEST_F(Bounds, ReportsAnExclusionWithoutPoints) {
  sandbox_.write("sweep.toml", tiny_experiment("sweep") +
                                   "[sweep]\nexclude = [\"model.dropout == 0.7\"]\n[sweep.grid]\n"
                                   "\"model.dropout\" = [0.1, 0.2]\n");
  const std::string warning =
      "sweep.toml:36:12: exclude \"model.dropout == 0.7\" meets no point of the sweep";
  EXPECT_TRUE(contains(output_of({"plan", "sweep.toml"}), "warning: " + warning + "\n"));
  const auto plan = nlohmann::json::parse(output_of({"plan", "sweep.toml", "--json"}));
  EXPECT_EQ(plan.at("warnings"), nlohmann::json({warning}));
  EXPECT_TRUE(contains(output_of({"run", "sweep.toml", "--quiet"}), "warning: " + warning + "\n"));
}

}  // namespace
}  // namespace encore::system_test
