// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp serve` with real workers, as clients see it (serve/service.hpp, serve/routes.hpp,
// serve/http_server.hpp): each route compared with the verb that computes the same, whose answer it must
// equal, what is rejected, and what happens when workers, clients and the server itself end. serving.hpp has
// the fixture. Routes, members and status codes must stay, because clients depend on them; words may change.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <set>
#include <thread>

#include <nlohmann/json.hpp>

#include "system/control/days.hpp"
#include "system/control/serving.hpp"

namespace encore::system_test {
namespace {

TEST_F(Serve, AnswersAsPredictDoes) {
  serve();
  const std::vector<std::string> texts = some_texts(70);  // more than a batch
  const std::vector<json> expected = predicted(texts);
  const HttpResponse all = predict(texts);
  ASSERT_EQ(all.status, 200) << all.body;
  const json body = json::parse(all.body);
  EXPECT_EQ(body.at("model"), "tiny");
  EXPECT_EQ(body.at("digest").get<std::string>().size(), 64U);
  EXPECT_GT(body.at("step").get<int>(), 0);
  EXPECT_TRUE(body.contains("version"));
  ASSERT_EQ(body.at("results").size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(body.at("results")[i], expected[i]) << texts[i];
  const json one = json::parse(predict(texts[1]).body);
  ASSERT_EQ(one.at("results").size(), 1U);
  EXPECT_EQ(one.at("results")[0], expected[1]) << "alone and among others";
}

/// Expects numbers that differ by at most 1e-6, and equality of everything else.
void expect_near(const json& found, const json& expected, const std::string& where) {
  ASSERT_EQ(found.is_number_float(), expected.is_number_float()) << where;
  if (expected.is_number_float()) {
    EXPECT_NEAR(found.get<double>(), expected.get<double>(), 1e-6) << where;
  } else if (expected.is_structured()) {
    ASSERT_EQ(found.size(), expected.size()) << where;
    for (const auto& [key, value] : expected.items())
      expect_near(found.is_array() ? found.at(std::stoul(key)) : found.at(key), value, where + "/" + key);
  } else {
    EXPECT_EQ(found, expected) << where;
  }
}

struct ServeScores : Serve {
  /// Compares the scores of a model with this head with those of predict, and the other answers without
  /// scores.
  void expect_those_of_predict(const std::string& head) {
    const std::string run = "scored-" + head;
    output_of({"run", "tiny.toml", "-q", "-S", "name=" + run, "-S", "model.head.type=" + head, "-S",
               "train.epochs=30"});
    serve({}, run);
    const std::vector<std::string> texts = some_texts(40);
    const HttpResponse response =
        ask(http_post("/v1/predict", json{{"inputs", texts}, {"scores", true}}.dump()));
    ASSERT_EQ(response.status, 200) << response.body;
    const json results = json::parse(response.body).at("results");
    const std::vector<json> expected = predicted(texts, run, {"--scores"});
    ASSERT_EQ(results.size(), texts.size());
    std::size_t scored = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      expect_near(results[i], expected[i], head + " " + texts[i]);
      for (const json& entity : results[i].at("entities")) {
        EXPECT_LE(entity.at("least_score").get<double>(), entity.at("score").get<double>());
        ++scored;
      }
    }
    EXPECT_GT(scored, 20U);
    const json plain = json::parse(predict(texts).body).at("results");
    const std::vector<json> without = predicted(texts, run);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ(plain[i], without[i]);
      EXPECT_EQ(plain[i].dump().find("score"), std::string::npos) << plain[i];
    }
  }
};

TEST_F(ServeScores, OfALinearHeadEqualThoseOfPredict) {
  expect_those_of_predict("linear");
  expect_refused(ask(http_post("/v1/predict", R"({"inputs": "Anna", "scores": 1})")), 400,
                 "\\\"scores\\\" must be true or false, not a number");
}

TEST_F(ServeScores, OfACrfEqualThoseOfPredict) {
  expect_those_of_predict("crf");
}

TEST_F(Serve, AnswersManyClientsAtOnceEachWithItsOwn) {
  serve({"--workers", "2"});
  const std::vector<std::string> texts = some_texts(60);
  const std::vector<json> expected = predicted(texts);
  std::atomic<int> right = 0;
  std::vector<std::thread> clients;
  for (std::size_t c = 0; c < 6; ++c)
    clients.emplace_back([&, c] {
      HttpConnection connection(port_);  // one for all of its requests
      for (std::size_t i = c; i < texts.size(); i += 6) {
        connection.send(http_post("/v1/predict", json{{"inputs", texts[i]}}.dump()));
        const HttpResponse response = connection.receive();
        if (response.status == 200 && json::parse(response.body).at("results")[0] == expected[i]) ++right;
      }
    });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(right, 60);
  EXPECT_EQ(metric("encore_texts_total{model=\"tiny\"}"), 60U);
}

TEST_F(Serve, RejectsInvalidRequestsAndSaysWhy) {
  serve({"--body-kib", "4", "--queue", "40"});
  const auto body = [&](const std::string& text) { return ask(http_post("/v1/predict", text)); };
  expect_refused(body("{\"inputs\": \"Anna\""), 400, "no JSON");
  expect_refused(body("[]"), 400, "the body must be a JSON object, not a list");
  expect_refused(body("{}"), 400, "\\\"inputs\\\" is missing");
  expect_refused(body(R"({"inptus": "Anna"})"), 400,
                 "unknown member \\\"inptus\\\"; did you mean \\\"inputs\\\"?");
  expect_refused(body(R"({"inputs": 7})"), 400,
                 "\\\"inputs\\\" must be a text or a list of them, not a number");
  expect_refused(body(R"({"inputs": ["Anna", 7]})"), 400, "has a number at place 1 of its list");
  expect_refused(body(R"({"inputs": []})"), 400, "is an empty list");
  expect_refused(body(R"({"inputs": 1e999})"), 400, "a number that no 64-bit float can hold");
  expect_refused(body(std::string(3000, '[')), 400, "nested more than 100 levels deep");
  expect_refused(body("{\"inputs\": \"\xFF\"}"), 400, "no JSON");
  expect_refused(body(R"({"inputs": "Anna", "model": "tinny"})"), 404,
                 "no model \\\"tinny\\\" is served; there is \\\"tiny\\\"");
  expect_refused(predict(std::string(5000, 'a')), 413, "the body is longer than 4096 bytes");
  expect_refused(predict(std::vector<std::string>(41, "a")), 413, "takes at most 40 at a time");
  expect_refused(ask(http_get("/v1/predict")), 405, "/v1/predict takes POST");
  EXPECT_TRUE(ask(http_get("/v1/predict")).has("Allow: POST\r\n"));
  expect_refused(ask(http_get("/v1/predicts")), 404, "did you mean \\\"/v1/predict\\\"?");
  expect_refused(ask("POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"), 415,
                 "Content-Type: application/json");
  expect_refused(ask("garbage\r\n\r\n"), 400, "invalid request: expected HTTP/1.1");
  expect_refused(ask(std::string("\0\x01\xFF\r\n\r\n", 7)), 400, "invalid request: expected HTTP/1.1");
  expect_refused(ask("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(20000, 'x') + "\r\n\r\n"), 431,
                 "the head");
  expect_refused(ask(http_post("/v1/completions", R"({"prompt": "Anna"})")), 400,
                 "the model cannot generate");
  expect_refused(ask("GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 403,
                 "not as \\\"evil.example\\\"");
  EXPECT_EQ(predict("Anna lives in Lund .").status, 200) << "the server continues";
}

TEST_F(Serve, JudgesHostOriginAndCodingByTheHead) {
  serve();
  const auto get = [&](const std::string& fields) {
    return ask("GET /healthz HTTP/1.1\r\n" + fields + "\r\n");
  };
  const std::string port = std::to_string(port_);
  for (const char* host : {"localhost", "LocalHost", "127.0.0.1", "[::1]"})
    for (const std::string& end : {std::string(), ":" + port})
      EXPECT_EQ(get("Host: " + (host + end) + "\r\n").status, 200) << host << end;
  expect_refused(get(""), 400, "no field Host");
  EXPECT_EQ(ask("GET /healthz HTTP/1.0\r\n\r\n").status, 200) << "HTTP/1.0 has none";
  expect_refused(get("Host: localhost\r\nHost: evil.example\r\n"), 400, "2 fields Host");
  for (const char* host : {"[", "[]", "[::1", "[::1]x", "[evil]", ":80", "localhost:80evil", "localhost:",
                           "a b", "localhost:80:90", "localhost/", "evil@localhost", "localhost:123456"})
    expect_refused(get("Host: " + std::string(host) + "\r\n"), 400,
                   "expected a name or an address with a port");
  for (const char* host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1"})
    expect_refused(get("Host: " + std::string(host) + "\r\n"), 403, "for this machine only");
  const std::string here = "Host: localhost:" + port + "\r\n";
  EXPECT_EQ(get(here + "Origin: http://localhost:" + port + "\r\n").status, 200);
  for (const char* origin : {"http://evil.example", "null", "http://localhost:1"})
    expect_refused(get(here + "Origin: " + origin + "\r\n"), 403, "only the page of this server may");
  const std::string post =
      "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  for (const char* coding : {"gzip", "gzip, chunked", "identity", "xchunked"})
    expect_refused(ask(post + "Transfer-Encoding: " + coding + "\r\n\r\n"), 400, "");
  const std::string body = R"({"inputs": "Anna"})";
  EXPECT_EQ(ask(post + "Transfer-Encoding: Chunked\r\n\r\n12\r\n" + body + "\r\n0\r\n\r\n").status, 200);
  const HttpResponse page = ask(http_get("/"));
  EXPECT_TRUE(page.has("frame-ancestors 'none'")) << page.head;
  EXPECT_TRUE(page.has("X-Frame-Options: DENY\r\n")) << page.head;
}

/// Memory is used only for bytes that have come, not for the length in the head.
TEST_F(Serve, HeadsWithoutBodiesBlockNoOtherClient) {
  write_token("token.txt", "0123456789abcdef0123\n");
  serve({"--receive-timeout", "60", "--token-file", "token.txt"});
  const std::string token = "Authorization: Bearer 0123456789abcdef0123\r\n";
  const std::string head =
      "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  const std::string length = "Content-Length: 1048576\r\n";
  HttpConnection nobody(port_), nowhere(port_), plain(port_);
  nobody.send(head + length + "\r\n");
  expect_refused(nobody.receive(), 401, "a token is required");
  nowhere.send("POST /v1/nothing HTTP/1.1\r\nHost: localhost\r\n" + token + length + "\r\n");
  expect_refused(nowhere.receive(), 404, "there is no /v1/nothing");
  plain.send("POST /v1/predict HTTP/1.1\r\nHost: localhost\r\n" + token + length + "\r\n");
  expect_refused(plain.receive(), 415, "application/json");
  std::vector<std::unique_ptr<HttpConnection>> waiting;
  for (int i = 0; i < 70; ++i) {
    waiting.push_back(std::make_unique<HttpConnection>(port_));
    waiting.back()->send(head + token + length + "Expect: 100-continue\r\n\r\n");
    EXPECT_EQ(waiting.back()->receive().status, 100) << "the head was judged";
  }
  EXPECT_EQ(ask(http_post("/v1/predict", R"({"inputs": "Anna"})", token)).status, 200);
}

/// A body behind the head would be read as the next answer on the connection.
TEST_F(Serve, ToHeadGoesTheHeadOfGetAlone) {
  serve();
  for (const char* path : {"/healthz", "/openapi.json", "/nothing"}) {
    const std::string request = std::string(path) + " HTTP/1.0\r\nHost: localhost\r\n\r\n";
    const HttpResponse get = ask("GET " + request), head = ask("HEAD " + request);
    EXPECT_EQ(head.head, get.head);
    EXPECT_FALSE(get.body.empty());
    EXPECT_EQ(head.body, "") << path;
  }
  EXPECT_EQ(ask("HEAD /v1/predict HTTP/1.0\r\nHost: localhost\r\n\r\n").status, 405);
}

TEST_F(Serve, TakesNamesOfTypesAndSchemesInAnyCase) {
  serve();
  const std::string body = R"({"inputs": "Anna"})";
  const auto post = [&](const std::string& type) {
    return ask("POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + type +
               "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body)
        .status;
  };
  EXPECT_EQ(post("Application/JSON; charset=utf-8"), 200);
  EXPECT_EQ(post("application/json ;charset=utf-8"), 200);
  EXPECT_EQ(post("application/jsonx"), 415);
}

TEST_F(Serve, ATextThatIsTooLongIsRefusedAloneUnlessItMayBeCut) {
  serve();
  std::string text = "Anna";
  for (int i = 0; i < 60; ++i) text += " lives in Lund";
  expect_refused(predict(text), 400, "longer than data.max_length = 32 of the model");
  expect_refused(predict({"Anna", text}), 400, "text 1: the text is longer");
  const HttpResponse cut = ask(http_post("/v1/predict", json{{"inputs", text}, {"truncate", true}}.dump()));
  ASSERT_EQ(cut.status, 200) << cut.body;
  EXPECT_EQ(json::parse(cut.body).at("results")[0], predicted({text})[0]);
  const HttpResponse vector = ask(http_post("/v1/embeddings", json{{"input", text}}.dump()));
  expect_refused(vector, 400, "longer than data.max_length = 32 of the model");
}

TEST_F(Serve, GivesTheVectorsOfEmbed) {
  serve();
  const std::vector<std::string> texts = {"in Oslo", "Anna lives in Lund"};
  const json expected = json::parse(output_of({"embed", "tiny", texts[0], texts[1], "--json"}));
  const HttpResponse response =
      ask(http_post("/v1/embeddings", json{{"input", texts}, {"user", "me"}}.dump()));
  ASSERT_EQ(response.status, 200) << response.body;
  const json body = json::parse(response.body);
  EXPECT_EQ(body.at("object"), "list");
  EXPECT_EQ(body.at("usage").at("prompt_tokens"), body.at("usage").at("total_tokens"));
  ASSERT_EQ(body.at("data").size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(body.at("data")[i].at("index"), i);
    const auto given = body.at("data")[i].at("embedding").get<std::vector<float>>();
    const auto wanted = expected.at("vectors")[i].at("vector").get<std::vector<float>>();
    ASSERT_EQ(given.size(), wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k)
      EXPECT_NEAR(given[k], wanted[k], 1e-5F * (1 + std::abs(wanted[k])));
  }
  const HttpResponse bytes =
      ask(http_post("/v1/embeddings", R"({"input": "in Oslo", "encoding_format": "base64"})"));
  ASSERT_EQ(bytes.status, 200) << bytes.body;
  EXPECT_EQ(json::parse(bytes.body).at("data")[0].at("embedding").get<std::string>().size(), 88U)
      << "16 float32";
  expect_refused(ask(http_post("/v1/embeddings", R"({"input": "a", "encoding_format": "hex"})")), 400,
                 "expected \\\"float\\\" or \\\"base64\\\"");
  expect_refused(ask(http_post("/v1/embeddings", R"({"input": " "})")), 400, "has no tokens");
}

TEST_F(Serve, EveryRequestIsAnsweredWhenWorkersAreKilled) {
  serve({"--workers", "2"});
  const std::vector<std::string> texts = some_texts(12);
  const std::vector<json> expected = predicted(texts);
  std::atomic<bool> enough = false;
  std::atomic<int> right = 0, unavailable = 0, other = 0;
  std::vector<std::thread> clients;
  for (std::size_t c = 0; c < 4; ++c)
    clients.emplace_back([&, c] {
      HttpConnection connection(port_);
      for (std::size_t i = c; !enough; ++i) {
        connection.send(http_post("/v1/predict", json{{"inputs", texts[i % texts.size()]}}.dump()));
        const HttpResponse response = connection.receive();
        if (response.status == 200)
          json::parse(response.body).at("results")[0] == expected[i % texts.size()] ? ++right : ++other;
        else
          response.status == 503 && response.has("workers have ended") ? ++unavailable : ++other;
      }
    });
  const auto ends = [&] { return metric("encore_worker_ends_total{model=\"tiny\"}"); };
  std::set<pid_t> killed;  // the list of workers may still have one that has ended
  bool goes_on = true;
  while (killed.size() < 6 && goes_on)
    for (const pid_t worker : sandbox_.workers()) {
      const int before = right;
      if (::kill(worker, SIGKILL) == 0) killed.insert(worker);
      goes_on = goes_on && sandbox_.wait_until([&] { return right > before + 10; });
    }
  EXPECT_TRUE(goes_on) << sandbox_.read("serve.txt");
  EXPECT_TRUE(sandbox_.wait_until([&] { return ends() >= 6U; })) << ends();
  enough = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(other, 0) << "lost, or wrong";
  EXPECT_GT(right, 60);
  EXPECT_EQ(metric("encore_texts_lost_total{model=\"tiny\"}"), static_cast<std::uint64_t>(unavailable));
}

TEST_F(Serve, ReportsAWorkerThatMakesNoProgressAndFailsItsInput) {
  serve({"--timeout", "0.3", "--workers", "1"});
  for (const pid_t worker : sandbox_.workers()) ::kill(worker, SIGSTOP);
  expect_refused(predict("Anna lives in Lund ."), 503, "no answer within the time limit of a request");
  EXPECT_EQ(metric("encore_requests_late_total{model=\"tiny\"}"), 1U);
  // No process wakes it: it is killed, and another one is started.
  EXPECT_TRUE(sandbox_.wait_until([&] { return predict("Anna lives in Lund .").status == 200; }));
  EXPECT_EQ(metric("encore_worker_ends_total{model=\"tiny\"}"), 1U);
}

/// Long inputs take one worker at most and leave the other to short ones; here both stop meanwhile.
TEST_F(Serve, ShortInputsAreAnsweredWhileLongOnesAreComputed) {
  serve({"--workers", "2"});
  ASSERT_TRUE(sandbox_.wait_until([&] { return metric("encore_workers_ready{model=\"tiny\"}") == 2; }));
  const std::vector<pid_t> workers = sandbox_.workers();
  ASSERT_EQ(workers.size(), 2U);
  for (const pid_t worker : workers) ::kill(worker, SIGSTOP);
  const auto batches = [&] { return metric("encore_batches_total{model=\"tiny\"}"); };
  const auto waiting = [&] { return metric("encore_waiting_texts{model=\"tiny\"}"); };
  const std::string marks = json{{"inputs", "a" + std::string(20'000, '.')}, {"truncate", true}}.dump();
  std::vector<std::unique_ptr<HttpConnection>> hostile;
  for (int i = 0; i < 3; ++i) {
    hostile.push_back(std::make_unique<HttpConnection>(port_));
    hostile.back()->send(http_post("/v1/predict", marks));
  }
  ASSERT_TRUE(sandbox_.wait_until([&] { return batches() + waiting() == 3; }));
  EXPECT_EQ(batches(), 1U) << "one worker is left";
  HttpConnection honest(port_);
  honest.send(http_post("/v1/predict", R"({"inputs": "Anna lives in Lund ."})"));
  EXPECT_TRUE(sandbox_.wait_until([&] { return batches() == 2; }));
  EXPECT_EQ(waiting(), 2U) << "it went before those that had waited";
  for (const pid_t worker : workers) ::kill(worker, SIGCONT);
  EXPECT_EQ(honest.receive().status, 200);
  for (const auto& each : hostile) EXPECT_EQ(each->receive().status, 200);
}

/// An input that ends each worker that computes it ends two of them and is then rejected.
TEST_F(Serve, ATextThatEndsWorkersIsNotTriedAgainAndAgain) {
  serve({"--workers", "1", "--body-kib", "32768", "--timeout", "600"});
  const std::string text(std::size_t{16} << 20,
                         '.');  // a worker computes it for seconds, to be ended meanwhile
  HttpConnection asks(port_);
  asks.send(http_post("/v1/predict", json{{"inputs", text}, {"truncate", true}}.dump()));
  for (std::uint64_t batch = 1; batch <= 2; ++batch) {
    ASSERT_TRUE(sandbox_.wait_until([&] { return metric("encore_batches_total{model=\"tiny\"}") == batch; }));
    for (const pid_t worker : sandbox_.workers()) ::kill(worker, SIGKILL);
  }
  expect_refused(asks.receive(), 503, "two workers have ended while they computed this (");
  for (int i = 0; i < 3; ++i)
    expect_refused(ask(http_post("/v1/predict", json{{"inputs", text}, {"truncate", true}}.dump())), 503,
                   "try again after a minute");
  EXPECT_EQ(metric("encore_batches_total{model=\"tiny\"}"), 2U) << "no worker was asked a third time";
  EXPECT_EQ(predict("Anna lives in Lund .").status, 200);
  EXPECT_EQ(metric("encore_worker_ends_total{model=\"tiny\"}"), 2U);
  EXPECT_EQ(metric("encore_texts_lost_total{model=\"tiny\"}"), 4U);
}

/// Methods, forms and names that a route does not take, with and without a body.
TEST_F(Serve, AnswersMethodsThatARouteDoesNotTakeAndRepeatsNoTag) {
  serve();
  const auto asked = [&](const std::string& method, const std::string& target) {
    return ask(method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  };
  for (const char* method : {"OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "FOO", "get"}) {
    expect_refused(asked(method, "/v1/predict"), 405, "/v1/predict takes POST");
    EXPECT_TRUE(asked(method, "/v1/models").has("Allow: GET, HEAD\r\n")) << method;
  }
  EXPECT_EQ(asked("HEAD", "/v1/predict").status, 405);
  EXPECT_EQ(asked("OPTIONS", "*").status, 404);
  EXPECT_EQ(asked("CONNECT", "localhost:80").status, 404);
  expect_refused(ask("PUT /v1/feedback HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"), 405,
                 "takes POST");
  // The head decides: the server does not wait for a body.
  expect_refused(ask("POST /v1/feedback HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                     "Content-Length: 1000000\r\n\r\n"),
                 404, "start it with --monitor");
  const std::string tag = "<script>alert(1)</script>";
  const std::string body = json{{"inputs", "Anna"}, {"model", tag}}.dump();
  for (const HttpResponse& response :
       {asked("GET", "/" + tag), ask(http_post("/v1/predict", body)),
        ask(http_post("/v1/predict", json{{tag, "Anna"}}.dump())),
        ask("GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://" + tag + "\r\n\r\n")}) {
    EXPECT_GE(response.status, 400);
    EXPECT_TRUE(response.has("alert(1)")) << response.body;
    EXPECT_FALSE(response.has("<")) << response.body;
    EXPECT_TRUE(response.has("Content-Type: application/json\r\n")) << response.head;
    EXPECT_TRUE(response.has("X-Content-Type-Options: nosniff\r\n")) << response.head;
    EXPECT_TRUE(json::accept(response.body));
  }
}

TEST_F(Serve, RejectsClientsWhileTheQueueIsFull) {
  serve({"--queue", "3", "--batch", "1", "--workers", "1"});
  const std::vector<pid_t> workers = sandbox_.workers();
  ASSERT_EQ(workers.size(), 1U);
  ::kill(workers[0], SIGSTOP);
  std::vector<std::unique_ptr<HttpConnection>> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<HttpConnection>(port_));
    clients.back()->send(http_post("/v1/predict", R"({"inputs": "Anna lives in Lund ."})"));
  }
  ASSERT_TRUE(sandbox_.wait_until(
      [&] { return metric("encore_requests_total{route=\"/v1/predict\",status=\"429\"}") > 0; }));
  ::kill(workers[0], SIGCONT);
  int answered = 0, sent_away = 0;
  for (const auto& client : clients) {
    const HttpResponse response = client->receive();
    if (response.status == 200) ++answered;
    if (response.status == 429 && response.has("Retry-After: 1\r\n") &&
        response.has("the queue is full (3 inputs)"))
      ++sent_away;
  }
  EXPECT_GE(answered, 4);
  EXPECT_GE(sent_away, 1);
  EXPECT_EQ(answered + sent_away, 8);
}

TEST_F(Serve, GivesTheLastAnswersBeforeItEnds) {
  serve({"--workers", "1"});
  const std::vector<pid_t> workers = sandbox_.workers();
  ASSERT_EQ(workers.size(), 1U);
  ::kill(workers[0], SIGSTOP);
  HttpConnection asked(port_), idle(port_);
  asked.send(http_post("/v1/predict", R"({"inputs": "Anna lives in Lund ."})"));
  ASSERT_TRUE(sandbox_.wait_until([&] { return metric("encore_batches_total{model=\"tiny\"}") == 1; }));
  ::kill(server_, SIGTERM);
  ASSERT_TRUE(sandbox_.wait_until([&] { return !HttpConnection(port_).open(); }))
      << "no other client is accepted";
  EXPECT_FALSE(has_ended(server_));
  ::kill(workers[0], SIGCONT);
  const HttpResponse last = asked.receive();
  EXPECT_EQ(last.status, 200) << last.body;
  EXPECT_TRUE(last.has("Connection: close\r\n"));
  EXPECT_EQ(idle.receive().status, 0) << "closed: nothing was asked on it";
  const std::optional<runner::ProcessEnd> end = Sandbox::wait(server_);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->exit_code, 0) << sandbox_.read("serve.txt");
  EXPECT_TRUE(sandbox_.wait_until_no_workers());
}

TEST_F(Serve, SaysThatAnswersWereLostWhenItsPatienceEnds) {
  serve({"--drain", "0.2", "--workers", "1"});
  for (const pid_t worker : sandbox_.workers()) ::kill(worker, SIGSTOP);
  HttpConnection asked(port_);
  asked.send(http_post("/v1/predict", R"({"inputs": "Anna lives in Lund ."})"));
  ASSERT_TRUE(sandbox_.wait_until([&] { return metric("encore_batches_total{model=\"tiny\"}") == 1; }));
  const std::optional<runner::ProcessEnd> end = end_server();
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->exit_code, 1);
  EXPECT_TRUE(sandbox_.wait_for_text("serve.txt", "ended before all requests were answered"));
  EXPECT_TRUE(sandbox_.wait_until_no_workers());
}

TEST_F(Serve, DoesNotWaitForSlowClients) {
  serve({"--receive-timeout", "0.3"});
  HttpConnection head(port_), body(port_), cut(port_);
  head.send("POST /v1/predict HTTP/1.1\r\nHost: loc");
  const std::string whole = http_post("/v1/predict", std::string(100, 'x'));
  body.send(whole.substr(0, whole.size() - 90));
  cut.send(whole.substr(0, whole.size() - 90));
  cut.end_sending();
  expect_refused(head.receive(), 408, "did not arrive completely");
  expect_refused(body.receive(), 408, "did not arrive completely");
  expect_refused(cut.receive(), 400, "the request is incomplete");
  EXPECT_EQ(predict("Anna").status, 200);
}

TEST_F(Serve, RefusesConnectionsBeyondTheLimitPolitely) {
  serve({"--connections", "20", "--workers", "1"});
  const std::vector<pid_t> workers = sandbox_.workers();
  ASSERT_EQ(workers.size(), 1U);
  ::kill(workers[0], SIGSTOP);
  const std::string body = R"({"inputs": "Anna lives in Lund ."})";
  const std::string whole = http_post("/v1/predict", body, "Expect: 100-continue\r\n");
  std::vector<std::unique_ptr<HttpConnection>> asked;
  for (int i = 0; i < 20; ++i) {
    asked.push_back(std::make_unique<HttpConnection>(port_));
    asked.back()->send(whole.substr(0, whole.size() - body.size()));
    ASSERT_EQ(asked.back()->receive().status, 100) << "let in";
    asked.back()->send(body);
  }
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    HttpConnection more(port_);
    const HttpResponse response = more.receive();
    if (response.status == 503 && response.has("too many connections")) ++refused;
  }
  EXPECT_GT(refused, 150);
  ::kill(workers[0], SIGCONT);
  for (const auto& each : asked) EXPECT_EQ(each->receive().status, 200);
  EXPECT_TRUE(sandbox_.wait_until([&] { return predict("Anna").status == 200; }));
}

/// Clients that send nothing, or half of a request, leave room for those that send requests.
TEST_F(Serve, SilentConnectionsBeyondTheLimitBlockNoOtherClient) {
  serve({"--connections", "20", "--receive-timeout", "60"});
  std::vector<std::unique_ptr<HttpConnection>> silent;
  for (int i = 0; i < 60; ++i) {
    silent.push_back(std::make_unique<HttpConnection>(port_));
    if (i % 2 == 0) silent.back()->send("POST /v1/predict HTTP/1.1\r\nHost: loc");
    EXPECT_EQ(predict("Anna lives in Lund .").status, 200) << i;
  }
  EXPECT_EQ(metric("encore_refused_connections_total"), 0U);
}

TEST_F(Serve, AsksForItsTokenAndNeedsOneForOtherMachines) {
  const std::string token = "0123456789abcdef0123";
  write_token("token.txt", token + "\n");
  write_token("short.txt", "secret\n");
  const auto failure = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"serve", "tiny", "--port", "0"});
    const runner::ProgramOutput output = sandbox_.exp(options);
    EXPECT_EQ(output.end.exit_code, 2) << output.output;
    return output.errors;
  };
  EXPECT_NE(failure({"--host", "0.0.0.0"}).find("accepts requests from other machines"), std::string::npos);
  EXPECT_NE(failure({"--host", "0.0.0.0", "--token-file", "short.txt"}).find("the token has 6 bytes"),
            std::string::npos);
  EXPECT_NE(failure({"--host", "nowhere"}).find("invalid --host \"nowhere\": expected an address"),
            std::string::npos);
  serve({"--token-file", "token.txt"});
  const std::string body = R"({"inputs": "Anna"})";
  expect_refused(ask(http_post("/v1/predict", body)), 401, "a token is required");
  expect_refused(ask(http_post("/v1/predict", body, "Authorization: Bearer " + token + "4\r\n")), 401,
                 "the token is wrong");
  expect_refused(ask(http_get("/metrics")), 401, "a token is required");
  for (const char* scheme : {"Bearer", "bearer"})
    EXPECT_EQ(
        ask(http_post("/v1/predict", body, "Authorization: " + (scheme + (" " + token)) + "\r\n")).status,
        200);
  for (const char* open : {"/healthz", "/readyz", "/", "/openapi.json"})
    EXPECT_EQ(ask(http_get(open)).status, 200) << open;
}

/// The same rule that ssh has for a private key.
TEST_F(Serve, RefusesATokenThatOtherUsersCanRead) {
  sandbox_.write("token.txt", "0123456789abcdef0123\n");
  const std::filesystem::path file = sandbox_.folder() / "token.txt";
  for (const unsigned mode : {0644U, 0640U, 0604U, 0620U, 0666U}) {
    std::filesystem::permissions(file, std::filesystem::perms(mode));
    const runner::ProgramOutput output =
        sandbox_.exp({"serve", "tiny", "--port", "0", "--token-file", "token.txt"});
    EXPECT_EQ(output.end.exit_code, 2) << output.output;
    EXPECT_NE(output.errors.find("--token-file token.txt: other users have access to the file (mode 0"),
              std::string::npos)
        << output.errors;
    EXPECT_NE(output.errors.find("expected mode 0600; run chmod 600 token.txt"), std::string::npos)
        << output.errors;
  }
  std::filesystem::permissions(file, std::filesystem::perms(0400));
  serve({"--token-file", "token.txt"});
}

TEST_F(Serve, ServesSeveralModelsByNameAndSaysWhichThereAre) {
  sandbox_.write("other.toml", tiny_experiment("other"));
  output_of({"run", "other.toml", "-S", "seed=2", "-q"});
  serve({"other"});
  const json models = json::parse(ask(http_get("/v1/models")).body);
  ASSERT_EQ(models.at("data").size(), 2U);
  EXPECT_EQ(models.at("data")[1].at("id"), "other");
  EXPECT_NE(models.at("data")[0].at("digest"), models.at("data")[1].at("digest"));
  EXPECT_EQ(models.at("data")[0].at("routes"), (json{"/v1/predict", "/v1/embeddings"}));
  EXPECT_EQ(models.at("data")[0].at("task"), "ner");
  EXPECT_EQ(models.at("data")[0].at("fields"), json{"text"});
  EXPECT_NE(models.at("data")[0].at("labels"), json::array());
  expect_refused(predict("Anna"), 400, "several are served, \\\"tiny\\\", \\\"other\\\"");
  const HttpResponse response = ask(http_post("/v1/predict", R"({"inputs": "Anna", "model": "other"})"));
  EXPECT_EQ(json::parse(response.body).at("model"), "other");
  expect_refused(ask(http_post("/v1/predict", R"({"inputs": "Anna", "model": "othr"})")), 404,
                 "no model \\\"othr\\\" is served; there is \\\"tiny\\\", \\\"other\\\"");
}

TEST_F(Serve, SaysWhyAModelCannotBeLoaded) {
  const std::string id = sandbox_.one("SELECT id FROM run");
  sandbox_.write("encore.db.runs/" + id + "/labels.txt", "no\n");
  const runner::ProgramOutput output = sandbox_.exp({"serve", "tiny", "--port", "0"});
  EXPECT_EQ(output.end.exit_code, 2) << output.output;
  EXPECT_NE(output.errors.find("labels.txt"), std::string::npos) << output.errors;
}

/// A mistake in the page's script, or in its permissions to load files, leaves a page without content.
TEST_F(Serve, ABrowserShowsThePageAndTheTextOfALinkAndAsksNothingByItself) {
  if (!Sandbox::has("chromium")) GTEST_SKIP() << "chromium is not installed";
  serve();
  const std::string drawn = sandbox_
                                .shell(
                                    "chromium --headless --no-sandbox --disable-gpu --user-data-dir=browser "
                                    "--virtual-time-budget=20000 "
                                    "--dump-dom 'http://127.0.0.1:" +
                                    std::to_string(port_) + "/#ask=Anna%20lives%20in%20Lund%20.'")
                                .output;
  EXPECT_NE(drawn.find(R"(<option value="tiny">tiny</option>)"), std::string::npos) << drawn;
  EXPECT_NE(drawn.find(R"(<option value="/v1/embeddings">)"), std::string::npos) << drawn;
  EXPECT_NE(drawn.find("This text came with the link"), std::string::npos) << drawn;
  EXPECT_EQ(drawn.find(">Answered in "), std::string::npos) << "nothing is asked without a click";
  EXPECT_EQ(metric("encore_requests_total{route=\"/v1/predict\",status=\"200\"}"), 0U);
}

class ServeTexts : public Serve {
 protected:
  void SetUp() override {
    RealWorkerTest::SetUp();
    if (IsSkipped()) return;
    write_days(sandbox_, "days");
    output_of({"run", "days.toml", "-q"});
    serve({}, "days");
  }
  HttpResponse complete(const json& body) const { return ask(http_post("/v1/completions", body.dump())); }
};

TEST_F(ServeTexts, WritesWhatGenerateWrites) {
  const HttpResponse greedy = complete({{"prompt", {"mon", "tues"}}, {"max_tokens", 3}});
  ASSERT_EQ(greedy.status, 200) << greedy.body;
  const json choices = json::parse(greedy.body).at("choices");
  ASSERT_EQ(choices.size(), 2U);
  EXPECT_EQ(choices[1].at("text"), "day");
  EXPECT_EQ(choices[1].at("index"), 1);
  EXPECT_EQ(choices[1].at("finish_reason"), "length");
  const json drawn = {{"prompt", "mon"}, {"temperature", 1.5}, {"seed", 4}, {"max_tokens", 30}};
  const std::string same =
      output_of({"generate", "days", "mon", "--temperature", "1.5", "--seed", "4", "--max-tokens", "30"});
  EXPECT_EQ(json::parse(complete(drawn).body).at("choices")[0].at("text").get<std::string>() + "\n", same);
  EXPECT_EQ(json::parse(complete({{"prompt", "thurs"}, {"stop", " "}}).body).at("choices")[0].at("text"),
            "day");
  const json beam = json::parse(complete({{"prompt", "sun"}, {"beam", 4}, {"n", 3}, {"max_tokens", 8}}).body);
  EXPECT_EQ(beam.at("choices").size(), 3U);
  EXPECT_GT(beam.at("usage").at("completion_tokens").get<int>(), 3);
}

TEST_F(ServeTexts, MembersThatAskForNothingChangeNothing) {
  const json plain = {{"prompt", "mon"}, {"max_tokens", 3}};
  const std::string text = json::parse(complete(plain).body).at("choices")[0].at("text");
  json neutral = plain;
  neutral.update({{"n", 1},
                  {"best_of", 1},
                  {"echo", false},
                  {"frequency_penalty", 0.0},
                  {"presence_penalty", 0},
                  {"logit_bias", json::object()},
                  {"logprobs", nullptr},
                  {"suffix", nullptr},
                  {"stop", json::array()},
                  {"top_p", 1.0},
                  {"stream_options", nullptr},
                  {"seed", nullptr},
                  {"user", "somebody"}});
  const HttpResponse answer = complete(neutral);
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(json::parse(answer.body).at("choices")[0].at("text"), text);
  const std::pair<const char*, json> asking[] = {
      {"best_of", 2},  {"echo", true},   {"frequency_penalty", 0.5}, {"logit_bias", {{"50", 1}}},
      {"logprobs", 3}, {"suffix", "end"}};
  for (const auto& [name, value] : asking) {
    json body = plain;
    body[name] = value;
    expect_refused(complete(body), 400,
                   "\\\"" + std::string(name) + "\\\" is not supported; leave it out, or send ");
  }
}

/// Joins the text of a stream's events, each of which must be valid JSON.
std::string streamed(const std::string& body) {
  std::string text;
  for (std::size_t at = 0; (at = body.find("data: {", at)) != std::string::npos; ++at) {
    const std::string event = body.substr(at + 6, body.find("\n", at) - at - 6);
    text += json::parse(event).at("choices")[0].at("text").get<std::string>();
  }
  return text;
}

TEST_F(ServeTexts, StreamsTheTextThatItWouldHaveWritten) {
  const json body = {{"prompt", "monday"}, {"temperature", 1.2}, {"seed", 3}, {"max_tokens", 60}};
  const json choice = json::parse(complete(body).body).at("choices")[0];
  const std::string whole = choice.at("text"), reason = choice.at("finish_reason");
  json streaming = body;
  streaming["stream"] = true;
  const HttpResponse stream = complete(streaming);
  EXPECT_EQ(stream.status, 200);
  EXPECT_TRUE(stream.has("Content-Type: text/event-stream\r\n"));
  EXPECT_EQ(streamed(stream.body), whole);
  EXPECT_GT(std::count(stream.body.begin(), stream.body.end(), '\n'), 20) << "in many parts";
  EXPECT_TRUE(stream.has("\"finish_reason\":\"" + reason + "\"")) << stream.body;
  EXPECT_TRUE(stream.has("data: [DONE]\n\n"));
  streaming["n"] = 2;
  expect_refused(complete(streaming), 400, "\\\"stream\\\" needs one prompt with one output");
}

class ServeLetters : public ServeTexts {
 protected:
  void SetUp() override {
    RealWorkerTest::SetUp();
    if (IsSkipped()) return;
    write_letters(sandbox_, "letters");
    output_of({"run", "letters.toml", "-q"});
    serve({}, "letters");
  }
};

TEST_F(ServeLetters, StreamsWholeCharacters) {
  std::vector<json> bodies = {{{"max_tokens", 40}}, {{"stop", "日"}, {"max_tokens", 40}}};
  for (int most = 1; most <= 12; ++most) bodies.push_back({{"max_tokens", most}});
  for (int seed = 1; seed <= 12; ++seed)
    bodies.push_back({{"temperature", 2.0}, {"seed", seed}, {"max_tokens", 30}, {"stop", {" ", "ж"}}});
  for (json body : bodies) {
    body["prompt"] = "zoë";
    const std::string whole = json::parse(complete(body).body).at("choices")[0].at("text");
    body["stream"] = true;
    EXPECT_EQ(streamed(complete(body).body), whole) << body;
  }
}

TEST_F(ServeTexts, RefusesAWayOfWritingThatContradictsItself) {
  expect_refused(complete({{"prompt", "mon"}, {"beam", 2}, {"temperature", 1}}), 400, "give one of them");
  expect_refused(complete({{"prompt", "mon"}, {"max_tokens", 0}}), 400, "expected a whole number from 1");
  expect_refused(complete({{"prompt", "mon"}, {"max_tokens", 5000}}), 400, "writes at most 4096");
  expect_refused(complete({{"prompt", "mon"}, {"stop", ""}}), 400, "has an empty string");
  expect_refused(complete({{"prompt", "mon"}, {"n", 100000}}), 413, "writes at most 1024 outputs");
  expect_refused(complete({{"prompt", "mon"}, {"seed", -1}}), 400, "expected a whole number from 0");
  expect_refused(complete({{"prompt", "mon"}, {"temperature", "hot"}}), 400, "must be a number, not a text");
}

TEST_F(ServeTexts, AClientThatLeavesAStreamStopsTheWriting) {
  {
    HttpConnection leaving(port_);
    leaving.send(http_post("/v1/completions",
                           R"({"prompt": "mon", "temperature": 1, "max_tokens": 4096, "stream": true})"));
    ASSERT_TRUE(sandbox_.wait_until([&] { return metric("encore_batches_total{model=\"days\"}") == 1; }));
  }
  const HttpResponse next = complete({{"prompt", "mon"}, {"max_tokens", 3}});
  EXPECT_EQ(next.status, 200) << next.body;
}

}  // namespace
}  // namespace encore::system_test
