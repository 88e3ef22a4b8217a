// SPDX-License-Identifier: BSD-3-Clause
// Tests completions() (cli/verbs.hpp): the words that bash and zsh offer at each place of a command line
// of `exp`. They follow from the forms of the verbs, and from the names in the database. tests/system runs
// the scripts through real shells. The lists here change with the verbs.
#include "cli/verbs.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "store/store.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::cli {
namespace {

using Words = std::vector<std::string>;

bool has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

TEST(Completion, EveryVerbAndActionOffersTheDatabase) {
  for (const Verb& verb : verbs()) {
    if (verb.actions.empty()) {
      EXPECT_EQ(completions({verb.name, "--db"}), Words{"--db"});
    }
    for (const Verb& action : verb.actions)
      EXPECT_EQ(completions({verb.name, action.name, "--db"}), Words{"--db"});
  }
}

TEST(Completion, OffersVerbsActionsAndOptions) {
  EXPECT_EQ(completions({"sho"}), Words{"show"});
  EXPECT_EQ(completions({"db", ""}), (Words{"backup", "check", "merge", "path", "upgrade", "vacuum"}));
  EXPECT_EQ(completions({"db", "check", "--q"}), Words{"--quick"});
  const Words options = completions({"run", "x.toml", "-"});
  for (const char* option : {"--set", "-S", "--fresh", "--backend", "--help", "-h"})
    EXPECT_TRUE(has(options, option));
  EXPECT_FALSE(has(completions({"run", "x.toml", "--"}), "-S"));
  EXPECT_EQ(completions({"run", "--backend", ""}), (Words{"cuda", "hip", "openmp", "serial"}));
  EXPECT_EQ(completions({"ls", "--state", "com"}), Words{"completed"});
  EXPECT_EQ(completions({"help", "undel"}), Words{"undelete"});
  EXPECT_EQ(completions({"index", ""}), (Words{"add", "build", "query", "remove", "show"}));
  EXPECT_EQ(completions({"index", "query", "x.index", "--method", "w"}), (Words{"weighted", "words"}));
}

TEST(Completion, EveryVerbThatTakesRunsTakesTheSameOptions) {
  for (const char* name : {"ls",       "show",     "status",  "logs",     "stop",   "retry", "verify",
                           "diff",     "compare",  "report",  "explain",  "tag",    "note",  "rm",
                           "undelete", "evaluate", "predict", "quantize", "export", "dump",  "gc"})
    for (const char* option : {"--state", "--tag", "--sweep", "--where", "--best"})
      EXPECT_EQ(completions({name, "x", option}), Words{option}) << name;
}

TEST(Completion, OffersNothingWhereItKnowsNothing) {
  EXPECT_TRUE(completions({}).empty());
  EXPECT_TRUE(completions({"frobnicate", ""}).empty());
  EXPECT_TRUE(completions({"db", "frobnicate", ""}).empty());
  EXPECT_TRUE(completions({"run", ""}).empty()) << "the shell completes files";
  EXPECT_TRUE(completions({"show", "--db", "/nowhere/e.db", ""}).empty());
}

TEST(Completion, OffersRunsTagsAndSweepsOfTheDatabase) {
  const testing::TemporaryFolder folder;
  const std::string path = (folder / "e.db").string();
  {
    store::Store store(path, store::OpenMode::create);
    for (const char* name : {"wide-s1", "wide-s2", "deep"}) {
      record::Specification specification;
      specification.name = name;
      specification.question = name;
      specification.backend = "openmp";
      store::RunExtras extras;
      extras.sweep = store.add_sweep("wide", "wide.toml", "");
      extras.tags = {"paper"};
      specification.config = {{"model", {{"width", 16}}}};
      store.add_run(specification, extras);
    }
    store.database().execute("INSERT INTO metric (name) VALUES ('dev/f1')");
    store.set_removed({store.find_run("deep").number}, true);
  }
  EXPECT_EQ(completions({"show", "--db", path, ""}), (Words{"wide", "wide-s1", "wide-s2"}));
  EXPECT_EQ(completions({"rm", "--db=" + path, "wide-s1", "wide-s"}), (Words{"wide-s1", "wide-s2"}));
  EXPECT_TRUE(completions({"predict", "--db", path, "wide-s1", ""}).empty()) << "predict takes one";
  EXPECT_EQ(completions({"undelete", "--db", path, ""}), (Words{"deep", "wide"}));
  EXPECT_EQ(completions({"ls", "--db", path, "--tag", ""}), Words{"paper"});
  EXPECT_EQ(completions({"ls", "--db", path, "--sweep", "w"}), Words{"wide"});
  EXPECT_EQ(completions({"rm", "--db", path, "--tag", "p"}), Words{"paper"});
  EXPECT_EQ(completions({"ls", "--db", path, "--sort", "crea"}), Words{"created"});
  EXPECT_EQ(completions({"tag", "--db", path, "--where", "model."}), Words{"model.width"});
  EXPECT_EQ(completions({"predict", "--db", path, "--best", ""}), Words{"dev/f1"});
  EXPECT_EQ(completions({"index", "query", "x.index", "--db", path, "--model", "wide-s"}),
            (Words{"wide-s1", "wide-s2"}));
}

}  // namespace
}  // namespace encore::cli
