// SPDX-License-Identifier: BSD-3-Clause
// Tests HttpServer (serve/http_server.hpp) alone, with raw bytes over a socket: what is decided by the head
// of a request, how bodies arrive, and the limits on connections and memory. A client that sends nothing or
// slowly must not keep others out. Limits may change with those in the code; each must stay.
#include "serve/http_server.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "system/control/http_client.hpp"

namespace encore::serve {
namespace {

using system_test::http_post;
using system_test::HttpConnection;
using system_test::HttpResponse;

class HttpServerTest : public ::testing::Test {
 protected:
  /// Starts a server that answers each request with its body, and rejects requests to /closed by their head.
  void serve(const HttpLimits& limits) {
    server_ = std::make_unique<HttpServer>(
        loop_, "127.0.0.1", 0, limits,
        [](const HttpRequest& request) {
          return request.path == "/closed" ? std::optional(HttpAnswer{.status = 401, .body = "closed"})
                                           : std::nullopt;
        },
        [](const HttpRequest& request, const std::shared_ptr<HttpReply>& reply) {
          reply->answer({.body = request.body + "|" + request.host});
        },
        [](int, const std::string& reason) { return reason; });
    thread_ = std::thread([this] { loop_.run(); });
  }
  void TearDown() override { stop(); }
  void stop() {
    loop_.stop();
    if (thread_.joinable()) thread_.join();
  }
  HttpResponse ask(const std::string& bytes) const {
    HttpConnection connection(server_->port());
    connection.send(bytes);
    return connection.receive();
  }

  boost::asio::io_context loop_{1};
  std::unique_ptr<HttpServer> server_;
  std::thread thread_;
};

TEST_F(HttpServerTest, TakesBodiesByLengthAndInChunks) {
  serve({});
  EXPECT_EQ(ask(http_post("/", "hello")).body, "hello|localhost");
  const std::string large(500'000, 'x');
  EXPECT_EQ(ask(http_post("/", large)).body, large + "|localhost");
  EXPECT_EQ(ask("POST / HTTP/1.1\r\nHost: [::1]:80\r\nTransfer-Encoding: chunked\r\n\r\n"
                "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
                .body,
            "abcde|::1");
  HttpConnection twice(server_->port());
  twice.send(http_post("/", "one") + http_post("/", "two"));
  EXPECT_EQ(twice.receive().body, "one|localhost");
  EXPECT_EQ(twice.receive().body, "two|localhost");
}

TEST_F(HttpServerTest, RefusesHeadsThatMeanTwoThings) {
  serve({});
  const auto refusal = [&](const std::string& fields) {
    const HttpResponse response = ask("GET / HTTP/1.1\r\n" + fields + "\r\n");
    return std::to_string(response.status) + " " + response.body;
  };
  EXPECT_EQ(refusal(""), "400 the request has no field Host");
  EXPECT_EQ(refusal("Host: a\r\nHost: b\r\n"), "400 the request has 2 fields Host; one is expected");
  for (const char* host : {"[", "[]", "[::1", "[::1]x", "[evil]", ":80", "a:80evil", "a:", "a b", "a:80:90",
                           "a/", "u@a", "a:123456"})
    EXPECT_EQ(refusal("Host: " + std::string(host) + "\r\n").substr(0, 4), "400 ") << host;
  for (const char* host : {"a", "a:80", "127.0.0.1:8080", "[::1]", "[::1]:80", "a_b.example"})
    EXPECT_EQ(refusal("Host: " + std::string(host) + "\r\n").substr(0, 4), "200 ") << host;
  for (const char* coding : {"gzip", "gzip, chunked", "identity", "xchunked"})
    EXPECT_EQ(refusal("Host: a\r\nTransfer-Encoding: " + std::string(coding) + "\r\n").substr(0, 4), "400 ")
        << coding;
  EXPECT_EQ(ask("GET / HTTP/1.0\r\n\r\n").status, 200);
}

TEST_F(HttpServerTest, JudgesTheHeadBeforeTheBodyComes) {
  serve({.receiving = std::chrono::minutes(10)});
  HttpConnection closed(server_->port());
  closed.send("POST /closed HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n");
  const HttpResponse response = closed.receive();
  EXPECT_EQ(response.status, 401);
  EXPECT_TRUE(response.has("Connection: close")) << "the body is not read";
}

TEST_F(HttpServerTest, CountsTheBytesOfBodiesThatHaveCome) {
  serve({.body_bytes = 1000,
         .all_body_bytes = 1500,
         .small_body_bytes = 100,
         .receiving = std::chrono::minutes(10)});
  const std::string head =
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n";
  std::vector<std::unique_ptr<HttpConnection>> waiting;
  for (int i = 0; i < 50; ++i) {
    waiting.push_back(std::make_unique<HttpConnection>(server_->port()));
    waiting.back()->send(head);
    EXPECT_EQ(waiting.back()->receive().status, 100) << "the length in a head takes no memory";
  }
  EXPECT_EQ(ask(http_post("/", std::string(900, 'x'))).status, 200);
  waiting.front()->send(std::string(999, 'x'));
  EXPECT_EQ(ask(http_post("/", std::string(400, 'x'))).status, 200) << "and 999 bytes leave room for 400";
  int status = 200;  // 900 bytes have no room, as soon as the server has read the 999
  for (int i = 0; i < 10'000 && status == 200; ++i)
    status = ask(http_post("/", std::string(900, 'x'))).status;
  EXPECT_EQ(status, 503);
  EXPECT_EQ(ask(http_post("/", std::string(100, 'x'))).status, 200) << "a small one always has room";
  waiting.clear();
}

/// 20 clients that send nothing, half a head or half a body must not keep a connection that another client
/// needs.
TEST_F(HttpServerTest, ASlowClientGivesWayToOthers) {
  serve({.connections = 20, .idle = std::chrono::minutes(10), .receiving = std::chrono::minutes(10)});
  std::vector<std::unique_ptr<HttpConnection>> waiting;
  for (int i = 0; i < 20; ++i) {
    waiting.push_back(std::make_unique<HttpConnection>(server_->port()));
    waiting.back()->send(i % 2 == 0 ? "" : "POST / HTTP/1.1\r\nHo");
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ(ask(http_post("/", "here")).status, 200);
  HttpConnection kept(server_->port());
  kept.send(http_post("/", "one"));
  EXPECT_EQ(kept.receive().status, 200);
  EXPECT_EQ(ask(http_post("/", "here")).status, 200);
  kept.send(http_post("/", "two"));
  EXPECT_EQ(kept.receive().body, "two|localhost") << "a client that has waited for a shorter time stays";
  stop();
  EXPECT_EQ(server_->refused(), 0U);
}

/// A connection with an accepted head is not closed at once for later heads.
TEST_F(HttpServerTest, AClientThatWasLetInGivesWayAfterThoseThatWereNot) {
  serve({.connections = 3, .idle = std::chrono::minutes(10), .receiving = std::chrono::minutes(10)});
  const std::string whole = http_post("/", "whole", "Expect: 100-continue\r\n");
  HttpConnection sending(server_->port());
  sending.send(whole.substr(0, whole.size() - 5));
  EXPECT_EQ(sending.receive().status, 100);
  std::vector<std::unique_ptr<HttpConnection>> silent;
  for (int i = 0; i < 10; ++i) silent.push_back(std::make_unique<HttpConnection>(server_->port()));
  EXPECT_EQ(ask(http_post("/", "here")).status, 200);
  sending.send("whole");
  EXPECT_EQ(sending.receive().body, "whole|localhost");
}

}  // namespace
}  // namespace encore::serve
