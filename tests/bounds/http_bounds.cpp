// SPDX-License-Identifier: BSD-3-Clause
// Bounds the work of HttpServer (serve/http_server.hpp) for heads and bodies of HTTP that a hostile client
// may send, with expect_linear() of linear.hpp. The server runs in this process, so the work of the client is
// counted as well.
#include <boost/asio/io_context.hpp>

#include <memory>
#include <thread>

#include "bounds/inputs.hpp"
#include "bounds/linear.hpp"
#include "serve/http_server.hpp"
#include "system/control/http_client.hpp"

namespace encore::bounds {
namespace {

/// Answers each request with the length of its body.
class Server {
 public:
  Server()
      : server_(
            loop_, "127.0.0.1", 0, serve::HttpLimits{.body_bytes = std::size_t{16} << 20},
            [](const serve::HttpRequest&) { return std::optional<serve::HttpAnswer>(); },
            [](const serve::HttpRequest& request, const std::shared_ptr<serve::HttpReply>& reply) {
              reply->answer({.body = std::to_string(request.body.size())});
            },
            [](int, const std::string& reason) { return reason; }),
        thread_([this] { loop_.run(); }) {}
  ~Server() {
    loop_.stop();
    thread_.join();
  }
  void ask(const std::string& request) const {
    system_test::HttpConnection connection(server_.port());
    connection.send(request);
    const system_test::HttpResponse response = connection.receive();
    if (response.status != 200) throw Error(std::to_string(response.status) + " " + response.body);
  }

 private:
  boost::asio::io_context loop_{1};
  serve::HttpServer server_;
  std::thread thread_;
};

void ask(const std::string& request) {
  Server().ask(request);
}

/// A server and a connection take some kilobytes, whatever the request.
constexpr double http_memory = 40.0, http_steps = 800.0;

TEST(HttpBounds, ManyFields) {
  expect_linear(
      {1000, http_steps, http_memory},
      [](std::size_t n) { return "GET / HTTP/1.1\r\nHost: a\r\n" + repeated(n, "a:b\r\n") + "\r\n"; }, ask);
}

TEST(HttpBounds, ManyHosts) {
  expect_linear(
      {700, http_steps, http_memory, Outcome::refused},
      [](std::size_t n) { return "GET / HTTP/1.1\r\n" + repeated(n, "Host: a\r\n") + "\r\n"; }, ask);
}

TEST(HttpBounds, ALongField) {
  expect_linear(
      {7000, http_steps, http_memory, Outcome::refused},
      [](std::size_t n) { return "GET / HTTP/1.1\r\nHost: " + repeated(n, "[") + "\r\n\r\n"; }, ask);
}

TEST(HttpBounds, ManySmallChunks) {
  expect_linear(
      {20000, http_steps, http_memory},
      [](std::size_t n) {
        return "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" +
               repeated(n, "1\r\na\r\n") + "0\r\n\r\n";
      },
      ask);
}

TEST(HttpBounds, ALongBody) {
  expect_linear(
      {1000000, http_steps, http_memory},
      [](std::size_t n) { return system_test::http_post("/", std::string(n, 'a')); }, ask);
}

}  // namespace
}  // namespace encore::bounds
