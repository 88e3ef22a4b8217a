// SPDX-License-Identifier: BSD-3-Clause
// Tests resolve() (config/resolve.hpp) and make_application() (config/experiment.hpp) for an experiment with
// [app]: the complete result, the measure by which applications are compared, and the exact message, with
// line and column, for each mistake. Identities of runs depend on the result, so defaults must not change.
#include <gtest/gtest.h>

#include <filesystem>

#include "config/core_schema.hpp"
#include "config/experiment.hpp"
#include "config/experiment_file.hpp"
#include "config/resolve.hpp"
#include "unit/config/sample_catalogue.hpp"

namespace encore::config {
namespace {

const std::string application = R"(name = "desk"
[app]
steps = ["intent", "decide"]
[app.step.intent]
type = "ask"
model = { run = "0123456789" }
[app.step.decide]
type = "judge"
error = 0.2
[data]
type = "tsv"
root = "corpus"
dev = "dev.tsv"
)";

const Catalogue& catalogue() {
  static const Catalogue all = sample::catalogue();
  return all;
}

Resolved resolved(const std::string& text, Problems& problems) {
  return resolve(parse_experiment_file(text, "dir/a.toml").root, catalogue(), problems);
}

/// Returns the messages about the application after the only `from` in it became `to`, one on a line.
std::string problem_with(const std::string& from, const std::string& to) {
  Problems problems;
  resolved(sample::changed(application, from, to), problems);
  std::string all;
  for (const Problem& found : problems.all()) all += (all.empty() ? "" : "\n") + found.text();
  return all;
}

TEST(Application, CompletesItsTables) {
  Problems problems;
  const Resolved run = resolved(application, problems);
  ASSERT_TRUE(problems.empty()) << problems.all().front().text();
  const std::string folder = std::filesystem::current_path().string() + "/dir/corpus";
  const nlohmann::json app = {{"steps", {"intent", "decide"}},
                              {"fit", 0.5},
                              {"select", "max dev/decide.error_rate"},
                              {"step",
                               {{"intent", {{"type", "ask"}, {"model", {{"run", "0123456789"}}}}},
                                {"decide", {{"type", "judge"}, {"error", 0.2}}}}}};
  EXPECT_EQ(run.config.at("app"), app);
  EXPECT_EQ(run.config.at("data").at("dev"), folder + "/dev.tsv");
  EXPECT_EQ(run.config.size(), 2u) << "an application has no other table: " << run.config;
  EXPECT_EQ(run.tables.at("app.step.decide").offer->version, 3);
}

TEST(Application, IsReadAsTypedTables) {
  Problems problems;
  const Resolved run = resolved(application, problems);
  const Application made = make_application(run.config, catalogue(), run.origin);
  ASSERT_EQ(made.steps.size(), 2u);
  EXPECT_EQ(made.steps[0].name, "intent");
  EXPECT_TRUE(made.steps[0].asks_model && !made.steps[1].asks_model);
  EXPECT_EQ(made.steps[1].key, "app.step.decide");
  EXPECT_EQ(made.steps[1].options.number("error"), 0.2);
  EXPECT_EQ(made.fit, 0.5);
  EXPECT_EQ(made.select, "max dev/decide.error_rate");
  EXPECT_TRUE(made.data.train.empty() && made.data.dev.size() == 1);
  EXPECT_EQ(needed_types(run.config, catalogue()),
            (std::vector<TypeName>{{Kind::reader, "tsv"}, {Kind::step, "ask"}, {Kind::step, "judge"}}));
}

TEST(Application, NamesTheTablesThatNameRuns) {
  EXPECT_EQ(step_model_key("intent"), "app.step.intent.model");
  EXPECT_EQ(step_in("app.step.intent.model"), "intent");
  for (const char* other :
       {"app.step.intent", "app.step.intent.models", "app.step.a.b.model", "model.from", ""})
    EXPECT_EQ(step_in(other), "") << other;
  for (const char* table : {"model.from", "distil.teacher", "app.step.intent.model"})
    EXPECT_TRUE(names_run(table)) << table;
  EXPECT_FALSE(names_run("app.step.intent") || names_run("model"));
}

TEST(Application, NamesEachMistakeWithItsPlace) {
  EXPECT_EQ(
      problem_with("steps = [\"intent\", \"decide\"]", "steps = [\"intnt\", \"intent\", \"decide\"]"),
      "dir/a.toml:3:10: \"steps\" of [app] names \"intnt\", but there is no table [app.step.intnt]; did "
      "you mean \"intent\"?");
  EXPECT_EQ(problem_with("[\"intent\", \"decide\"]", "[\"intent\", \"decide\", \"intent\"]"),
            "dir/a.toml:3:30: \"steps\" of [app] names \"intent\" twice; each step needs a table of its own");
  EXPECT_EQ(
      problem_with("[\"intent\", \"decide\"]", "[\"intent\"]"),
      "dir/a.toml:7:11: \"steps\" of [app] does not name the step of [app.step.decide]; add it there, or "
      "remove the table");
  EXPECT_EQ(problem_with("model = { run = \"0123456789\" }\n", ""),
            "dir/a.toml:4:1: [app.step.intent] names no model; write model = { run = \"NAME\" } or model = { "
            "experiment = \"FILE\" }");
  EXPECT_EQ(
      problem_with("{ run = \"0123456789\" }", "\"minilm\""),
      "dir/a.toml:6:9: \"model\" of [app.step.intent] must be a table, { run = \"NAME\" } or { experiment "
      "= \"FILE\" }, found text \"minilm\"; exp import makes a run of a folder from elsewhere");
  EXPECT_EQ(problem_with("error = 0.2", "model = { run = \"0123456789\" }"),
            "dir/a.toml:9:1: step \"judge\" asks no model; remove \"model\" from [app.step.decide]");
  EXPECT_EQ(
      problem_with("[data]\n", "[train]\nepochs = 1\n[data]\n"),
      "dir/a.toml:10:2: an experiment with [app] has no [train]: its steps ask models of other runs, such "
      "as model = { experiment = \"FILE\" }; remove one of them");
  EXPECT_EQ(problem_with("steps = [", "fit = 0.0\nsteps = ["),
            "dir/a.toml:3:7: option \"fit\" of [app] must be above 0 and at most 1, found the number 0.0");
  EXPECT_EQ(
      problem_with("steps = [", "select = \"max dev/f1\"\nsteps = ["),
      "dir/a.toml:3:10: option \"select\" of [app] names the measure \"f1\", which this application does "
      "not have; it has \"decide.error_rate\"");
  EXPECT_EQ(problem_with("dev = \"dev.tsv\"\n", "split = [0.5, 0.5]\n"),
            "dir/a.toml:13:9: option \"split\" of [data] divides the examples of \"train\", and there is no "
            "\"train\"; name its files, or give the sets files of their own");
  EXPECT_EQ(problem_with("dev = \"dev.tsv\"\n", "").substr(0, 50),
            "dir/a.toml:10:1: option \"dev\" of [data] is missing");
}

}  // namespace
}  // namespace encore::config
