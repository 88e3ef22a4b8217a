// SPDX-License-Identifier: BSD-3-Clause
// Tests pretraining and fine-tuning as one experiment with the real worker (infer/parent_weights.hpp): a
// masked language model on plain text, and a tagger that starts from its body. Threads, kills and resumes
// must leave the bits equal; so must a verification.
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>

#include "system/control/real_worker.hpp"

namespace encore::system_test {
namespace {

using nlohmann::json;

/// Returns the words of a CoNLL corpus, one sentence in a line.
std::string words_of(const std::string& corpus) {
  std::string text, line;
  std::istringstream in(corpus);
  while (std::getline(in, line)) {
    if (line.empty())
      text += "\n";
    else
      text += (text.empty() || text.back() == '\n' ? "" : " ") + line.substr(0, line.find_first_of(" \t"));
  }
  return text;
}

void write_experiments(const Sandbox& sandbox) {
  for (const std::string set : {"train", "dev", "test"})
    sandbox.write(set + ".txt", words_of(sandbox.read(set + ".conll")));
  std::string parent = tiny_experiment("pre");
  replace_all(parent, "\"ner\"", "\"mlm\"");
  replace_all(parent, "\"conll\"", "\"text_file\"");
  replace_all(parent, ".conll", ".txt");
  replace_all(parent, "\"linear\"", "\"language_model\"");
  replace_all(parent, "type = \"mlm\"", "type = \"mlm\"\nprobability = 0.3");
  sandbox.write("pre.toml", parent);
  std::string child = tiny_experiment("tuned");
  const std::size_t tokenizer = child.find("[tokenizer]"), head = child.find("[model.head]");
  child.replace(tokenizer, head - tokenizer, "[model]\nfrom = { experiment = \"pre.toml\" }\n");
  sandbox.write("tuned.toml", child);
}

class Pretrain : public RealWorkerTest {
 protected:
  Pretrain() { write_experiments(sandbox_); }

  static std::string id_of(const Sandbox& sandbox, const std::string& name) {
    return sandbox.one("SELECT id FROM run WHERE name = '" + name + "'");
  }
  static std::string file_of(const Sandbox& sandbox, const std::string& name, const std::string& file) {
    return sandbox.read("encore.db.runs/" + id_of(sandbox, name) + "/" + file);
  }
  static std::vector<std::string> digests(const Sandbox& sandbox) {
    return sandbox.query(
        "SELECT name || step || scope || value FROM current_digest JOIN run ON run.number = run ORDER BY 1");
  }
};

TEST_F(Pretrain, OneCommandTrainsBothAndTheChildHasBodyAndVocabularyOfItsParent) {
  output_of({"run", "tuned.toml", "-q"});
  EXPECT_EQ(file_of(sandbox_, "tuned", "vocab.txt"), file_of(sandbox_, "pre", "vocab.txt"));
  const std::string log = output_of({"logs", "tuned"});
  EXPECT_TRUE(contains(log, "model.from, step ") && contains(log, " of " + id_of(sandbox_, "pre") + ": ") &&
              contains(log, "head.bias, head.weight are new; left: head."))
      << log;
  const std::string answer = output_of({"predict", "tuned", "Anna slept"});
  EXPECT_FALSE(answer.empty());
  const json verdict = json::parse(output_of({"verify", "tuned", "--threads", "2", "--json"}));
  EXPECT_EQ(verdict.at("outcome"), "equal");
  const json killed = json::parse(output_of({"verify", "tuned", "--kill-at", "7", "--json"}));
  EXPECT_EQ(killed.at("outcome"), "equal");
  EXPECT_TRUE(contains(output_of({"evaluate", "tuned", "test.conll"}), "F1"));
}

TEST_F(Pretrain, AnyThreadsAndAnyKillEndWithTheSameBits) {
  output_of({"run", "tuned.toml", "-q", "--threads", "1"});
  const std::vector<std::string> whole = digests(sandbox_);
  Sandbox other(true);
  write_experiments(other);
  // Each kill may hit the parent or the child.
  for (const std::string name : {"pre", "tuned"}) {
    const pid_t process = other.start({"run", "tuned.toml", "-q", "--threads", "2"});
    ASSERT_TRUE(other.wait_until([&] {
      return std::filesystem::exists(other.folder() / "encore.db") &&
             other.one("SELECT count(*) FROM checkpoint JOIN run ON run.number = run WHERE name = '" + name +
                       "'") != "0";
    }));
    ::kill(process, SIGKILL);
    for (const pid_t worker : other.workers()) ::kill(worker, SIGKILL);
    Sandbox::wait(process);
    ASSERT_TRUE(other.wait_until_no_workers());
  }
  const runner::ProgramOutput output = other.exp({"run", "tuned.toml", "-q", "--threads", "2"});
  EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors;
  EXPECT_EQ(digests(other), whole);
  EXPECT_EQ(file_of(other, "tuned", "weights.safetensors"),
            file_of(sandbox_, "tuned", "weights.safetensors"));
}

TEST_F(Pretrain, ARunOfTheDatabaseGivesTheSameBits) {
  output_of({"run", "tuned.toml", "-q"});
  std::string named = sandbox_.read("tuned.toml");
  replace_all(named, "{ experiment = \"pre.toml\" }", "{ run = \"pre\" }");
  replace_all(named, "\"tuned\"", "\"named\"");
  sandbox_.write("named.toml", named);
  output_of({"run", "named.toml", "-q"});
  EXPECT_EQ(sandbox_.query("SELECT step || scope || value FROM current_digest JOIN run ON run.number = run "
                           "WHERE name = 'named' ORDER BY 1"),
            sandbox_.query("SELECT step || scope || value FROM current_digest JOIN run ON run.number = run "
                           "WHERE name = 'tuned' ORDER BY 1"));
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM run"), "3") << "the questions differ";
}

}  // namespace
}  // namespace encore::system_test
