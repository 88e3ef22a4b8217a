// SPDX-License-Identifier: BSD-3-Clause
// Tests the review queue of an application with real workers: the server puts requests into it before it
// answers them, people decide them over HTTP and with `exp review`, and a killed server has lost none. A
// queue that does not fit the served application is refused, and requests without the server's token are,
// too. A request that was answered must be in the queue; fields of JSON and events of the trail must stay.
// The "band" of a request is what the application does with it: answer, review or refuse. The queue itself is
// tested in tests/unit/review. Read next: serve/review_desk.hpp, cli/review_verb.cpp.
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "system/control/application_fixture.hpp"

namespace encore::system_test {
namespace {

class ReviewTest : public ApplicationTest {
 protected:
  void SetUp() override {
    ApplicationTest::SetUp();
    if (IsSkipped()) return;
    output_of({"run", "desk.toml", "-q"});
  }
  /// Makes a queue that audits all requests, so that each of them becomes an item.
  void make_queue() const {
    output_of({"review", "new", "desk.queue", "--app", "desk", "--audit", "1", "--keep-texts", "1", "--label",
               "other"});
  }
  HttpResponse post(const std::string& action, const json& body) const {
    return ask(http_post("/v1/review/" + action, body.dump()));
  }
  json posted(const std::string& action, const json& body) const {
    const HttpResponse response = post(action, body);
    EXPECT_EQ(response.status, 200) << action << response.body;
    return json::parse(response.body);
  }
  json status() const { return json::parse(ask(http_get("/v1/review/status")).body); }
  static std::string request_id(const HttpResponse& response) {
    const std::string field = "X-Request-Id: ";
    const std::size_t at = response.head.find(field);
    if (at == std::string::npos) return "";
    const std::size_t begin = at + field.size();
    return response.head.substr(begin, response.head.find('\r', begin) - begin);
  }
  /// Returns the text of a request that no data set of the application has, if the number is at least 570.
  static std::string some_request(int number) {
    const std::string line = requests(number, number + 1, true);
    return line.substr(0, line.find('\t'));
  }
};

TEST_F(ReviewTest, KeepsTheRequestsOfAServerUntilPeopleHaveDecidedThem) {
  make_queue();
  serve({"--review", "desk.queue"}, "desk");
  json inputs = json::array();
  for (int i = 700; i < 712; ++i) inputs.push_back(some_request(i));
  const HttpResponse answered = predict(inputs);
  ASSERT_EQ(answered.status, 200) << answered.body;
  const json results = json::parse(answered.body).at("results");
  const std::string id = request_id(answered);
  ASSERT_FALSE(id.empty()) << answered.head;

  json counts = status();
  EXPECT_EQ(counts.at("waiting"), 12) << counts;
  EXPECT_EQ(counts.at("labels"), json::array({"other", "billing", "delivery"})) << counts;
  int seen = 0;
  for (const auto& [band, requests] : counts.at("seen").items()) seen += requests.get<int>();
  EXPECT_EQ(seen, 12);

  const json list = json_of({"review", "ls", "desk.queue", "--limit", "20"}).at("items");
  ASSERT_EQ(list.size(), 12u);
  for (const json& item : list) {
    const std::string name = item.at("id");
    ASSERT_TRUE(name.starts_with(id + ".")) << name;
    const json& result = results[std::stoul(name.substr(id.size() + 1))];
    EXPECT_EQ(item.at("band"), result.at("decide.band"));
    EXPECT_EQ(item.at("text"), result.at("text"));
    EXPECT_EQ(item.at("confidence"), result.at("decide.confidence"));
    EXPECT_EQ(item.at("reason"), item.at("band") == "review" ? "review" : "audit");
    EXPECT_EQ(item.at("proposed"),
              item.at("band") == "review" ? result.at("department.label") : result.at("decide.label"));
  }

  json claimed = posted("claim", {{"reviewer", "anna"}}).at("item");
  const std::string item = claimed.at("id");
  expect_refused(post("decide", {{"item", item}, {"label", "billing"}, {"reviewer", "bob"}}), 409,
                 "is with anna");
  expect_refused(post("decide", {{"item", item}, {"label", "biling"}, {"reviewer", "anna"}}), 400,
                 "did you mean \\\"billing\\\"");
  expect_refused(post("decide", {{"item", "none"}, {"label", "billing"}, {"reviewer", "anna"}}), 404,
                 "no item");
  expect_refused(post("claim", {{"reviewer", ""}}), 400, "name of a reviewer");
  expect_refused(post("claim", json::object()), 400, "\\\"reviewer\\\" is missing");
  EXPECT_EQ(posted("decide", {{"item", item}, {"label", "billing"}, {"reviewer", "anna"}}).at("done"), 1);
  EXPECT_EQ(posted("undo", {{"item", item}, {"reviewer", "anna"}}).at("done"), 0);
  EXPECT_EQ(posted("release", {{"item", item}, {"reviewer", "anna"}, {"skip", true}}).at("item").at("holder"),
            nullptr);
  EXPECT_NE(posted("claim", {{"reviewer", "anna"}}).at("item").at("id"), item)
      << "the skipped one comes last";

  // The command line works on the same queue while the server runs.
  EXPECT_EQ(
      json_of({"review", "decide", "desk.queue", item, "delivery", "--by", "bob"}).at("item").at("label"),
      "delivery");
  const json trail = json_of({"review", "trail", "desk.queue", item}).at("trail");
  std::string events;
  for (const json& entry : trail)
    events += entry.at("event").get<std::string>() + " " + entry.at("person").get<std::string>() + "; ";
  EXPECT_EQ(events, "queued exp serve; claimed anna; decided anna; undone anna; skipped anna; decided bob; ");
  EXPECT_EQ(json_of({"review", "report", "desk.queue"}).at("reviewers").at("bob"), 1);
  EXPECT_TRUE(contains(output_of({"review", "export", "desk.queue"}), "\tdelivery\n"));
  EXPECT_EQ(json_of({"review", "forget", "desk.queue", item, "--by", "bob"}).at("inputs"), 1);
  EXPECT_EQ(output_of({"review", "export", "desk.queue"}), "");
  const HttpResponse page = ask(http_get("/review"));
  EXPECT_TRUE(page.status == 200 && page.has("Review requests") && page.has("Content-Security-Policy"));
}

TEST_F(ReviewTest, HasEachRequestThatAKilledServerHasAnswered) {
  make_queue();
  serve({"--review", "desk.queue"}, "desk");
  constexpr int clients = 4, requests_of_each = 10;
  std::vector<std::vector<std::string>> answered(clients);
  std::vector<std::thread> threads;
  for (int c = 0; c < clients; ++c)
    threads.emplace_back([&, c] {
      HttpConnection connection(port_);
      for (int i = 0; i < requests_of_each; ++i) {
        connection.send(http_post("/v1/predict", json{{"inputs", some_request(800 + i)}}.dump()));
        const HttpResponse response = connection.receive();
        if (response.status == 200) answered[static_cast<std::size_t>(c)].push_back(request_id(response));
        if (c == 0 && i == requests_of_each / 2) ::kill(server_, SIGKILL);
      }
    });
  for (std::thread& each : threads) each.join();
  Sandbox::wait(server_);
  const json list = json_of({"review", "ls", "desk.queue", "--limit", "100"}).at("items");
  std::set<std::string> kept;
  for (const json& item : list) kept.insert(item.at("id"));
  EXPECT_EQ(kept.size(), list.size()) << "no item is there twice";
  EXPECT_GE(answered[0].size(), 6u) << "those that the first client sent before it killed the server";
  for (const auto& ids : answered)
    for (const std::string& id : ids) EXPECT_TRUE(kept.contains(id)) << id;
}

TEST_F(ReviewTest, RefusesWhatCannotWork) {
  make_queue();
  EXPECT_TRUE(contains(refusal_of({"review", "new", "desk.queue", "--app", "desk"}), "exists already"));
  EXPECT_TRUE(contains(refusal_of({"review", "new", "other.queue", "--app", "departments"}),
                       "run departments is not an application"));
  EXPECT_TRUE(contains(refusal_of({"serve", "departments", "--review", "desk.queue"}),
                       "is of application desk, which is not served"));
  EXPECT_TRUE(contains(refusal_of({"serve", "desk", "--review", "encore.db"}),
                       "is a database of runs, not a review queue"));
  serve({}, "desk");
  expect_refused(ask(http_get("/v1/review/status")), 404, "has no review queue; start it with --review");
  expect_refused(ask(http_get("/review")), 404, "has no review queue");
}

TEST_F(ReviewTest, NeedsTheTokenOfTheServer) {
  make_queue();
  write_token("token.txt", "0123456789abcdef\n");
  serve({"--review", "desk.queue", "--token-file", "token.txt"}, "desk");
  EXPECT_EQ(post("claim", {{"reviewer", "anna"}}).status, 401);
  EXPECT_EQ(ask(http_get("/v1/review/status")).status, 401);
  EXPECT_EQ(ask(http_get("/review")).status, 200) << "the page asks for the token";
}

}  // namespace
}  // namespace encore::system_test
