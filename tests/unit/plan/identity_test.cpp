// SPDX-License-Identifier: BSD-3-Clause
// Tests which settings count in a run's identity, the SHA-256 of its question, the text of all that its bits
// depend on (plan/identity.hpp), and which do not. Databases store these hashes: a change of the hash of an
// existing experiment makes every stored run look new, so the values in NeverChanges stay.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "unit/plan/planning.hpp"

namespace encore::plan {
namespace {

using planning::plan;
using sample::changed;

RunPoint point(const std::string& text, const std::vector<std::string>& overrides = {},
               const std::string& name = "dir/a.toml") {
  Plan planned = plan(text, overrides, name);
  EXPECT_EQ(planned.points.size(), 1U);
  return planned.points.at(0);
}

std::string question(const std::string& text, const std::vector<std::string>& overrides = {},
                     const std::string& name = "dir/a.toml") {
  return point(text, overrides, name).question;
}

std::string original() {
  return question(sample::experiment);
}

TEST(Identity, IsReadableCanonicalJson) {
  EXPECT_EQ(
      point(sample::experiment).canonical,
      R"({"data.dev":"sha256:hash-of-dev.conll","data.train":"sha256:hash-of-train.conll","data.type":"conll",)"
      R"("format":1,"model.block":["attention","feed_forward"],"model.head.type":"linear@1",)"
      R"("model.layer.attention.heads":2,"model.layer.attention.type":"self_attention@2",)"
      R"("model.layer.feed_forward.hidden":16,"model.layer.feed_forward.type":"feed_forward@1",)"
      R"("model.layer.layer_norm.type":"layer_norm@1","model.layers":2,"model.width":8,)"
      R"("optimizer.learning_rate":5e-4,"optimizer.type":"adamw@1","schedule.type":"linear@1",)"
      R"("schedule.warmup_steps":20,"seed":1,"task.type":"ner","tokenizer.type":"wordpiece@1","train.epochs":3})");
  EXPECT_EQ(original().size(), 64U);
}

TEST(Identity, NeverChanges) {
  // Databases store these: if one of them changes, every existing run is new to `exp run`.
  const RunPoint run = point(sample::experiment);
  EXPECT_EQ(run.question, "eec0c36935d865b1b1e24d3dcb986a099d0198baf1f9116d01956d5f753921ac");
  EXPECT_EQ(run.group, "5b8974c1572d0f214c9df85905bcdbe019b65bc89df5f976905c5bd9af22715f");
  const std::string tokenizer = "type = \"wordpiece\"\nvocab = \"v.txt\"\nkeep = [\"a \\\"b\\\"\", \"\"]";
  EXPECT_EQ(question(changed(sample::experiment, "type = \"wordpiece\"", tokenizer)),
            "398397342f224f81156018f8d7859ecfbfec24efb8a2791875000c1374ad5514");
  const Plan drawn = plan(sample::experiment +
                          "[sweep]\ndraws = 2\n[sweep.random]\n\"optimizer.learning_rate\" = { log_uniform = "
                          "[1e-5, 1e-2] }\n");
  ASSERT_EQ(drawn.points.size(), 2U);
  EXPECT_EQ(drawn.points[0].question, "5d74247c612df82901615acf7239609865a640e9350dd263e97df53ea5787a76");
  EXPECT_EQ(drawn.points[1].question, "bea1535f06ff05ca9903a1f7eaaef57537dc884e5969a385aca88c1fe0b22f04");
}

TEST(Identity, AFinalNormThatIsThereAnywayDoesNotCount) {
  const auto with = [](const char* line) {
    return question(changed(sample::experiment, "layers = 2\n", std::string("layers = 2\n") + line));
  };
  EXPECT_EQ(with("final_norm = false\n"), original());
  EXPECT_NE(with("final_norm = true\n"), original());
  const std::string pre = with("norm_position = \"pre\"\n");
  EXPECT_EQ(with("norm_position = \"pre\"\nfinal_norm = true\n"), pre);
  EXPECT_NE(with("norm_position = \"pre\"\nfinal_norm = false\n"), pre);
  EXPECT_EQ(with("embedding_width = 0\n"), original());
  EXPECT_NE(with("embedding_width = 4\n"), original());
}

TEST(Identity, FormattingAndCommentsDoNotCount) {
  std::string text = "# a comment\n\n";
  for (const char letter : sample::experiment) {
    if (letter == '=')
      text += "   =\t";
    else if (letter == '\n')
      text += "   # why\n\n";
    else
      text += letter;
  }
  EXPECT_EQ(question(text), original());
  EXPECT_EQ(question(changed(sample::experiment, "5e-4", "0.0005")), original());
  EXPECT_EQ(question(changed(sample::experiment, "warmup_steps = 20", "warmup_steps = 0x14")), original());
}

TEST(Identity, OrderOfTablesAndKeysDoesNotCount) {
  // Tables at the first level of brackets, shuffled with the lines inside them.
  std::vector<std::vector<std::string>> tables(1);
  std::string line;
  for (const char letter : sample::experiment) {
    line += letter;
    if (letter != '\n') continue;
    if (line.front() == '[') tables.emplace_back();
    tables.back().push_back(line);
    line.clear();
  }
  std::mt19937 random(7);
  for (int trial = 0; trial < 50; ++trial) {
    auto shuffled = tables;
    std::shuffle(shuffled.begin() + 1, shuffled.end(), random);
    std::string text;
    for (auto& table : shuffled) {
      const bool header = table.front().front() == '[';
      std::shuffle(table.begin() + (header ? 1 : 0), table.end(), random);
      for (const std::string& part : table) text += part;
    }
    EXPECT_EQ(question(text), original()) << text;
  }
}

TEST(Identity, ADefaultWrittenOutDoesNotCount) {
  EXPECT_EQ(question(changed(sample::experiment, "layers = 2",
                             "layers = 2\ndropout = 0.1\nnorm_position = \"post\"")),
            original());
  EXPECT_EQ(question(changed(sample::experiment, "heads = 2", "heads = 2\ndropout = 0")), original());
  EXPECT_EQ(question(changed(sample::experiment, "[model.head]",
                             "[model.layer.layer_norm]\ntype = \"layer_norm\"\n[model.head]")),
            original());
  EXPECT_EQ(question(sample::experiment, {"train.clip_norm=1"}), original());
  EXPECT_EQ(question(sample::experiment, {"train.precision=float16", "train.loss_scale=65536"}),
            question(sample::experiment, {"train.precision=float16"}));
  EXPECT_NE(question(sample::experiment, {"train.loss_scale=65536"}), original());
}

TEST(Identity, NamesNotesAndWhereDataLiesDoNotCount) {
  EXPECT_EQ(question(changed(sample::experiment, "\"tiny\"", "\"other\"\nnote = \"n\"\ntags = [\"t\"]")),
            original());
  EXPECT_EQ(question(changed(sample::experiment, "\"corpus\"", "\"/somewhere/else\"")), original());
  EXPECT_EQ(question(sample::experiment, {}, "elsewhere/b.toml"), original());
  EXPECT_EQ(question(changed(sample::experiment, "root = \"corpus\"\n", "")), original());
  EXPECT_EQ(question(sample::experiment, {"data.private=true"}), original());
}

TEST(Identity, EveryValueCounts) {
  std::vector<std::string> seen = {original()};
  for (const char* set :
       {"seed=2", "model.width=10", "model.dropout=0.2", "model.layer.attention.heads=4",
        "model.layer.attention.type=alibi_attention", "optimizer.learning_rate=4e-4",
        "optimizer.weight_decay=0", "train.epochs=4", "data.max_length=128", "tokenizer.vocab_size=100",
        "tokenizer.keep=[\"a\"]", "model.head.residual_norm=true", "data.train=other.conll",
        "data.test=test.conll", "tokenizer.vocab=vocab.txt", "model.positions=learned"}) {
    const std::string one = question(sample::experiment, {set});
    EXPECT_EQ(std::count(seen.begin(), seen.end(), one), 0) << set;
    seen.push_back(one);
  }
}

TEST(Identity, TheTasksOwnSelectDoesNotCountAndAnotherDoes) {
  EXPECT_EQ(question(sample::experiment, {"train.select=max dev/f1"}), original());
  const RunPoint other = point(sample::experiment, {"train.select=max dev/recall"});
  EXPECT_NE(other.question, original());
  EXPECT_NE(other.canonical.find(R"("train.select":"max dev/recall")"), std::string::npos) << other.canonical;
}

TEST(Identity, AFirstVersionOfATaskOrReaderIsNotWritten) {
  const RunPoint run = point(sample::experiment, {"task.type=classify", "data.type=tsv", "data.names=n.txt"});
  EXPECT_NE(run.canonical.find(R"("task.type":"classify@2")"), std::string::npos) << run.canonical;
  EXPECT_NE(run.canonical.find(R"("data.type":"tsv")"), std::string::npos) << run.canonical;
  EXPECT_NE(run.canonical.find(R"("data.names":"sha256:hash-of-n.txt")"), std::string::npos) << run.canonical;
  EXPECT_EQ(run.canonical.find("separator"), std::string::npos) << "a default of the reader";
  EXPECT_EQ(run.canonical.find("train.select"), std::string::npos) << "the task's own";
  EXPECT_EQ(run.data.at("names").sha256, "hash-of-n.txt");
}

TEST(Identity, AFileCountsByItsContent) {
  EXPECT_EQ(question(sample::experiment, {"tokenizer.vocab=a/vocab.txt"}),
            question(sample::experiment, {"tokenizer.vocab=/b/vocab.txt"}));
  EXPECT_EQ(point(sample::experiment, {"tokenizer.vocab=/b/vocab.txt"}).data.at("vocab").sha256,
            "hash-of-vocab.txt");
}

TEST(Identity, FilesOfAListCountByTheirPlaceAndOneIsItself) {
  const RunPoint both = point(sample::experiment, {"data.train=[\"a\", \"b\"]"});
  EXPECT_NE(both.canonical.find(R"("data.train":["sha256:hash-of-a","sha256:hash-of-b"])"), std::string::npos)
      << both.canonical;
  EXPECT_EQ(both.data.at("train").sha256, "hash-of-a");
  EXPECT_EQ(both.data.at("train.2").sha256, "hash-of-b");
  EXPECT_NE(question(sample::experiment, {"data.train=[\"b\", \"a\"]"}), both.question);
  EXPECT_EQ(question(sample::experiment, {"data.train=[\"train.conll\"]"}), original());
}

TEST(Identity, SharesAndPercentagesCount) {
  const std::string split = changed(sample::experiment, "dev = \"dev.conll\"", "split = [0.8, 0.1, 0.1]");
  const RunPoint cut = point(split);
  EXPECT_NE(cut.canonical.find(R"("data.split":[0.8,0.1,0.1],)"), std::string::npos) << cut.canonical;
  EXPECT_FALSE(cut.data.contains("dev"));
  EXPECT_NE(question(split, {"data.split=[0.9, 0.1]"}), cut.question);
  EXPECT_NE(question(split, {"data.stratify=true"}), cut.question);
  EXPECT_EQ(question(split, {"data.stratify=false"}), cut.question);
  const RunPoint share = point(sample::experiment, {"data.max_length=95%"});
  EXPECT_NE(share.canonical.find(R"("data.max_length":"95%")"), std::string::npos) << share.canonical;
  EXPECT_EQ(question(sample::experiment, {"data.max_length=95.0%"}), share.question);
}

TEST(Identity, AVersionOfATypeCounts) {
  config::Manifest manifest = sample::catalogue().manifests().at(0);
  for (config::ManifestOffer& offer : manifest.offers)
    if (offer.name == "feed_forward") offer.version = 2;
  config::Catalogue newer;
  newer.add(manifest);
  const Plan planned =
      make_plan(config::parse_experiment_file(sample::experiment, "a.toml"), newer, planning::hash_of_name);
  EXPECT_NE(planned.points.at(0).question, original());
}

TEST(Identity, AnOptionAddedToASchemaDoesNotCount) {
  config::Manifest manifest = sample::catalogue().manifests().at(0);
  for (config::ManifestOffer& offer : manifest.offers)
    if (offer.name == "feed_forward") offer.options.number("gate", 0.5, {});
  config::Catalogue newer;
  newer.add(manifest);
  const Plan planned =
      make_plan(config::parse_experiment_file(sample::experiment, "a.toml"), newer, planning::hash_of_name);
  EXPECT_EQ(planned.points.at(0).question, original());
}

TEST(Identity, ReplicatesShareAGroup) {
  const Plan planned = plan(changed(sample::experiment, "seed = 1", "seeds = [1, 2]"));
  ASSERT_EQ(planned.points.size(), 2U);
  EXPECT_EQ(planned.points[0].question, original());
  EXPECT_NE(planned.points[0].question, planned.points[1].question);
  EXPECT_EQ(planned.points[0].group, planned.points[1].group);
  EXPECT_NE(planned.points[0].group, plan(sample::experiment, {"train.epochs=4"}).points[0].group);
}

}  // namespace
}  // namespace encore::plan
