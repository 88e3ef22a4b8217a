// SPDX-License-Identifier: BSD-3-Clause
// HttpServer: HTTP/1.1 over TCP, with limits on everything that a client can make large or slow: connections,
// heads, bodies, all bodies together, and the time of each. It knows no routes: a gate accepts or refuses
// heads, a handler gets whole requests and answers now or later. Place in the flow: serve.cpp makes it,
// service.cpp is gate and handler. Everything happens on the thread of the loop. No limit may be removed: the
// server may face the internet. Read next: http_server.cpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

namespace encore::serve {

struct HttpLimits {
  /// Open connections. One more closes the one whose client has let the server wait for longest; if all of
  /// them have requests in work, the new one is refused with 503.
  std::size_t connections = 1024;
  std::size_t head_bytes = std::size_t{16} << 10;  ///< bytes in the head of a request
  std::size_t body_bytes = std::size_t{1} << 20;   ///< bytes in the body of a request
  std::size_t all_body_bytes = std::size_t{64}
                               << 20;  ///< sum over all requests that are being received or answered
  /// A body up to this size always has room and does not count: `connections` limits their sum.
  std::size_t small_body_bytes = std::size_t{16} << 10;
  std::chrono::milliseconds idle = std::chrono::seconds(60);       ///< between two requests of a connection
  std::chrono::milliseconds receiving = std::chrono::seconds(10);  ///< a head, and then a body
  std::chrono::milliseconds sending = std::chrono::seconds(20);    ///< an answer, or a part of one
};

struct HttpRequest {
  std::string method, path, body;           ///< "POST", "/v1/predict"
  std::string content_type, authorization;  ///< fields of the head; "" if they are missing
  std::string host;    ///< without a port and brackets; "" where a client of HTTP/1.0 names none
  std::string origin;  ///< of the page that sends it, "http://localhost:8080"; "" without a page
  std::string asked;   ///< the field Host as received
};

struct HttpAnswer {
  int status = 200;
  std::string body = {};
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> fields = {};  ///< more fields of the head
};

/// The way back to a client; may be kept until the request is answered.
class HttpReply {
 public:
  virtual ~HttpReply() = default;
  /// Sends the whole answer. Called once.
  virtual void answer(HttpAnswer answer) = 0;
  /// Used in place of answer(), for an answer that comes in parts: its head, its parts, and its end.
  virtual void begin(const HttpAnswer& head) = 0;
  virtual void part(std::string text) = 0;
  virtual void end() = 0;
  /// Sets the function that is called when a part cannot be sent because the client is gone.
  virtual void when_gone(std::function<void()> gone) = 0;
};

/// Judges a request by its head, before its body is read: returns an answer that refuses it, or nothing.
/// `request` has no body.
using HttpGate = std::function<std::optional<HttpAnswer>(const HttpRequest& request)>;
using HttpHandler = std::function<void(HttpRequest request, std::shared_ptr<HttpReply> reply)>;

class HttpServer {
 public:
  /// Makes the body of an answer of the server itself, from a status and a reason.
  using ErrorBody = std::function<std::string(int status, const std::string& reason)>;

  /// Listens at once. Throws Error if the address is invalid or unavailable. port 0: any that is free.
  HttpServer(boost::asio::io_context& loop, const std::string& host, std::uint16_t port,
             const HttpLimits& limits, HttpGate gate, HttpHandler handler, ErrorBody error_body);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Returns the port on which it listens, also if port 0 was asked for.
  std::uint16_t port() const;
  /// Accepts no more connections and closes those without a request; the others get their answers and are
  /// then closed. `drained` is called once none is left.
  void drain(std::function<void()> drained);

  /// Returns the number of open connections.
  std::size_t connections() const;
  std::uint64_t refused() const;  ///< connections beyond the limit

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace encore::serve
