// SPDX-License-Identifier: BSD-3-Clause
// Tests the names of runs (plan/run_names.hpp, label.hpp and name_pattern.hpp): labels of values, keys where
// a value alone is not clear, patterns, limits; and that no name is part of an identity. Users keep these
// names in scripts, so a longer sweep must not rename existing runs.
#include <gtest/gtest.h>

#include <set>

#include "plan/label.hpp"
#include "plan/name_pattern.hpp"
#include "plan/run_names.hpp"
#include "unit/plan/planning.hpp"

namespace encore::plan {
namespace {

using planning::names;
using planning::plan;
using Names = std::vector<std::string>;

const std::string attention =
    "\"model.layer.attention\" = [{ type = \"self_attention\" }, { type = \"alibi_attention\" }]\n";

/// Returns the sample with another name, which is in line 1, followed by a sweep.
std::string named(const std::string& name, const std::string& sweep) {
  return sample::changed(sample::experiment, "name = \"tiny\"", "name = \"" + name + "\"") + sweep;
}

TEST(Names, AWordIsALabelAndANumberFollowsItsOption) {
  EXPECT_EQ(names(plan(planning::swept("[sweep.grid]\n" + attention + "\"model.dropout\" = [0.1]\n"))),
            (Names{"tiny-self_attention-dropout=0.1-s1", "tiny-alibi_attention-dropout=0.1-s1"}));
  EXPECT_EQ(names(plan(planning::swept("[sweep.grid]\n\"train.precision\" = [\"float32\", \"bfloat16\"]\n"))),
            (Names{"tiny-float32-s1", "tiny-bfloat16-s1"}));
}

TEST(Names, ANameOfARunBecomesOneOfAnExperiment) {
  EXPECT_EQ(as_name("g-dropout=0.2-s1"), "g-dropout-0.2-s1");
  EXPECT_EQ(as_name("größer_1.5+x"), "größer_1.5+x") << "nothing else is changed";
}

TEST(Names, AWordThatTwoOptionsTakeFollowsTheirNames) {
  const std::string second = "[model.layer.second]\ntype = \"self_attention\"\n[sweep.grid]\n" + attention +
                             "\"model.layer.second\" = [{ type = \"self_attention\" }]\n";
  EXPECT_EQ(
      names(plan(planning::swept(second), {"model.block=[\"attention\", \"second\", \"feed_forward\"]"})),
      (Names{"tiny-attention=self_attention-second=self_attention-s1",
             "tiny-attention=alibi_attention-second=self_attention-s1"}));
}

TEST(Names, OptionsOfEqualNameAreDistinguished) {
  const Plan planned = plan(
      planning::swept("[sweep.grid]\n\"model.dropout\" = [0.2]\n\"model.layer.attention.dropout\" = [0.3]\n"
                      "\"model.head.type\" = [\"linear\"]\n"));
  EXPECT_EQ(names(planned).at(0), "tiny-model.dropout=0.2-attention.dropout=0.3-linear-s1");
}

TEST(Names, APathIsCalledByItsLastPart) {
  config::Value path;
  path.data = std::string("${ENCORE_DATA}/wnut17");
  EXPECT_EQ(label_of(path), "wnut17");
  path.data = std::string("sets/wnut 17//");
  EXPECT_EQ(label_of(path), "wnut_17");
  path.data = std::string("max dev/f1");
  EXPECT_EQ(label_of(path), "f1");
  path.data = std::string("gelu");
  EXPECT_EQ(label_of(path), "gelu");
}

TEST(Names, TablesOfOneTypeAreCalledByWhatDiffers) {
  const std::string heads =
      "\"model.layer.attention\" = [{ type = \"self_attention\", heads = 1, dropout = 0.1 }, "
      "{ type = \"self_attention\", heads = 2, dropout = 0.1 }, { type = \"alibi_attention\" }]\n";
  EXPECT_EQ(
      names(plan(planning::swept("[sweep.grid]\n" + heads))),
      (Names{"tiny-self_attention.heads=1-s1", "tiny-self_attention.heads=2-s1", "tiny-alibi_attention-s1"}));
}

TEST(Names, ValuesThatAZipRepeatsKeepTheirName) {
  const std::string adamw = "{ type = \"adamw\", learning_rate = 1e-3 }",
                    sgd = "{ type = \"sgd\", learning_rate = 0.1 }",
                    faster = "{ type = \"adamw\", learning_rate = 1e-2 }";
  const auto with = [&](const std::string& optimizers, const std::string& epochs) {
    return names(plan(planning::swept("[[sweep.zip]]\noptimizer = [" + optimizers +
                                      "]\n\"train.epochs\" = [" + epochs + "]\n")));
  };
  EXPECT_EQ(with(adamw + ", " + sgd + ", " + adamw, "2, 2, 3"),
            (Names{"tiny-adamw-epochs=2-s1", "tiny-sgd-epochs=2-s1", "tiny-adamw-epochs=3-s1"}));
  EXPECT_EQ(with(adamw + ", " + faster + ", " + faster, "2, 2, 3"),
            (Names{"tiny-adamw.learning_rate=0.001-epochs=2-s1", "tiny-adamw.learning_rate=0.01-epochs=2-s1",
                   "tiny-adamw.learning_rate=0.01-epochs=3-s1"}));
}

/// "all" means every run: no run gets this name, written or made of a setting.
TEST(Names, NoRunIsNamedAll) {
  const auto failure = [](const std::string& name, const std::string& sweep) -> std::string {
    try {
      plan(named(name, sweep));
    } catch (const config::ConfigErrors& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(failure("all", "").find("no run can be called \"all\""), std::string::npos);
  EXPECT_NE(failure("{data.root}", "[sweep.grid]\n\"data.root\" = [\"all\"]\n")
                .find("1:9: the name of a run becomes \"all\"; no run can be called \"all\""),
            std::string::npos)
      << failure("{data.root}", "[sweep.grid]\n\"data.root\" = [\"all\"]\n");
  EXPECT_EQ(failure("small-{data.root}", "[sweep.grid]\n\"data.root\" = [\"all\"]\n"), "");
}

TEST(Names, ValuesThatLookAlikeKeepTheirNumber) {
  std::vector<config::Value> values(6);
  values[0].data = values[2].data = std::string("a/set");
  values[1].data = std::string("b/set");
  values[3].data = std::int64_t{1};
  values[4].data = 1.0;
  values[5].data = std::int64_t{1};
  EXPECT_EQ(labels_of(values), (Names{"set", "set.2", "set", "1", "1.5", "1"}));
}

/// A longer list keeps the existing names.
TEST(Names, AnotherValueRenamesNoRun) {
  const auto with = [](const std::string& values) {
    return names(plan(planning::swept("[sweep.grid]\n\"model.layers\" = [" + values + "]\n" + attention)));
  };
  const Names one = with("2"), three = with("4, 2, 6");
  EXPECT_EQ(one, (Names{"tiny-layers=2-self_attention-s1", "tiny-layers=2-alibi_attention-s1"}));
  EXPECT_EQ(Names(three.begin() + 2, three.begin() + 4), one);
}

TEST(Names, ADrawIsCalledByThreeDigits) {
  const std::string sweep =
      "[sweep]\ndraws = 2\n[sweep.random]\n\"optimizer.weight_decay\" = { log_uniform = [1e-4, 1e-1] }\n";
  const Plan planned = plan(planning::swept(sweep));
  EXPECT_EQ(names(planned), (Names{"tiny-weight_decay=0.00327-s1", "tiny-weight_decay=0.000666-s1"}));
  EXPECT_EQ(planned.points[0].varied[0].second, "0.00327243") << "the value keeps its six";
}

TEST(Names, DrawsThatLookAlikeAreNumbered) {
  const Plan planned = plan(planning::swept(
      "[sweep]\ndraws = 60\n[sweep.random]\n\"optimizer.weight_decay\" = { uniform = [0.1, 0.10002] }\n"));
  const Names all = names(planned);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), planned.points.size());
  EXPECT_EQ(all[0], "tiny-weight_decay=0.1-s1");
  EXPECT_EQ(all[1], "tiny-weight_decay=0.1-2-s1") << "before the seed, so that replicates share it";
}

TEST(Names, AreBounded) {
  std::string sweep = "[sweep.grid]\n";
  for (const char* key :
       {"model.layers", "model.groups", "train.epochs", "train.patience", "train.digest_steps",
        "train.batch_size", "train.evaluate_every", "train.checkpoint_every"})
    sweep += "\"" + std::string(key) + "\" = [1]\n";
  const auto with = [&](const std::string& last) {
    return names(plan(planning::swept(sweep + "\"data.max_length\" = [" + last + "]\n")));
  };
  const Names two = with("30, 40");
  for (const std::string& name : two) {
    EXPECT_EQ(name.size(), longest_point_name + 3) << name;
    EXPECT_TRUE(name.starts_with("tiny-layers=1-groups=1-epochs=1-")) << name;
  }
  EXPECT_NE(two[0], two[1]) << "the hash is over the whole name";
  EXPECT_EQ(with("20, 30")[1], two[0]);
}

// --- patterns ---

TEST(Names, APatternNamesOptions) {
  const std::string sweep = "[sweep.grid]\n\"model.dropout\" = [0.1, 0.3]\n" + attention;
  const Plan planned = plan(named("d{model.dropout}-{attention}", sweep));
  EXPECT_EQ(names(planned), (Names{"d0.1-self_attention-s1", "d0.1-alibi_attention-s1",
                                   "d0.3-self_attention-s1", "d0.3-alibi_attention-s1"}));
  EXPECT_EQ(planned.name, "a") << "the sweep is named after its file";
  EXPECT_EQ(planned.points[0].group_name, "d0.1-self_attention");
  EXPECT_EQ(names(plan(named("{seed}of{dropout}", sweep))).at(1), "1of0.1-alibi_attention");
}

TEST(Names, OptionsThatAPatternLeavesOutFollow) {
  EXPECT_EQ(names(plan(named("x{dropout}", "[sweep.grid]\n\"model.dropout\" = [0.1]\n" + attention))),
            (Names{"x0.1-self_attention-s1", "x0.1-alibi_attention-s1"}));
}

TEST(Names, APatternMayNameAnOptionThatIsNotVaried) {
  EXPECT_EQ(names(plan(named("w{width}-{attention}-{head}", ""))), (Names{"w8-self_attention-linear-s1"}));
  const std::string optimizers =
      "[sweep.grid]\n\"optimizer\" = [{ type = \"adamw\", learning_rate = 1e-3 }, "
      "{ type = \"sgd\", learning_rate = 1e-3, momentum = 0.5 }]\n";
  EXPECT_EQ(names(plan(named("m{momentum}", optimizers))), (Names{"mnone-adamw-s1", "m0.5-sgd-s1"}))
      << "the name of a run without the option shows that";
}

std::string name_problem(const std::string& name, const std::string& sweep = "") {
  return planning::problem(named(name, sweep));
}

TEST(Names, RejectsAPlaceholderThatIsNotAnOption) {
  EXPECT_EQ(name_problem("d{model.dropuot}-x"),
            "dir/a.toml:1:10: the name's {model.dropuot} is not an option of any run; did you mean "
            "\"model.dropout\"?");
  EXPECT_EQ(name_problem("{attenton}"),
            "dir/a.toml:1:9: the name's {attenton} is not an option of any run; did you mean \"attention\"?");
  EXPECT_EQ(
      name_problem("{zzz}"),
      "dir/a.toml:1:9: the name's {zzz} is not an option of any run; write one as in {model.dropout}, or the "
      "end of one as in {dropout}");
  EXPECT_EQ(
      planning::problem(sample::experiment, {"name=x{dropuot}"}),
      "-S name=x{dropuot}: the name's {dropuot} is not an option of any run; did you mean \"dropout\"?");
}

TEST(Names, RefusesAPlaceholderThatMayBeTwo) {
  EXPECT_EQ(
      name_problem("{type}"),
      "dir/a.toml:1:9: the name's {type} may be \"data.type\" or \"model.head.type\"; write more of the one "
      "that is meant");
}

TEST(Names, RejectsBracesWithoutAPlaceholder) {
  const std::string wrong =
      ": \"{\" begins an option, as in {model.dropout} or {attention}, that ends in \"}\"";
  EXPECT_EQ(name_problem("a{"), "dir/a.toml:1:10: the name \"a{\"" + wrong);
  EXPECT_EQ(name_problem("{}"), "dir/a.toml:1:9: the name \"{}\"" + wrong);
  EXPECT_EQ(name_problem("{a{b}"), "dir/a.toml:1:9: the name \"{a{b}\"" + wrong);
  EXPECT_TRUE(
      name_problem("a b{dropout}").starts_with("dir/a.toml:1:8: the name \"a b{dropout}\" is part of"));
}

TEST(Names, AreNotPartOfAnIdentity) {
  const std::string sweep = "[sweep.grid]\n\"model.dropout\" = [0.1, 0.3]\n";
  const Plan one = plan(planning::swept(sweep)), other = plan(named("d{dropout}", sweep));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(one.points[i].question, other.points[i].question);
    EXPECT_EQ(one.points[i].group, other.points[i].group);
  }
}

}  // namespace
}  // namespace encore::plan
