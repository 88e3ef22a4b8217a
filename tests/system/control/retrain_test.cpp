// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp retrain` with the real worker (app/retrain.hpp, app/retraining_comparison.hpp), which trains a
// run again on old and new data, for two tasks. The tests check the held-out examples, the comparison, and
// which run of the lineage (a run and those retrained from it) is promoted. A second call must do only the
// work that is missing. Invalid calls are rejected. The printed words may change; names of options and stored
// members must stay.
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>

#include "system/control/hold.hpp"
#include "system/control/real_worker.hpp"

namespace encore::system_test {
namespace {

using nlohmann::json;

/// Returns sentences that the corpus of the sandbox does not have.
std::string news(int begin, int end, const std::string& place_tag = "B-LOC") {
  const char* names[] = {"Frida", "Gustav", "Hanna", "Ivar", "Jonas", "Karin", "Lars"};
  const char* places[] = {"Malmo", "Narvik", "Odense"};
  std::string text;
  for (int i = begin; i < end; ++i)
    text += std::string(names[i % 7]) + "\tB-PER\nworks\tO\nnear\tO\n" + places[i % 3] + "\t" + place_tag +
            "\nfor\tO\n" + std::to_string(i) + "\tO\n\n";
  return text;
}

class Retrain : public RealWorkerTest {
 protected:
  Retrain() {
    sandbox_.write("new.conll", news(0, 60));
    sandbox_.write("fresh.conll", news(100, 112));
  }
  json retrained(std::vector<std::string> arguments, int code) const {
    arguments.insert(arguments.begin(), "retrain");
    arguments.insert(arguments.end(), {"--json", "-q"});
    const runner::ProgramOutput output = sandbox_.exp(arguments);
    EXPECT_EQ(output.end.exit_code, code) << output.output << output.errors;
    return json::parse(output.output);
  }
  std::string tag_holder() const {
    return sandbox_.one(
        "SELECT group_concat(name) FROM run JOIN tag ON tag.run = run.number WHERE tag = 'promoted'");
  }
  std::string runs() const { return sandbox_.one("SELECT count(*) FROM run"); }
  std::string attempts() const { return sandbox_.one("SELECT count(*) FROM attempt"); }
  std::string id_of(const std::string& run) const {
    return sandbox_.one("SELECT id FROM run WHERE name = '" + run + "'");
  }
};

TEST_F(Retrain, LearnsFromBothIsComparedOnBothAndTakesThePlaceOfItsParent) {
  output_of({"run", "tiny.toml", "-q"});
  const std::string plan = output_of({"retrain", "tiny", "--with", "new.conll", "--dry-run"});
  for (const char* part : {"tiny-retrained: start", "from its weights", "20 % of new.conll", "old >= -0.5"})
    EXPECT_TRUE(contains(plan, part)) << plan;
  EXPECT_EQ(runs(), "1") << "a plan writes nothing";

  const json answer =
      retrained({"tiny", "--with", "new.conll", "--promote-if", "old >= -100 and new > -100"}, 0);
  EXPECT_EQ(answer.at("run"), "tiny-retrained");
  EXPECT_EQ(answer.at("parent").at("id"), id_of("tiny"));
  EXPECT_EQ(answer.at("trained"), true);
  EXPECT_EQ(answer.at("promoted"), true);
  const json& both = answer.at("retraining");
  EXPECT_EQ(both.at("measure"), "test/f1");
  EXPECT_EQ(both.at("old").at("examples"), 6);
  const int held = both.at("new").at("examples").get<int>();
  EXPECT_TRUE(held > 3 && held < 25) << held << " of 60";
  for (const char* set : {"old", "new"}) {
    EXPECT_TRUE(both.at(set).at("low").is_number() && both.at(set).at("high").is_number()) << both;
    EXPECT_NEAR(both.at(set).at("gain").get<double>(),
                100 * (both.at(set).at("run").get<double>() - both.at(set).at("parent").get<double>()), 1e-9);
  }
  EXPECT_EQ(both.at("old").at("run").get<double>(),
            std::stod(sandbox_.one("SELECT value FROM curve WHERE metric = 'test/f1' AND run = "
                                   "'tiny-retrained' ORDER BY step DESC")));
  EXPECT_TRUE(contains(output_of({"logs", "tiny-retrained"}),
                       "data.more: 60 examples, " + std::to_string(60 - held) + " of them learned from, " +
                           std::to_string(held) + " held out"));

  EXPECT_EQ(tag_holder(), "tiny-retrained");
  const json shown = json::parse(output_of({"show", "tiny", "--promoted", "--json"}));
  EXPECT_EQ(shown.at("name"), "tiny-retrained");
  EXPECT_EQ(shown.at("retrains").at("name"), "tiny");
  EXPECT_EQ(shown.at("retrains").at("outcome").at("promoted"), true);
  EXPECT_EQ(shown.at("starts_from").at("name"), "tiny");
  const std::string text = output_of({"show", "tiny-retrained"});
  EXPECT_TRUE(contains(text, "retrains    tiny (" + id_of("tiny") + ")")) << text;
  EXPECT_TRUE(contains(text, "on the new set (20 % of new.conll, ")) << text;
  EXPECT_TRUE(contains(output_of({"report", "tiny-retrained", "--format", "json"}),
                       "tiny-retrained retrains tiny (" + id_of("tiny") + "); on the old set (test set, "));
  EXPECT_FALSE(output_of({"predict", "tiny", "--promoted", "Karin works near Odense"}).empty());
  EXPECT_TRUE(contains(output_of({"verify", "tiny-retrained"}), "equal"));
}

TEST_F(Retrain, DoesOnlyWhatIsMissingAndDecidesAgainByAnotherRule) {
  output_of({"run", "tiny.toml", "-q"});
  const std::vector<std::string> call = {"tiny", "--with", "new.conll", "--promote-if", "new >= -100"};
  retrained(call, 0);
  const json again = retrained(call, 0);
  EXPECT_EQ(again.at("trained"), false);
  EXPECT_EQ(attempts(), "2");
  const std::vector<std::string> strict = {"tiny", "--with", "new.conll", "--promote-if", "new > 100"};
  EXPECT_EQ(retrained(strict, 4).at("promoted"), false);
  EXPECT_EQ(tag_holder(), "tiny") << "back to the run that it came from";
  EXPECT_EQ(attempts(), "2");
  retrained(call, 0);
  EXPECT_EQ(tag_holder(), "tiny-retrained");

  // The newest run of a lineage stays, even if an older one is retrained again.
  sandbox_.write("later.conll", news(200, 240));
  const json next =
      retrained({"tiny", "--promoted", "--with", "later.conll", "--promote-if", "new >= -100"}, 0);
  EXPECT_EQ(next.at("parent").at("name"), "tiny-retrained");
  EXPECT_EQ(next.at("run"), "tiny-retrained-2");
  retrained(call, 0);
  EXPECT_EQ(tag_holder(), "tiny-retrained-2");
  EXPECT_TRUE(contains(output_of({"show", "tiny-retrained", "--promoted"}), "tiny-retrained-2"));
  EXPECT_TRUE(contains(output_of({"logs", "tiny-retrained-2"}), "data.more: 100 examples, "))
      << "data added in between is learned too";
  EXPECT_TRUE(
      contains(refusal_of({"retrain", "tiny-retrained", "--with", "later.conll", "--hold-out", "0.3"}),
               "held out 0.2 of its new examples"));
}

TEST_F(Retrain, NamesTheNewRunOfASweepsRunAndSaysWhatIsWrongWithAName) {
  output_of({"run", "tiny.toml", "-q", "--name", "g", "--grid", "model.dropout=0.15,0.2"});
  const std::string plan = output_of({"retrain", "g-dropout=0.2-s1", "--with", "new.conll", "--dry-run"});
  EXPECT_TRUE(plan.starts_with("g-dropout-0.2-s1-retrained: start")) << plan;
  const runner::ProgramOutput refused =
      sandbox_.exp({"retrain", "g-dropout=0.2-s1", "--with", "new.conll", "--name", "a=b", "--dry-run"});
  EXPECT_EQ(refused.end.exit_code, 2);
  EXPECT_TRUE(contains(refused.errors, "--name: the name \"a=b\"")) << refused.errors;
  EXPECT_FALSE(contains(refused.errors, ".toml")) << "no such file is there: " << refused.errors;
}

TEST_F(Retrain, ResumesAfterAKill) {
  std::string text = "plugin_path = [\"" PAUSING_SCHEDULE "\"]\n" + tiny_experiment();
  replace_first(text, "\"constant\"", "\"pausing\"");
  sandbox_.write("tiny.toml", text);
  output_of({"run", "tiny.toml", "-q"});
  const std::vector<std::string> call = {"tiny", "--with", "new.conll", "--promote-if", "new > -100"};
  std::vector<std::string> words = call;
  words.insert(words.begin(), "retrain");
  {
    const Hold hold(sandbox_, 20);
    const pid_t exp = sandbox_.start(words);
    ASSERT_EQ(hold.wait_for().size(), 1U) << sandbox_.read("output.txt");
    ASSERT_TRUE(
        sandbox_.wait_until("SELECT count(*) > 0 FROM point JOIN run ON run.number = point.run WHERE "
                            "name = 'tiny-retrained'",
                            "1"))
        << sandbox_.read("output.txt");
    ::kill(exp, SIGKILL);
    Sandbox::wait(exp);
  }
  ASSERT_TRUE(sandbox_.wait_until_no_workers());
  EXPECT_NE(sandbox_.one("SELECT status FROM run_status WHERE name = 'tiny-retrained'"), "completed");
  const json answer = retrained(call, 0);
  EXPECT_EQ(answer.at("run"), "tiny-retrained");
  EXPECT_EQ(answer.at("trained"), true);
  EXPECT_EQ(runs(), "2");
  EXPECT_EQ(tag_holder(), "tiny-retrained");
}

TEST_F(Retrain, ComparesOnAFileAndStartsFromScratchOnRequest) {
  output_of({"run", "tiny.toml", "-q"});
  const json answer =
      retrained({"tiny", "--with", "new.conll", "--new-test", "fresh.conll", "--from-scratch", "--promote-if",
                 "new > -100", "--name", "anew", "-S", "tokenizer.vocab_size=200"},
                0);
  EXPECT_EQ(answer.at("run"), "anew");
  EXPECT_EQ(answer.at("retraining").at("new").at("examples"), 12);
  EXPECT_EQ(answer.at("retraining").at("new").at("what"), "fresh.conll");
  const json shown = json::parse(output_of({"show", "anew", "--json"}));
  EXPECT_EQ(shown.at("starts_from"), nullptr);
  EXPECT_EQ(shown.at("retrains").at("name"), "tiny");
  EXPECT_EQ(shown.at("params").at("train.epochs").at("value"), 4);
  EXPECT_FALSE(shown.at("params").contains("data.held_out"));

  // All other settings are those of the parent, so without new data both runs would have the same question.
  const std::string of =
      "SELECT group_concat(key || '=' || value) FROM (SELECT key, value FROM param JOIN run "
      "ON run.number = run WHERE name = '";
  const std::string but =
      "' AND key NOT IN ('data.more', 'train.retrains', 'tokenizer.vocab_size') ORDER BY key)";
  EXPECT_EQ(sandbox_.one(of + "tiny" + but), sandbox_.one(of + "anew" + but));
}

TEST_F(Retrain, NewClassesNeedANewStart) {
  output_of({"run", "tiny.toml", "-q"});
  sandbox_.write("odd.conll", news(0, 30, "B-WORK"));
  const std::string refused = refusal_of({"retrain", "tiny", "--with", "odd.conll"});
  EXPECT_TRUE(contains(refused, "WORK")) << refused;
  EXPECT_TRUE(contains(refused, "--from-scratch")) << refused;
  EXPECT_EQ(runs(), "1") << "nothing was started";
  const json answer = retrained({"tiny", "--with", "odd.conll", "--from-scratch", "-S",
                                 "tokenizer.vocab_size=200", "--promote-if", "new > -100"},
                                0);
  EXPECT_EQ(answer.at("promoted"), true);
}

TEST_F(Retrain, WorksOnAnotherTaskWithSetsThatAreSharesOfOneFile) {
  std::string old, more;
  for (int i = 0; i < 60; ++i)
    old += "the film number " + std::to_string(i) + " is " + (i % 2 == 0 ? "good\tup\n" : "bad\tdown\n");
  for (int i = 0; i < 40; ++i)
    more += "the play number " + std::to_string(i) + " was " + (i % 2 == 0 ? "fine\tup\n" : "dull\tdown\n");
  sandbox_.write("train.tsv", old);
  sandbox_.write("more.tsv", more);
  std::string text = tiny_experiment("reviews");
  for (const auto& [from, to] : std::map<std::string, std::string>{
           {"\"ner\"", "\"classify\""},
           {"\"conll\"", "\"tsv\""},
           {"train = \"train.conll\"\ndev = \"dev.conll\"\ntest = \"test.conll\"",
            "train = \"train.tsv\"\nsplit = [0.7, 0.15, 0.15]"}})
    text.replace(text.find(from), from.size(), to);
  sandbox_.write("reviews.toml", text);
  output_of({"run", "reviews.toml", "-q"});
  const json answer = retrained({"reviews", "--with", "more.tsv", "--hold-out", "0.3", "--measure",
                                 "accuracy", "--promote-if", "old >= -100 && new_low >= -100"},
                                0);
  EXPECT_EQ(answer.at("retraining").at("measure"), "test/accuracy");
  const json before = json::parse(output_of({"show", "reviews", "--json"})).at("data"),
             after = json::parse(output_of({"show", "reviews-retrained", "--json"})).at("data");
  EXPECT_EQ(before.at("test").at("examples"), after.at("test").at("examples")) << "the same old test set";
  EXPECT_EQ(answer.at("retraining").at("old").at("examples"), after.at("test").at("examples"));
  EXPECT_EQ(after.at("train").at("examples").get<int>(),
            before.at("train").at("examples").get<int>() + 40 -
                answer.at("retraining").at("new").at("examples").get<int>());
  // A measure that does not follow from examples has no interval.
  const std::vector<std::string> by_loss = {"reviews",   "--with", "more.tsv",     "--hold-out", "0.3",
                                            "--measure", "loss",   "--promote-if", "new > -100"};
  EXPECT_EQ(retrained(by_loss, 0).at("retraining").at("new").at("low"), nullptr);
  EXPECT_TRUE(contains(sandbox_
                           .exp({"retrain", "reviews", "--with", "more.tsv", "--hold-out", "0.3", "--measure",
                                 "loss", "--promote-if", "new_low > -100"})
                           .errors,
                       "asks for new_low"));
}

TEST_F(Retrain, ReportsAFileThatIsNotNew) {
  output_of({"run", "tiny.toml", "-q"});
  sandbox_.write("copy.conll", sandbox_.read("train.conll"));
  const runner::ProgramOutput output =
      sandbox_.exp({"retrain", "tiny", "--with", "copy.conll", "--with", "new.conll", "--dry-run"});
  EXPECT_EQ(output.end.exit_code, 0) << output.errors;
  EXPECT_TRUE(contains(output.errors, "copy.conll is not new: it has the content of ")) << output.errors;
  // Alone, copy.conll is refused. The sandbox has the same sentences in its development and test sets.
  const std::string refused = refusal_of({"retrain", "tiny", "--with", "copy.conll"});
  EXPECT_TRUE(contains(refused, "is not new")) << refused;
}

TEST_F(Retrain, RejectsInvalidCommandLines) {
  sandbox_.write("short.toml", tiny_experiment("short"));
  EXPECT_TRUE(contains(refusal_of({"retrain", "tiny", "--with", "new.conll"}), "encore.db"));
  output_of({"run", "tiny.toml", "-q"});
  EXPECT_TRUE(contains(refusal_of({"retrain", "tiny"}), "exp retrain needs new examples: --with FILE"));
  EXPECT_TRUE(contains(refusal_of({"retrain", "--with", "new.conll"}), "a run"));
  EXPECT_TRUE(
      contains(refusal_of({"retrain", "tiny", "--with", "nothing.conll"}), "nothing.conll is not a file"));
  const auto refused_rule = [&](const std::string& rule) {
    return refusal_of({"retrain", "tiny", "--with", "new.conll", "--promote-if", rule});
  };
  EXPECT_TRUE(contains(refused_rule("1 > 0"), "names no measured value"));
  EXPECT_TRUE(contains(refused_rule("nwe > 0"), "names \"nwe\"; did you mean \"new\"?"));
  EXPECT_TRUE(contains(refused_rule("new >"), "cannot be read: expected"));
  EXPECT_TRUE(contains(refusal_of({"retrain", "tiny", "--with", "new.conll", "--measure", "f2"}),
                       "has no measure \"f2\"; did you mean \"f1\"?"));
  EXPECT_TRUE(contains(refusal_of({"retrain", "tiny", "--with", "new.conll", "--hold-out", "1.5"}),
                       "invalid --hold-out: expected a share of the new examples, above 0 and below 1"));
  EXPECT_TRUE(contains(refusal_of({"retrain", "tiny", "--with", "new.conll", "--hold-out", "0.1",
                                   "--new-test", "fresh.conll"}),
                       "--new-test and --hold-out exclude each other"));
  EXPECT_TRUE(contains(refusal_of({"retrain", "tiny", "--with", "new.conll", "--new-test", "new.conll"}),
                       "must not be tested on its training data"));

  sandbox_.write("table.tsv", "a good film\tup\na bad film\tdown\n");
  const std::string format = refusal_of({"retrain", "tiny", "--with", "table.tsv"});
  EXPECT_TRUE(contains(format, "table.tsv:1")) << format;
  EXPECT_EQ(runs(), "1");

  const std::string train = sandbox_.read("train.conll");
  sandbox_.write("train.conll", train + news(300, 301));
  EXPECT_TRUE(contains(refusal_of({"retrain", "tiny", "--with", "new.conll"}),
                       "train.conll (train) has changed since tiny was trained"));
  sandbox_.write("train.conll", train);

  sandbox_.change("UPDATE run SET state = 'stopped'");
  EXPECT_TRUE(contains(refusal_of({"retrain", "tiny", "--with", "new.conll"}),
                       "run tiny is stopped; only a completed run can be retrained"));
}

}  // namespace
}  // namespace encore::system_test
