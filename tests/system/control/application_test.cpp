// SPDX-License-Identifier: BSD-3-Clause
// Tests an application ([app]; framework/apply) with the real worker, from the experiment file to answers:
// models are trained first, steps are fitted on a share of the development set and measured on the rest, and
// predict, evaluate, serve, show, compare, verify, bundle and rm treat it as any run. Also what is refused,
// with its place. The words of messages may change; names of fields and measures are stored and must stay.
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/sha256.hpp"
#include "record/weights_file.hpp"
#include "system/control/application_fixture.hpp"

namespace encore::system_test {
namespace {

TEST_F(ApplicationTest, TrainsItsModelFitsItsStepsAndAnswers) {
  const json plan = json_of({"plan", "desk.toml"});
  ASSERT_EQ(plan.at("runs").size(), 2u);
  EXPECT_EQ(plan.at("runs")[0].at("name"), "departments");
  EXPECT_EQ(plan.at("runs")[1].at("asks"), json::array({"departments"}));
  output_of({"run", "desk.toml"});
  EXPECT_EQ(sandbox_.one("SELECT state || ' ' || kind FROM run WHERE name = 'desk'"),
            "completed application");
  EXPECT_EQ(sandbox_.one("SELECT state || ' ' || kind FROM run WHERE name = 'departments'"),
            "completed training");
  const auto measure = [&](const std::string& name) {
    return std::stod(sandbox_.one("SELECT value FROM curve WHERE run = 'desk' AND metric = '" + name + "'"));
  };
  EXPECT_GT(measure("test/decide.accuracy"), 0.9);
  EXPECT_GT(measure("test/decide.automation"), 0.3) << "the words decide the label, so most can be answered";
  EXPECT_LE(measure("test/decide.error"), 0.3);

  const std::string again = output_of({"run", "desk.toml"});
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM attempt"), "2") << "a completed application is skipped:\n"
                                                               << again;
  const json line = json::parse(output_of({"predict", "desk", "--json", "where is my invoice of order 7"}));
  EXPECT_EQ(line.at("department.label"), "billing");
  EXPECT_TRUE(line.at("decide.band") == "answer" || line.at("decide.band") == "review") << line;
  EXPECT_FALSE(line.contains("department.scores") || line.contains("department.vector")) << line;
  EXPECT_TRUE(json::parse(output_of({"predict", "desk", "--json", "--scores", "where is my invoice"}))
                  .contains("department.scores"));
  EXPECT_FALSE(output_of({"predict", "desk", "where is my invoice of order 7"}).empty());
}

TEST_F(ApplicationTest, AnswersAloneAsInABatchAndAsAFile) {
  output_of({"run", "desk.toml", "-q"});
  std::string lines, alone;
  for (int i = 600; i < 612; ++i) {
    std::string line = requests(i, i + 1, true);
    line.resize(line.find('\t'));
    lines += line + "\n";
    alone += output_of({"predict", "desk", "--json", "--scores", line});
  }
  sandbox_.write("lines.txt", lines);
  EXPECT_EQ(output_of({"predict", "desk", "--json", "--scores", "--file", "lines.txt"}), alone);

  sandbox_.write("new.tsv", requests(600, 606, true));
  const std::string answered = output_of({"predict", "desk", "--file", "new.tsv", "--format", "tsv"});
  EXPECT_EQ(std::count(answered.begin(), answered.end(), '\n'), 6) << answered;
  EXPECT_EQ(answered.substr(0, answered.find('\t')), lines.substr(0, lines.find('\n'))) << answered;
}

TEST_F(ApplicationTest, TracesItsSteps) {
  output_of({"run", "desk.toml", "-q"});
  const json line =
      json::parse(output_of({"predict", "desk", "--json", "--trace", "where is my invoice of order 7"}));
  ASSERT_EQ(line.at("trace").size(), 2u) << line;
  const json asks = line.at("trace")[0].at("asks");
  EXPECT_EQ(asks.at("run"), sandbox_.one("SELECT id FROM run WHERE name = 'departments'"));
  EXPECT_EQ(asks.at("weights"),
            sha256_of_file(sandbox_.folder() / ("encore.db.runs/" + asks.at("run").get<std::string>()) /
                           record::weights_file));
  EXPECT_FALSE(line.at("trace")[0].contains("knowledge")) << line;
  EXPECT_EQ(line.at("trace")[1].at("step"), "decide");
  EXPECT_EQ(line.at("trace")[1].at("knowledge"),
            sandbox_.one("SELECT value FROM digest WHERE scope = 'steps/decide'"));
  EXPECT_GT(line.at("trace")[0].at("seconds").get<double>(), 0.0);
  const std::string text = output_of({"predict", "desk", "--trace", "where is my invoice", "the weather"});
  EXPECT_TRUE(contains(text, "department  predict, asks departments (")) << text;
  EXPECT_TRUE(contains(text, " ms for 2 records")) << text;
  EXPECT_TRUE(contains(refusal_of({"predict", "departments", "--trace", "where is my invoice"}),
                       "run departments is not an application"));
}

TEST_F(ApplicationTest, IsEvaluatedShownComparedAndVerified) {
  output_of({"run", "desk.toml", "-q"});
  const json evaluated = json_of({"evaluate", "desk", "test.tsv"});
  const std::string stored =
      sandbox_.one("SELECT value FROM curve WHERE run = 'desk' AND metric = 'test/decide.automation'");
  EXPECT_NEAR(evaluated.at("measures").at("decide.automation").get<double>(), std::stod(stored), 1e-12);
  const json shown = json_of({"show", "desk"});
  EXPECT_EQ(shown.at("asks").at("department").at("name"), "departments");
  EXPECT_TRUE(contains(output_of({"show", "desk"}), "asks"));
  EXPECT_TRUE(contains(output_of({"ls"}), "desk"));

  const json verdict = json_of({"verify", "desk"});
  EXPECT_EQ(verdict.at("outcome"), "equal") << verdict;

  write_changed("other.toml", "error = 0.3", "error = 0.4");
  output_of({"run", "other.toml", "-q", "--name", "other"});
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM run"), "3") << "the model is not trained again";
  EXPECT_TRUE(contains(output_of({"compare", "desk", "other"}), "decide.automation"));
  const std::string report = output_of({"report", "desk", "other", "--format", "json"});
  EXPECT_TRUE(contains(report, "decide.automation")) << report;

  const std::string kept = sandbox_.exp({"rm", "departments", "-y"}).errors;
  EXPECT_TRUE(contains(kept, "desk")) << "a model that an application asks stays: " << kept;
}

TEST_F(ApplicationTest, ServesTheAnswersOfPredict) {
  output_of({"run", "desk.toml", "-q"});
  std::vector<std::string> texts;
  for (int i = 700; i < 730; ++i) {
    const std::string line = requests(i, i + 1, true);
    texts.push_back(line.substr(0, line.find('\t')));
  }
  const std::vector<json> expected = predicted(texts, "desk");
  serve({}, "desk");
  const HttpResponse response = predict(texts);
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(json::parse(response.body).at("results"), json(expected));
  const json scored =
      json::parse(ask(http_post("/v1/predict", json{{"inputs", texts[0]}, {"scores", true}}.dump())).body);
  EXPECT_TRUE(scored.at("results")[0].contains("department.scores")) << scored;
  expect_refused(ask(http_post("/v1/embeddings", json{{"input", texts[0]}}.dump())), 400, "application");
}

TEST_F(ApplicationTest, AlertsReadTheClassesInItsAnswersAndNoText) {
  output_of({"run", "desk.toml", "-q"});
  serve({"--monitor"}, "desk");
  const std::vector<std::string> texts(60, "where is my invoice of order 7312");
  const json expected = predicted({texts[0]}, "desk")[0];
  const json body = {{"inputs", texts}, {"group", "acme"}};
  EXPECT_EQ(ask(http_post("/v1/predict", body.dump())).status, 200);
  end_server();
  sandbox_.write(
      "alerts.toml",
      "[[alert]]\nname = \"bands\"\nfield = \"decide.band\"\nvalue = " + expected.at("decide.band").dump() +
          "\nabove = 0.5\nwindow = \"1d\"\nby = \"group\"\n"
          "[[alert]]\nname = \"departments\"\nwhen = \"change\"\nfield = \"department.label\"\n"
          "value = \"billing\"\npoints = 20\nagainst = \"dev\"\nwindow = \"1d\"\n");
  runner::ProgramOutput output = sandbox_.exp({"monitor", "desk", "--alerts", "alerts.toml", "--json"});
  for (int i = 0; i < 600 && output.end.exit_code == 0; ++i) {  // until the second of the answers is over
    usleep(100000);
    output = sandbox_.exp({"monitor", "desk", "--alerts", "alerts.toml", "--json"});
  }
  EXPECT_EQ(output.end.exit_code, 3) << output.errors << output.output;
  const json alerts = json::parse(output.output).at("alerts");
  ASSERT_EQ(alerts.size(), 2U) << alerts;
  EXPECT_EQ(alerts[0].at("group"), "acme");
  EXPECT_EQ(alerts[0].at("items"), 60);
  EXPECT_NEAR(alerts[1].at("reference").get<double>(), 0.45, 0.15) << "the invoices of the development set";
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM served WHERE labels LIKE '%7312%' OR labels LIKE '%invoice%'"),
            "0");
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM served_content"), "0");
  sandbox_.write("wrong.toml",
                 "[[alert]]\nname = \"a\"\nfield = \"decide.bands\"\nvalue = \"review\"\n"
                 "above = 0.5\nwindow = \"1d\"\n");
  EXPECT_TRUE(
      contains(refusal_of({"monitor", "desk", "--alerts", "wrong.toml"}),
               "wrong.toml:3:9: run desk has no field \"decide.bands\"; did you mean \"decide.band\"?"));
}

TEST_F(ApplicationTest, IsPackedWithItsModelsAndVerifiedElsewhere) {
  output_of({"run", "desk.toml", "-q"});
  output_of({"bundle", "desk", "-o", "desk.tar.zst"});
  const json shown = json_of({"bundle", "show", "desk.tar.zst"});
  EXPECT_TRUE(contains(shown.dump(), "departments")) << "the model comes with its application: " << shown;
  const std::string verdict = output_of({"verify", "desk.tar.zst", "-q"});
  EXPECT_TRUE(contains(verdict, "desk equal") && contains(verdict, "departments equal")) << verdict;
}

TEST_F(ApplicationTest, MovesWithItsDatabase) {
  output_of({"run", "desk.toml", "-q"});
  const std::string before = output_of({"predict", "desk", "--json", "where is my invoice"});
  std::filesystem::create_directory(sandbox_.folder() / "moved");
  for (const char* name : {"encore.db", "encore.db.runs"})
    std::filesystem::rename(sandbox_.folder() / name, sandbox_.folder() / "moved" / name);
  EXPECT_EQ(output_of({"predict", "desk", "--json", "where is my invoice", "--db", "moved/encore.db"}),
            before);
  EXPECT_TRUE(contains(output_of({"verify", "desk", "-q", "--db", "moved/encore.db"}), "desk equal"));
}

TEST_F(ApplicationTest, RefusesDamagedKnowledgeAndWhatOnlyAModelDoes) {
  output_of({"run", "desk.toml", "-q"});
  for (const std::vector<std::string>& call :
       {std::vector<std::string>{"embed", "desk", "a text"},
        {"generate", "desk", "a text"},
        {"export", "desk", "-o", "folder"},
        {"retrain", "desk", "--with", "test.tsv", "--new-test", "dev.tsv"}}) {
    const runner::ProgramOutput output = sandbox_.exp(call);
    EXPECT_NE(output.end.exit_code, 0) << call.front();
    EXPECT_TRUE(contains(output.errors, "is an application")) << call.front() << ": " << output.errors;
  }
  const std::string id = sandbox_.one("SELECT id FROM run WHERE name = 'desk'"),
                    file = "encore.db.runs/" + id + "/application.json";
  const std::string knowledge = sandbox_.read(file);
  for (const std::string& damaged :
       {std::string("{}"), knowledge.substr(0, knowledge.size() / 2), std::string()}) {
    sandbox_.write(file, damaged);
    const runner::ProgramOutput output = sandbox_.exp({"predict", "desk", "where is my invoice"});
    EXPECT_NE(output.end.exit_code, 0) << damaged;
    EXPECT_TRUE(contains(output.errors, "application.json")) << output.errors;
  }
}

TEST_F(ApplicationTest, IsRetrainedWithItsModelsAndReplacesItsParent) {
  output_of({"run", "desk.toml", "-q"});
  std::string added = requests(600, 840, false);
  replace_all(added, "invoice", "receipt");  // a word that the model has not seen
  sandbox_.write("new.tsv", added);
  const std::vector<std::string> retrain = {"retrain", "desk",         "--with",
                                            "new.tsv", "--promote-if", "old > -100 and new > -100"};
  const json plan = [&] {
    std::vector<std::string> dry = retrain;
    dry.emplace_back("--dry-run");
    return json_of(dry);
  }();
  EXPECT_EQ(plan.at("run"), "desk-retrained");
  EXPECT_EQ(plan.at("models"), json::array({{{"run", "departments-retrained"}, {"action", "start"}}}));
  EXPECT_EQ(plan.at("held_out").get<double>(), 0.4) << "half of it fits the steps, half compares";
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM run"), "2") << "a plan writes nothing";

  const json answer = json_of(retrain);
  EXPECT_EQ(answer.at("run"), "desk-retrained") << answer;
  EXPECT_EQ(answer.at("promoted"), true);
  EXPECT_EQ(answer.at("retraining").at("measure"), "test/decide.automation");
  const int compared = answer.at("retraining").at("new").at("examples").get<int>();
  EXPECT_TRUE(compared > 24 && compared < 72) << compared << " of 240";
  const json shown = json_of({"show", "desk-retrained"});
  EXPECT_EQ(shown.at("asks").at("department").at("name"), "departments-retrained");
  EXPECT_EQ(shown.at("retrains").at("name"), "desk") << shown.at("retrains");
  const std::string logs = output_of({"logs", "desk-retrained"});
  EXPECT_TRUE(contains(logs, "data.more: 240 examples, ")) << logs;
  EXPECT_FALSE(contains(logs, "its answers may be better than in service")) << logs;
  EXPECT_EQ(json_of({"show", "desk", "--promoted"}).at("name"), "desk-retrained");
  EXPECT_TRUE(contains(output_of({"verify", "desk-retrained", "-q"}), "desk-retrained equal"));

  const std::string attempts = sandbox_.one("SELECT count(*) FROM attempt");
  EXPECT_EQ(json_of(retrain).at("trained"), false);
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM attempt"), attempts) << "all of it is complete";
  output_of({"tag", "desk-retrained", "-promoted"});
  EXPECT_EQ(json_of({"show", "desk", "--promoted"}).at("name"), "desk") << "the parent answers again";
}

// Counts the examples of new.tsv that each run learns from, is fitted on or is compared on: none has two
// roles.
TEST_F(ApplicationTest, NeverFitsOnExamplesThatItsModelsLearnedFrom) {
  output_of({"run", "desk.toml", "-q"});
  sandbox_.write("new.tsv", requests(600, 840, false));
  sandbox_.exp({"retrain", "desk", "--with", "new.tsv", "-q"});
  const auto number_before = [&](const std::string& run, const std::string& words) {
    const std::string log = output_of({"logs", run});
    const std::size_t end = log.find(words);
    EXPECT_NE(end, std::string::npos) << log;
    const std::size_t begin = log.rfind(' ', end - 2);
    return std::stoi(log.substr(begin + 1, end - begin - 1));
  };
  const int learned = number_before("departments-retrained", " of them learned from"),
            held_out = number_before("departments-retrained", " held out"),
            fitted = number_before("desk-retrained", " of them in the development set");
  const json retrained = json_of({"show", "desk-retrained"}).at("retrains");
  const int compared = retrained.at("outcome").at("new").at("examples").get<int>();
  EXPECT_EQ(learned + held_out, 240);
  EXPECT_EQ(fitted + compared, held_out);
}

TEST_F(ApplicationTest, IsSweptOverTheOptionsOfItsSteps) {
  sandbox_.write("sweep.toml",
                 std::string(application) + "[sweep.grid]\n\"app.step.decide.error\" = [0.3, 0.4]\n");
  output_of({"run", "sweep.toml", "-q", "--name", "bands"});
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM run WHERE kind = 'application'"), "2");
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM run WHERE kind = 'training'"), "1");
  EXPECT_EQ(sandbox_.one("SELECT count(DISTINCT question) FROM run WHERE kind = 'application'"), "2");
}

TEST_F(ApplicationTest, IsSearchedOverTheOptionsOfItsStepsOnceItsModelIsTrained) {
  sandbox_.write("search.toml", std::string(application) +
                                    "[search]\ntrials = 3\n[search.space]\n\"app.step.decide.error\" = "
                                    "{ uniform = [0.2, 0.5] }\n");
  const std::string missing = refusal_of({"run", "search.toml"});
  EXPECT_TRUE(contains(missing,
                       "run departments is needed by the trials, but is not complete; make it first: exp "
                       "run ") &&
              contains(missing, "departments.toml"))
      << missing;
  output_of({"run", "departments.toml", "-q"});
  output_of({"run", "search.toml", "-q"});
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM run WHERE kind = 'application'"), "3");
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM run WHERE kind = 'training'"), "1");
  output_of({"verify", "desk"});
}

TEST_F(ApplicationTest, RefusesWhatCannotWork) {
  const auto refused = [&](const std::string& from, const std::string& to) {
    write_changed("refused.toml", from, to);
    return refusal_of({"run", "refused.toml"});
  };
  std::string message = refused("error = 0.3", "error = 0.3\nof = \"departmnt\"");
  EXPECT_TRUE(contains(message, "refused.toml:") && contains(message, "\"departmnt\"") &&
              contains(message, "did you mean \"department\"?"))
      << message;
  message = refused("\"department\", \"decide\"", "\"decide\", \"department\"");
  EXPECT_TRUE(contains(message, "step \"decide\" reads the field \"department.label\"") ||
              contains(message, "app.steps"))
      << message;
  message = refused("model = { experiment = \"departments.toml\" }\n", "");
  EXPECT_TRUE(contains(message, "[app.step.department] names no model")) << message;
  message = refused("[data]\n", "[train]\nepochs = 1\n[data]\n");
  EXPECT_TRUE(contains(message, "an experiment with [app] has no [train]")) << message;
  message = refused("steps = [\"department\", \"decide\"]", "steps = [\"department\"]");
  EXPECT_TRUE(contains(message, "does not name the step of [app.step.decide]")) << message;
  message = refused("type = \"decide\"", "type = \"decid\"");
  EXPECT_TRUE(contains(message, "no plugin offers a step \"decid\"; did you mean \"decide\"?")) << message;
  message = refused("dev = \"decisions.tsv\"\n", "");
  EXPECT_TRUE(contains(message, "option \"dev\" of [data] is missing")) << message;
  message = refused("experiment = \"departments.toml\"", "experiment = \"desk.toml\"");
  EXPECT_TRUE(contains(message, "is an application; a step asks a trained model")) << message;
}

}  // namespace
}  // namespace encore::system_test
