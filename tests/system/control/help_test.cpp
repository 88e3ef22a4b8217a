// SPDX-License-Identifier: BSD-3-Clause
// Tests the help of every verb (cli/help_verb.cpp, cli/binder.hpp): that its lines fit the terminal, and that
// the examples of every verb and action, found by calling `exp` itself, run. They run with the real worker in
// a folder that holds the files they name, in the order of the verbs, except that those that make plugins are
// first, and one export is before the `exp serve` that needs it. A new example in a help text must run here.
// The numbers of verbs and examples below are lower limits, so that a test that finds none fails.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <sstream>

#include "review/queue.hpp"
#include "support/pdf_file.hpp"
#include "support/places.hpp"
#include "system/control/application_fixture.hpp"
#include "system/control/days.hpp"
#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

/// Returns the names in a list of verbs or actions: lines of two blanks, a name, two or more blanks, a
/// summary.
std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ") || line.size() < 3 || line[2] == ' ' || line[2] == '-') continue;
    const std::string name = line.substr(2, line.find(' ', 2) - 2);
    if (line.compare(2 + name.size(), 2, "  ") == 0) names.push_back(name);
  }
  return names;
}

std::vector<std::string> examples_in(const std::string& help) {
  std::vector<std::string> commands;
  std::istringstream lines(help);
  const std::string mark = "example: ";
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(mark)) commands.push_back(line.substr(mark.size()));
  return commands;
}

/// Returns the words of a command line. Double quotes around a word with blanks are removed.
std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (char letter : command) {
    if (letter == '"')
      quoted = !quoted;
    else if (letter == ' ' && !quoted)
      words.emplace_back();
    else
      words.back() += letter;
  }
  return words;
}

/// Returns the examples of one verb or action; it must have at least one.
std::vector<std::string> examples_of(const Sandbox& sandbox, const std::string& verb) {
  std::vector<std::string> asking = words_of(verb);
  asking.emplace_back("-h");
  const runner::ProgramOutput help = sandbox.exp(asking);
  EXPECT_EQ(help.end.exit_code, 0) << verb << help.errors;
  const std::vector<std::string> commands = examples_in(help.output);
  EXPECT_TRUE(std::ranges::any_of(
      commands, [&](const std::string& command) { return (command + " ").starts_with("exp " + verb + " "); }))
      << "exp " << verb << " -h shows no example of exp " << verb << "\n"
      << help.output;
  return commands;
}

/// Collects the examples of every verb, then those of its actions.
std::vector<std::string> all_examples(const Sandbox& sandbox) {
  std::vector<std::string> all;
  const auto take = [&](const std::string& verb) {
    for (std::string& command : examples_of(sandbox, verb))
      if (std::ranges::find(all, command) == all.end())  // a verb may show an example of its actions
        all.push_back(std::move(command));
  };
  const std::vector<std::string> verbs = names_in(sandbox.exp({"help"}).output);
  EXPECT_GE(verbs.size(), 26u);
  for (const std::string& verb : verbs) {
    take(verb);
    const std::string help = sandbox.exp({verb, "-h"}).output;
    EXPECT_EQ(help, sandbox.exp({"help", verb}).output);
    if (!help.starts_with("exp " + verb + " ACTION")) continue;
    for (const std::string& action : names_in(help)) take(verb + " " + action);
  }
  return all;
}

/// Returns the sandbox's experiment as a BERT. Its name is that of the sweep in the examples of pretrained
/// folders.
std::string example_of_bert() {
  std::string text = tiny_experiment("minilm_wnut17");
  const auto replace = [&](const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from << " is not in\n" << text;
    if (at != std::string::npos) text.replace(at, from.size(), to);
  };
  replace("\nseed = 1\n", "\nseeds = [1, 2]\n");
  replace("[model]\n",
          "[model]\npositions = \"learned\"\nembedding_norm = true\nembedding_scale = \"none\"\n");
  return text;
}

bool makes_a_plugin(const std::string& command) {
  return command.starts_with("exp plugin new ") || command.starts_with("exp plugin build ");
}

/// Runs a program that would run for ever and ends it once it works. Its port may be in use on this machine,
/// so it gets a free one.
runner::ProgramOutput served(const Sandbox& sandbox, std::vector<std::string> words) {
  if (std::ranges::find(words, "--port") == words.end()) words.insert(words.end(), {"--port", "0"});
  std::filesystem::remove(sandbox.folder() / "serve.txt");  // that of the example before
  const pid_t server = sandbox.start(words, "serve.txt");
  sandbox.wait_for_text("serve.txt", "serving ");
  ::kill(server, SIGTERM);
  const std::optional<runner::ProcessEnd> end = Sandbox::wait(server);
  return {.end = end.value_or(runner::ProcessEnd{.exit_code = 1}),
          .output = sandbox.read("serve.txt"),
          .errors = ""};
}

/// Makes the application and the queue of the examples about reviews, with the item that they name.
void make_queue(const Sandbox& sandbox) {
  write_application(sandbox);
  const runner::ProgramOutput trained = sandbox.exp({"run", "desk.toml", "-q"});
  EXPECT_EQ(trained.end.exit_code, 0) << trained.errors;
  review::Queue queue =
      review::Queue::make(sandbox.folder() / "desk.queue",
                          {.application = "desk", .text_days = 30.0, .format = "tsv"}, {"billing"});
  queue.add(std::vector<review::NewItem>{{.id = "5b1f0c2a9e44-1", .confidence = 0.4, .text = "where is it?"},
                                         {.id = "5b1f0c2a9e44-2", .confidence = 0.6, .text = "the invoice"}},
            {}, "exp serve");
}

/// Returns lines of a help text that are too wide. Commands are exempt, because a user copies them as one
/// line.
std::vector<std::string> wide_lines(const std::string& help, std::size_t width) {
  std::vector<std::string> wide;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);)
    if (line.size() > width && !line.starts_with("example: ")) wide.push_back(line);
  return wide;
}

TEST(Help, FitsTheTerminalForEveryVerb) {
  const Sandbox sandbox(false);
  std::vector<std::vector<std::string>> all = {{"help"}};
  for (const std::string& verb : names_in(sandbox.exp({"help"}).output)) {
    all.push_back({verb, "-h"});
    const std::string help = sandbox.exp({verb, "-h"}).output;
    if (!help.starts_with("exp " + verb + " ACTION")) continue;
    for (const std::string& action : names_in(help)) all.push_back({verb, action, "-h"});
  }
  EXPECT_GE(all.size(), 45u);
  for (const std::vector<std::string>& words : all) {
    const runner::ProgramOutput help = sandbox.exp(words);
    EXPECT_EQ(help.end.exit_code, 0) << words[0];
    EXPECT_EQ(wide_lines(help.output, 100), std::vector<std::string>()) << words[0];
    std::string command = "COLUMNS=72 exp";
    for (const std::string& word : words) command += " " + word;
    const runner::ProgramOutput narrow = sandbox.shell(command);
    EXPECT_EQ(wide_lines(narrow.output, 72), std::vector<std::string>()) << words[0];
    EXPECT_NE(narrow.output, help.output) << words[0];
  }
}

TEST(Help, TheExamplesOfEveryVerbRunWithTheRealWorker) {
  const runner::ProgramOutput version =
      runner::run_program(ENCORE_BUILD_DIR "/bin/encore-worker", {"version"});
  if (!version.end.success()) GTEST_SKIP() << "this worker does not run here: " << version.errors;
  const Sandbox sandbox(true);
  sandbox.write("experiments/quickstart.toml", tiny_experiment("quickstart"));
  for (const std::string set : {"train.conll", "dev.conll", "test.conll"}) {
    sandbox.write("experiments/" + set, sandbox.read(set));
    sandbox.write("experiments/corpus/" + set, sandbox.read(set));
  }
  sandbox.write("notes.txt", "Anna lives in Lund .\n");
  sandbox.write("words.conll", "Anna\nlives\n");
  sandbox.write("bill.pdf", test::pdf_file({{"bill AC-1201", "total 9.00"}}));
  // The examples about more data need sentences that the corpus does not have.
  for (const char* file : {"new.conll", "fresh.conll"}) {
    std::string sentences;
    for (int i = 0; i < 60; ++i)
      sentences += "Anna\tB-PER\nsees\tO\n" + std::string(file) + "\tO\n" + std::to_string(i) + "\tO\n\n";
    sandbox.write(file, sentences);
  }
  sandbox.write("alerts.toml",
                "[[alert]]\nname = \"many negative\"\nlabel = \"negative\"\nabove = 0.4\nwindow = \"1h\"\n");
  sandbox.write("events.jsonl", "{\"time\": 1770000000, \"id\": \"a\", \"label\": \"negative\"}\n");
  sandbox.write("token.txt", "0123456789abcdef0123456789abcdef\n");
  std::filesystem::permissions(sandbox.folder() / "token.txt", std::filesystem::perms(0600));
  // The examples about models from elsewhere need a folder with the form of one.
  sandbox.write("minilm.toml", example_of_bert());
  const runner::ProgramOutput trained = sandbox.exp({"run", "minilm.toml", "-q"});
  EXPECT_EQ(trained.end.exit_code, 0) << trained.errors;
  // The examples about generated text need a language model.
  write_days(sandbox, "shakespeare");
  const runner::ProgramOutput taught = sandbox.exp({"run", "shakespeare.toml", "-q"});
  EXPECT_EQ(taught.end.exit_code, 0) << taught.errors;
  sandbox.write("prompts.txt", "mon\ntues\n");
  std::string tickets = "message,kind\n";
  for (int i = 0; i < 60; ++i)
    tickets += "please help with order " + std::to_string(i) +
               (i % 3 == 0   ? ",billing\n"
                : i % 3 == 1 ? ",delivery\n"
                             : ",other\n");
  sandbox.write("tickets.csv", tickets);
  for (const char* database : {"cluster.db", "a.db", "b.db"}) {
    const runner::ProgramOutput elsewhere = sandbox.exp({"run", "experiments/quickstart.toml", "-q", "--db",
                                                         database, "-S", "name=elsewhere", "-S", "seed=9"});
    EXPECT_EQ(elsewhere.end.exit_code, 0) << elsewhere.errors;
  }
  // The examples about bundles of another person need such a bundle.
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"run", "experiments/quickstart.toml", "-q", "--db", "given.db"},
        {"bundle", "quickstart", "-o", "quickstart.tar.zst", "--db", "given.db"}}) {
    const runner::ProgramOutput given = sandbox.exp(command);
    EXPECT_EQ(given.end.exit_code, 0) << given.errors;
  }
  sandbox.write("models/README", "folders of models from elsewhere\n");
  for (const char* folder : {"models/all-MiniLM-L6-v2", "models/bert-ner"}) {
    const runner::ProgramOutput exported = sandbox.exp({"export", "minilm_wnut17-s1", "-o", folder});
    EXPECT_EQ(exported.end.exit_code, 0) << exported.errors;
  }
  make_queue(sandbox);
  sandbox.write("articles.jsonl",
                "{\"id\": \"refunds\", \"text\": \"How to get a refund .\"}\n"
                "{\"id\": \"old\", \"text\": \"Anna lives in Lund .\"}\n"
                "{\"id\": \"returns\", \"text\": \"How to get your money back .\"}\n");
  sandbox.write("new.jsonl", "{\"id\": \"new\", \"text\": \"Anna sees the mayor .\"}\n");
  sandbox.write("old.txt", "old\n");
  std::vector<std::string> commands = all_examples(sandbox);
  EXPECT_GE(commands.size(), 50u);
  std::ranges::stable_partition(commands, makes_a_plugin);  // other examples use these plugins
  // An example of serve uses the folder that a later one writes.
  const auto begins = [](const char* with) {
    return [with](const std::string& command) { return command.starts_with(with); };
  };
  const auto serves = std::ranges::find_if(commands, begins("exp serve "));
  const auto writes = std::ranges::find_if(commands, begins("exp export quickstart --format encore "));
  ASSERT_TRUE(serves < writes && writes != commands.end());
  std::rotate(serves, writes, writes + 1);
  for (const std::string& command : commands) {
    std::vector<std::string> words = words_of(command);
    ASSERT_EQ(words.front(), "exp") << command;
    words.erase(words.begin());
    for (std::string& word : words)  // what is built here, is built for this backend
      if (const std::size_t at = word.find("/build/openmp/"); at != std::string::npos)
        word.replace(at, 14, "/build/" ENCORE_BACKEND_NAME "/");
    if (words.front() == "text" && sandbox.shell("pdftotext -v").end.exit_code == 127) continue;
    const runner::ProgramOutput output =
        words.front() == "serve" ? served(sandbox, words) : sandbox.exp(words);
    // On a busy machine a second measurement can be slower than the first, which is exit code 1.
    const bool compares = command.starts_with("exp bench") && command.find("--against") != std::string::npos;
    // A run this small need not become better when it is retrained.
    const bool judges = words.front() == "retrain";
    EXPECT_TRUE(output.end.exit_code == 0 || (compares && output.end.exit_code == 1) ||
                (judges && output.end.exit_code == 4))
        << command << "\n"
        << output.output << output.errors;
  }
}

}  // namespace
}  // namespace encore::system_test
