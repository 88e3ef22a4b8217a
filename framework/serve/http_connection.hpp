// SPDX-License-Identifier: BSD-3-Clause
// Reply and Connection: the types on which the coroutines of HttpServer wait: the reply that a handler fills,
// and a socket with a clock. Only http_server.cpp includes this file, so nothing else depends on it.
// Everything runs on the thread of the loop, so nothing is locked, and no other thread may call these
// functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "serve/http_server.hpp"

namespace encore::serve::http_detail {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// Makes co_await return a failure in `failed` instead of throwing it.
inline asio::redirect_error_t<asio::use_awaitable_t<>> into(error_code& failed) {
  return asio::redirect_error(asio::use_awaitable, failed);
}

class Reply final : public HttpReply {
 public:
  explicit Reply(const asio::any_io_executor& loop) : news_(loop) {
    news_.expires_at(asio::steady_timer::time_point::max());
  }

  void answer(HttpAnswer answer) override {
    head_ = std::move(answer);
    has_head = ended = true;
    news_.cancel();
  }
  void begin(const HttpAnswer& head) override {
    head_ = head;
    has_head = in_parts = true;
    news_.cancel();
  }
  void part(std::string text) override {
    parts_ += text;
    news_.cancel();
  }
  void end() override {
    ended = true;
    news_.cancel();
  }
  void when_gone(std::function<void()> gone) override { gone_ = std::move(gone); }

  /// Waits until there is a head; in later calls, until there are parts or the end.
  asio::awaitable<void> wait() {
    error_code woken;
    while (!has_head || (in_parts && parts_.empty() && !ended)) co_await news_.async_wait(into(woken));
  }
  HttpAnswer& head() { return head_; }
  std::string take_parts() { return std::exchange(parts_, {}); }
  void client_is_gone() {
    if (gone_) std::exchange(gone_, {})();
  }

  bool has_head = false, in_parts = false, ended = false;

 private:
  asio::steady_timer news_;
  HttpAnswer head_;
  std::string parts_;
  std::function<void()> gone_;
};

/// An open connection with a clock for its reads and writes.
struct Connection : std::enable_shared_from_this<Connection> {
  explicit Connection(tcp::socket socket_) : socket(std::move(socket_)), clock(socket.get_executor()) {}

  /// Makes every read or write fail after `time` from now, and sets `late` then. (The streams of Beast close
  /// the socket instead, so that no client would get a reason.)
  void expires_after(std::chrono::milliseconds time) {
    late = false;
    clock.expires_after(time);
    clock.async_wait([self = shared_from_this(), phase = ++phase](const error_code& stopped) {
      if (stopped || phase != self->phase) return;
      self->late = true;
      error_code ignored;
      self->socket.cancel(ignored);
    });
  }
  void expires_never() {
    ++phase;
    clock.cancel();
  }
  /// Records from now on whether the server waits for the client.
  void waits(bool for_client) {
    waits_for_client = for_client;
    since = std::chrono::steady_clock::now();
  }
  /// Closes the connection without an answer.
  void give_way() {
    waits_for_client = false;
    gave_way = true;
    error_code ignored;
    socket.close(ignored);
  }

  tcp::socket socket;
  asio::steady_timer clock;
  std::uint64_t phase = 0;  ///< counts the settings of `clock`, so that an old one does nothing
  bool late = false;        ///< the last read or write took too long
  bool idle = true;         ///< no request has begun on it
  /// The server waits for its client and has no work for it.
  bool waits_for_client = true;
  bool let_in = false;    ///< the head of its request was judged, and its body may come
  bool gave_way = false;  ///< to another connection
  std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();  ///< of waits()
};
using ConnectionPointer = std::shared_ptr<Connection>;

}  // namespace encore::serve::http_detail
