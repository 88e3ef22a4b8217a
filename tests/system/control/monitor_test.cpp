// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp serve --monitor` and `exp monitor` together (serve/serve_monitor.hpp, cli/monitor_verb.cpp):
// what is kept of requests and what is not, feedback, the alert with its command, alerts of the user, and
// what is rejected. No text of a request may be stored unless the user asks for it.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "system/control/serving.hpp"

namespace encore::system_test {
namespace {

namespace fs = std::filesystem;

class Monitor : public Serve {
 protected:
  /// Makes a development set that is large enough for a significant result.
  void SetUp() override {
    std::string sentences;
    for (int i = 0; i < 50; ++i) sentences += sandbox_.read("dev.conll");
    sandbox_.write("dev.conll", sentences);
    Serve::SetUp();
  }
  /// Returns the value of the field X-Request-Id, or "" if it is missing.
  static std::string id_of(const HttpResponse& response) {
    const std::string field = "X-Request-Id: ";
    const std::size_t at = response.head.find(field);
    if (at == std::string::npos) return "";
    const std::size_t begin = at + field.size();
    return response.head.substr(begin, response.head.find("\r\n", begin) - begin);
  }
  HttpResponse feedback(const json& body) const { return ask(http_post("/v1/feedback", body.dump())); }
  json monitoring(const std::vector<std::string>& options = {}, int code = 0) const {
    std::vector<std::string> arguments = {"monitor", "tiny", "--json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const runner::ProgramOutput output = sandbox_.exp(arguments);
    EXPECT_EQ(output.end.exit_code, code) << output.errors << output.output;
    return output.output.empty() ? json() : json::parse(output.output);
  }
  fs::path run_folder() const {
    return sandbox_.folder() / "encore.db.runs" / sandbox_.one("SELECT id FROM run");
  }
  /// Whether any file of the database or of its folders contains the text.
  bool anywhere(const std::string& text) const {
    for (const auto& entry : fs::recursive_directory_iterator(sandbox_.folder()))
      if (entry.is_regular_file() && entry.path().string().find("encore.db") != std::string::npos) {
        std::ifstream in(entry.path(), std::ios::binary);
        if (std::string(std::istreambuf_iterator<char>(in), {}).find(text) != std::string::npos) return true;
      }
    return false;
  }
  /// Writes alerts.toml with a rule that any entity in more than half of a group's answers fulfils.
  void write_alerts() const {
    const json labels = json::parse(std::ifstream(run_folder() / "reference.json")).at("labels");
    std::string list;
    for (const auto& [label, count] : labels.items()) list += (list.empty() ? "" : ", ") + json(label).dump();
    sandbox_.write("alerts.toml", "late = \"0s\"\n[[alert]]\nname = \"entities\"\nlabel = [" + list +
                                      "]\nabove = 0.5\nwindow = \"1d\"\nby = \"group\"\n");
  }
  /// Returns inputs that differ from all of the corpus.
  static std::vector<std::string> strange(std::size_t count) {
    return std::vector<std::string>(count, "? ? ? % % % ! ! ! ? ? ? % % % ! ! ! ? ?");
  }
};

TEST_F(Monitor, NumbersAreKeptAndNoText) {
  serve({"--monitor"});
  const HttpResponse plain = predict("Zacharias lives in Lund .");
  ASSERT_EQ(plain.status, 200) << plain.body;
  EXPECT_FALSE(id_of(plain).empty());
  EXPECT_EQ(predict(json{"Anna lives in Lund .", "in Oslo"}).status, 200);
  const json said = monitoring();
  EXPECT_EQ(said.at("texts"), 3);
  EXPECT_EQ(said.at("alert"), false);
  EXPECT_EQ(said.at("reference").at("source"), "dev");
  EXPECT_GT(said.at("seconds").at("median").get<double>(), 0.0);
  EXPECT_FALSE(anywhere("Zacharias"));
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM served WHERE confidence BETWEEN 0 AND 1"), "3");
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM served_content"), "0");
  const std::string table = output_of({"monitor", "tiny"});
  for (const char* part :
       {"MEASURE", "pieces", "confidence", "labels", "the evidence never reached", "no feedback came"})
    EXPECT_NE(table.find(part), std::string::npos) << table;
}

TEST_F(Monitor, WithoutItNothingIsKept) {
  serve();
  EXPECT_TRUE(id_of(predict("Anna lives in Lund .")).empty());
  expect_refused(feedback({{"id", "x"}, {"answer", {{"entities", json::array()}}}}), 404,
                 "start it with --monitor");
  end_server();
  EXPECT_FALSE(fs::exists(run_folder() / "monitor"));
  EXPECT_NE(output_of({"monitor", "tiny"}).find("nothing is stored about inputs of run tiny yet"),
            std::string::npos);
}

TEST_F(Monitor, AShareIsChosenByTheRequest) {
  serve({"--monitor=0.5"});
  int sampled = 0;
  for (int i = 0; i < 60; ++i) sampled += id_of(predict("Anna lives in Lund .")).empty() ? 0 : 1;
  EXPECT_GT(sampled, 10);
  EXPECT_LT(sampled, 50);
  sandbox_.exp({"monitor", "tiny"});  // one text again and again is a shift
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM served"), std::to_string(sampled));
}

TEST_F(Monitor, FeedbackSaysHowManyAreRight) {
  serve({"--monitor"});
  const HttpResponse response = predict(json{"Anna lives in Lund .", "in Oslo"});
  const std::string id = id_of(response);
  const json answers = json::parse(response.body).at("results");
  const HttpResponse right = feedback({{"id", id}, {"answer", {{"entities", answers[0].at("entities")}}}});
  ASSERT_EQ(right.status, 200) << right.body;
  EXPECT_EQ(json::parse(right.body).at("correct"), true);
  const json wrong = {{{"type", "none"}, {"text", "in"}, {"start", 0}, {"end", 2}}};
  EXPECT_EQ(
      json::parse(feedback({{"id", id}, {"text", 1}, {"answer", {{"entities", wrong}}}}).body).at("correct"),
      false);
  const json said = monitoring().at("feedback");
  EXPECT_EQ(said.at("texts"), 2);
  EXPECT_EQ(said.at("correct"), 1);
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM served_content"), "0") << "the truth is a text too";

  expect_refused(feedback({{"id", "nobody"}, {"answer", {{"entities", wrong}}}}), 404,
                 "unknown request \\\"nobody\\\"");
  expect_refused(feedback({{"id", id}, {"text", 2}, {"answer", {{"entities", wrong}}}}), 400,
                 "the request had 2 inputs");
  expect_refused(feedback({{"id", id}, {"answer", {{"entitys", wrong}}}}), 400,
                 "did you mean \\\"entities\\\"?");
  expect_refused(feedback({{"id", id}, {"answer", json::object()}}), 400, "\\\"answer\\\" is empty");
  expect_refused(feedback({{"id", id}, {"answer", "none"}}), 400, "must be an object, not a text");
  expect_refused(feedback({{"id", id}, {"text", -1}, {"answer", {{"entities", wrong}}}}), 400, "from 0");
  expect_refused(feedback({{"answer", {{"entities", wrong}}}}), 400, "\\\"id\\\" is missing");
  expect_refused(feedback({{"id", id}}), 400, "\\\"answer\\\" is missing");
  expect_refused(ask(http_get("/v1/feedback")), 405, "takes POST");
  expect_refused(feedback({{"id", id}, {"answer", {{"entities", std::string(2000000, 'a')}}}}), 413,
                 "the body is longer than");
  EXPECT_EQ(predict("Anna lives in Lund .").status, 200) << "the server continues";
}

TEST_F(Monitor, InputsAreKeptOnRequestAndCanBeDeleted) {
  serve({"--monitor", "--monitor-texts", "7"});
  const HttpResponse response = predict("Zacharias lives in Lund .");
  const std::string id = id_of(response);
  feedback({{"id", id}, {"answer", {{"entities", json::array()}}}});
  predict("Anna lives in Lund .");
  monitoring();
  EXPECT_EQ(sandbox_.one("SELECT content FROM served_content WHERE request = '" + id + "'"),
            "Zacharias lives in Lund .");
  EXPECT_EQ(sandbox_.one("SELECT truth FROM served_content WHERE request = '" + id + "'"),
            R"({"entities":[]})");
  EXPECT_EQ(sandbox_.one("SELECT round((expires - unixepoch()) / 86400.0) FROM served_content LIMIT 1"),
            "7.0");
  EXPECT_NE(output_of({"monitor", "tiny", "--forget", id})
                .find("is removed: 1 input\nA running server may still have"),
            std::string::npos);
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM served"), "1");
  end_server();
  for (const auto& entry : fs::directory_iterator(run_folder() / "monitor"))
    fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_EQ(monitoring().at("texts"), 1);
  EXPECT_TRUE(fs::is_empty(run_folder() / "monitor"));
  EXPECT_FALSE(anywhere("Zacharias"));
  const runner::ProgramOutput again = sandbox_.exp({"monitor", "tiny", "--forget", id});
  EXPECT_EQ(again.end.exit_code, 1);
  EXPECT_NE(again.errors.find("nothing is stored about a request " + id), std::string::npos) << again.errors;
}

/// Data that clients have sent is readable for the user of the server alone, whatever the umask.
TEST_F(Monitor, NoOtherUserCanReadTheRecords) {
  const mode_t before = ::umask(0);
  const fs::path folder = run_folder() / "monitor";
  fs::create_directory(folder);  // as an earlier version has made it
  fs::permissions(sandbox_.folder() / "encore.db", fs::perms(0644));
  serve({"--monitor", "--monitor-texts", "7"});
  ::umask(before);
  feedback({{"id", id_of(predict("Zacharias lives in Lund ."))}, {"answer", {{"entities", json::array()}}}});
  EXPECT_EQ(fs::status(folder).permissions(), fs::perms(0700));
  int spools = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    EXPECT_EQ(entry.status().permissions(), fs::perms(0600)) << entry.path();
    ++spools;
  }
  EXPECT_EQ(spools, 2) << "numbers and inputs";
  const std::string said = sandbox_.read("serve.txt");
  EXPECT_NE(said.find("--monitor-texts stores inputs of clients in encore.db, which other users of this "
                      "machine can read; run chmod 600 encore.db to prevent this"),
            std::string::npos)
      << said;
}

TEST_F(Monitor, AShiftGivesAnAlertAndACommandItsNumbers) {
  serve({"--monitor"});
  ASSERT_EQ(predict(strange(200)).status, 200);
  const json said = monitoring({}, 3);
  EXPECT_EQ(said.at("alert"), true);
  EXPECT_LE(said.at("test").at("alarm_after").get<int>(), 200);
  EXPECT_EQ(sandbox_.exp({"monitor", "tiny"}).end.exit_code, 3);
  const runner::ProgramOutput told =
      sandbox_.exp({"monitor", "tiny", "--on-alert", "cat > told.json; echo '$0 `x`'"});
  EXPECT_EQ(told.end.exit_code, 3) << told.errors;
  EXPECT_EQ(json::parse(sandbox_.read("told.json")).at("alert"), true);

  const runner::ProgramOutput failed = sandbox_.exp({"monitor", "tiny", "--on-alert", "exit 7"});
  EXPECT_EQ(failed.end.exit_code, 1);
  EXPECT_NE(failed.errors.find("ended with exit code 7; the alert was not sent"), std::string::npos)
      << failed.errors;
  const runner::ProgramOutput hung =
      sandbox_.exp({"monitor", "tiny", "--on-alert", "sleep 100", "--alert-timeout", "1"});
  EXPECT_EQ(hung.end.exit_code, 1);
  EXPECT_NE(hung.errors.find("it printed nothing for 1 s"), std::string::npos) << hung.errors;
}

TEST_F(Monitor, AnAlertOfTheUserIsSentOnce) {
  write_alerts();
  serve({"--monitor"});
  for (const char* group : {"acme", "bolt"}) {
    const std::vector<std::string> inputs(60,
                                          group == std::string("acme") ? "Anna lives in Lund ." : ". . .");
    EXPECT_EQ(ask(http_post("/v1/predict", json{{"inputs", inputs}, {"group", group}}.dump())).status, 200);
  }
  expect_refused(ask(http_post("/v1/predict", json{{"inputs", "a"}, {"group", "a\nb"}}.dump())), 400,
                 "invalid \\\"group\\\"");
  const std::vector<std::string> call = {"monitor", "tiny",       "--alerts",         "alerts.toml",
                                         "--json",  "--on-alert", "cat >> sent.jsonl"};
  // The windows that hold the answers end at the next full second of the clock.
  runner::ProgramOutput output = sandbox_.exp(call);
  for (int i = 0; i < 600 && output.end.exit_code == 0; ++i) {
    usleep(100000);
    output = sandbox_.exp(call);
  }
  EXPECT_EQ(output.end.exit_code, 3) << output.errors << output.output;
  const json said = json::parse(output.output);
  EXPECT_EQ(said.at("events").at("count"), 120);
  ASSERT_EQ(said.at("groups").size(), 2U);
  const std::string sent = sandbox_.read("sent.jsonl");
  EXPECT_EQ(static_cast<std::size_t>(std::count(sent.begin(), sent.end(), '\n')), said.at("alerts").size());
  const json first = json::parse(sent.substr(0, sent.find('\n')));
  EXPECT_EQ(first.at("alert"), "entities");
  EXPECT_EQ(first.at("source"), "tiny");
  EXPECT_EQ(first.at("group"), "acme");
  EXPECT_GT(first.at("low").get<double>(), 0.5);
  EXPECT_EQ(sandbox_.exp(call).end.exit_code, 3) << "it continues";
  EXPECT_EQ(sandbox_.read("sent.jsonl"), sent) << "each alert is sent once";
  EXPECT_NE(sandbox_.exp({"monitor", "tiny"}).output.find("pieces"), std::string::npos)
      << "the test of shifts works beside it";
  sandbox_.write("wrong.toml", "[[alert]]\nname = \"a\"\nlabel = \"plaec\"\nabove = 0.5\nwindow = \"1d\"\n");
  EXPECT_NE(refusal_of({"monitor", "tiny", "--alerts", "wrong.toml"})
                .find("wrong.toml:3:9: run tiny never answers \"plaec\" in the field \"label\""),
            std::string::npos);
}

TEST_F(Monitor, AlertsAreFollowedUntilCtrlC) {
  write_alerts();
  serve({"--monitor"});
  const auto follow = [&](const std::string& output) {
    return sandbox_.start({"monitor", "tiny", "--alerts", "alerts.toml", "--follow", "--json", "--on-alert",
                           "cat >> sent.jsonl"},
                          output);
  };
  const pid_t first = follow("first.txt");
  ASSERT_TRUE(sandbox_.wait_for_text("first.txt", "until Ctrl-C"));
  const auto answer = [&](const char* group) {
    const std::vector<std::string> inputs(60, "Anna lives in Lund .");
    EXPECT_EQ(ask(http_post("/v1/predict", json{{"inputs", inputs}, {"group", group}}.dump())).status, 200);
  };
  answer("acme");
  ASSERT_TRUE(sandbox_.wait_for_text("first.txt", "\"group\":\"acme\"")) << sandbox_.read("first.txt");
  const std::string refusal =
      refusal_of({"monitor", "tiny", "--alerts", "alerts.toml", "--on-alert", "true"});
  EXPECT_NE(refusal.find("another exp monitor sends alerts of this run"), std::string::npos) << refusal;
  answer("bolt");
  ASSERT_TRUE(sandbox_.wait_for_text("first.txt", "\"group\":\"bolt\"")) << sandbox_.read("first.txt");
  ::kill(first, SIGINT);
  EXPECT_EQ(Sandbox::wait(first)->exit_code, 3) << sandbox_.read("first.txt");
  const std::string sent = sandbox_.read("sent.jsonl");
  EXPECT_EQ(std::count(sent.begin(), sent.end(), '\n'), 2) << sent;

  // A second process finds the same alerts in the history, prints them, and sends none again.
  const pid_t second = follow("second.txt");
  ASSERT_TRUE(sandbox_.wait_for_text("second.txt", "\"group\":\"bolt\"")) << sandbox_.read("second.txt");
  ::kill(second, SIGTERM);
  EXPECT_EQ(Sandbox::wait(second)->exit_code, 3) << sandbox_.read("second.txt");
  EXPECT_EQ(sandbox_.read("sent.jsonl"), sent);
  EXPECT_NE(refusal_of({"monitor", "tiny", "--follow"}).find("--follow needs --alerts"), std::string::npos);
}

TEST_F(Monitor, ARunWithoutAReferenceSaysHowToMakeOne) {
  const std::string told = "already has a reference from its development set";
  EXPECT_NE(refusal_of({"evaluate", "tiny", "dev.conll", "--reference"}).find(told), std::string::npos);
  const fs::path file = run_folder() / "reference.json";
  ASSERT_TRUE(fs::exists(file));
  { std::ofstream(file) << "{"; }
  EXPECT_NE(refusal_of({"monitor", "tiny"}).find("reference.json: "), std::string::npos);
  fs::remove(file);
  EXPECT_NE(refusal_of({"monitor", "tiny"}).find("exp evaluate tiny FILE --reference"), std::string::npos);
  sandbox_.change("DELETE FROM artifact WHERE name = 'reference'");
  output_of({"evaluate", "tiny", "dev.conll", "--reference"});
  EXPECT_EQ(monitoring().at("reference").at("source"), "dev.conll");
}

TEST_F(Monitor, RejectsInvalidCommandLines) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"serve", "tiny", "--monitor=0"},
                                                {"serve", "tiny", "--monitor=1.5"},
                                                {"serve", "tiny", "--monitor-texts", "7"},
                                                {"serve", "tiny", "--monitor", "--monitor-texts", "-1"},
                                                {"monitor", "tiny", "--alpha", "0"},
                                                {"monitor", "tiny", "--window", "0"},
                                                {"monitor", "tiny", "--alert-timeout", "0"},
                                                {"monitor", "nobody"},
                                                {"monitor"}})
    EXPECT_FALSE(refusal_of(words).empty()) << words.back();
}

TEST_F(Monitor, AFolderThatCannotBeWrittenLosesNoRequest) {
  { std::ofstream(run_folder() / "monitor") << "a file where the folder should be"; }
  serve({"--monitor"});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(predict("Anna lives in Lund .").status, 200);
  const std::string said = sandbox_.read("serve.txt");
  EXPECT_NE(said.find("samples of requests are lost until this is corrected"), std::string::npos) << said;
}

}  // namespace
}  // namespace encore::system_test
