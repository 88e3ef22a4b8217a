// SPDX-License-Identifier: BSD-3-Clause
// HttpServer: a coroutine for each connection reads a head, asks the gate, reads the body, calls the handler
// and sends its answer. A coroutine waits for an answer on a timer that the reply cancels: there is one
// thread, so nothing can happen between the check and the wait. The limits protect the server from slow or
// large clients; none may be removed. Read http_server.hpp first.
#include "serve/http_server.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/dynamic_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <encore/error.hpp>

#include "serve/http_connection.hpp"

// GCC 12 reports the two halves of a coroutine's own operator new and delete as a mismatch once they are
// inlined.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

namespace encore::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;

/// The bytes that are read and discarded from a refused client, and the time for it. Closing at once would
/// discard the answer too if the client is still sending.
constexpr std::size_t linger_bytes = std::size_t{4} << 20;
constexpr std::chrono::milliseconds linger_time{1000};
/// The largest number of connections beyond the limit that get a 503 at a time; others are closed without an
/// answer.
constexpr std::size_t most_refusals_at_once = 64;
/// The time after which a client whose head was accepted gives way to others.
constexpr std::chrono::milliseconds time_to_send{1000};
/// The time between two attempts to get a free descriptor.
constexpr std::chrono::milliseconds accept_pause{50};

/// Closes the descriptor in child processes: a worker that is started later would hold the connection open.
void keep_from_children(int descriptor) {
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

asio::ip::address address_of(const std::string& host) {
  error_code failed;
  const asio::ip::address address = asio::ip::make_address(host == "localhost" ? "127.0.0.1" : host, failed);
  if (failed)
    throw Error("invalid --host \"" + host +
                "\": expected an address of this machine, such as 127.0.0.1, or "
                "0.0.0.0 for all");
  return address;
}

std::string head_text(const HttpAnswer& answer, const std::string& more) {
  std::string head = "HTTP/1.1 " + std::to_string(answer.status) + ' ' +
                     std::string(http::obsolete_reason(static_cast<http::status>(answer.status))) + "\r\n";
  if (!answer.content_type.empty()) head += "Content-Type: " + answer.content_type + "\r\n";
  for (const auto& [name, value] : answer.fields) head += name + ": " + value + "\r\n";
  // Data that a client sent and an answer repeats must not be taken for a page.
  return head + "X-Content-Type-Options: nosniff\r\n" + more + "\r\n";
}

/// HEAD gets the head that GET would get, and no body (RFC 9110, 9.3.2).
std::string whole_text(const HttpAnswer& answer, bool keeps_open, bool with_body = true) {
  return head_text(answer, "Content-Length: " + std::to_string(answer.body.size()) + "\r\n" +
                               (keeps_open ? "" : "Connection: close\r\n")) +
         (with_body ? answer.body : "");
}

/// Returns the host of a field Host, without its port and the brackets of an IPv6 address; nothing if the
/// field is invalid (RFC 9110, 7.2).
std::optional<std::string> host_in(const std::string& field) {
  std::size_t end = field.find(':');
  std::string host = field.substr(0, end);
  if (field.starts_with('[')) {
    const std::size_t bracket = field.find(']');
    if (bracket == std::string::npos) return std::nullopt;
    end = bracket + 1;
    host = field.substr(1, bracket - 1);
    error_code failed;
    asio::ip::make_address_v6(host, failed);
    if (failed || (end < field.size() && field[end] != ':')) return std::nullopt;
  } else if (host.empty() || !std::ranges::all_of(host, [](unsigned char letter) {
               return std::isalnum(letter) != 0 || letter == '-' || letter == '.' || letter == '_';
             })) {
    return std::nullopt;
  }
  if (end >= field.size()) return host;
  const std::string port = field.substr(end + 1);
  constexpr std::size_t most_digits = 5;
  const bool is_port = !port.empty() && port.size() <= most_digits &&
                       port.find_first_not_of("0123456789") == std::string::npos;
  return is_port ? std::optional(host) : std::nullopt;
}

/// Returns the error in a head that the parser accepts; "" if there is none.
template <class Message>
std::string problem_of_head(const Message& message) {
  const auto count = [&](http::field name) {
    const auto range = message.equal_range(name);
    return std::distance(range.first, range.second);
  };
  const auto hosts = count(http::field::host);
  if (hosts > 1) return "the request has " + std::to_string(hosts) + " fields Host; one is expected";
  if (hosts == 0 && message.version() >= 11) return "the request has no field Host";
  if (hosts == 1 && !host_in(std::string(message[http::field::host])))
    return "invalid field Host: expected a name or an address with a port, such as localhost:8080";
  if (count(http::field::origin) > 1) return "the request has several fields Origin; one is expected";
  if (count(http::field::authorization) > 1)
    return "the request has several fields Authorization; one is expected";
  const auto codings = count(http::field::transfer_encoding);
  if (codings > 1 || (codings == 1 && (message.version() < 11 ||
                                       !beast::iequals(message[http::field::transfer_encoding], "chunked"))))
    return "invalid Transfer-Encoding: expected chunked, in HTTP/1.1";
  return "";
}

std::string chunk_text(const std::string& part) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", part.size());
  return size + part + "\r\n";
}

}  // namespace

/// Types that the coroutines of HttpServer::State use. They are in a named namespace, because State is not
/// local to this file.
namespace http_detail {

/// The answer to a failed read. Status 0: there is no answer, because the client is gone or has sent nothing.
struct ReadFailure {
  int status = 0;
  std::string reason = {};
};

}  // namespace http_detail

namespace {

using http_detail::Connection;
using http_detail::ConnectionPointer;
using http_detail::into;
using http_detail::ReadFailure;
using http_detail::Reply;

ReadFailure read_failure(const error_code& failed, const HttpLimits& limits, bool late) {
  if (failed == http::error::end_of_stream) return {};
  if (late)
    return {408, "the request did not arrive completely in " +
                     std::to_string(limits.receiving.count() / 1000) + " s"};
  if (failed == http::error::body_limit)
    return {413,
            "the body is longer than " + std::to_string(limits.body_bytes) + " bytes; send several requests"};
  if (failed == http::error::header_limit || failed == http::error::buffer_overflow)
    return {431, "the head of the request is longer than " + std::to_string(limits.head_bytes) + " bytes"};
  if (failed == http::error::partial_message) return {400, "the request is incomplete"};
  if (failed.category() == http::make_error_code(http::error::bad_method).category())
    return {400, "invalid request: expected HTTP/1.1: " + failed.message()};
  return {};
}

}  // namespace

struct HttpServer::State : std::enable_shared_from_this<HttpServer::State> {
  /// A body in blocks, taken as it arrives: a string would be reserved at the length that the head announces.
  using Parser = http::request_parser<http::dynamic_body>;

  State(asio::io_context& loop_, const HttpLimits& limits_, HttpGate gate_, HttpHandler handler_,
        ErrorBody error_body_)
      : loop(loop_),
        limits(limits_),
        gate(std::move(gate_)),
        handler(std::move(handler_)),
        error_body(std::move(error_body_)),
        acceptor(loop_),
        pause(loop_) {}

  /// Counts the bytes of a body that have arrived, as long as it exists.
  class BodyRoom {
   public:
    explicit BodyRoom(State& state) : state_(state) {}
    ~BodyRoom() { state_.body_bytes -= bytes_; }
    BodyRoom(const BodyRoom&) = delete;
    BodyRoom& operator=(const BodyRoom&) = delete;

    /// False: the sum of all bodies would exceed the limit.
    bool take(std::size_t bytes) {
      if (bytes <= state_.limits.small_body_bytes) return true;
      state_.body_bytes += bytes - bytes_;
      bytes_ = bytes;
      return state_.body_bytes <= state_.limits.all_body_bytes;
    }

   private:
    State& state_;
    std::size_t bytes_ = 0;
  };

  asio::awaitable<void> accept_all() {
    const auto self = shared_from_this();
    while (!draining) {
      error_code failed;
      tcp::socket socket = co_await acceptor.async_accept(into(failed));
      if (failed == asio::error::operation_aborted) co_return;
      if (failed) {  // most likely no descriptor is free
        pause.expires_after(accept_pause);
        co_await pause.async_wait(into(failed));
        continue;
      }
      socket.set_option(tcp::no_delay(true), failed);
      keep_from_children(socket.native_handle());
      const auto connection = std::make_shared<Connection>(std::move(socket));
      if (open.size() - leaving >= limits.connections && !make_room()) {
        ++refused;
        if (refusals < most_refusals_at_once) asio::co_spawn(loop, refuse(connection), asio::detached);
      } else {
        open.insert(connection);
        asio::co_spawn(loop, serve(connection), asio::detached);
      }
    }
  }

  /// Closes the connection whose client has let the server wait longest: first among those without an
  /// accepted head, then among those that are slow with a body or an answer. Returns false if all connections
  /// have requests in work.
  bool make_room() {
    const auto now = std::chrono::steady_clock::now();
    Connection* longest = nullptr;
    for (const ConnectionPointer& each : open) {
      if (!each->waits_for_client || (each->let_in && now - each->since < time_to_send)) continue;
      if (longest == nullptr ||
          std::pair(each->let_in, each->since) < std::pair(longest->let_in, longest->since))
        longest = each.get();
    }
    if (longest == nullptr) return false;
    longest->give_way();
    ++leaving;
    return true;
  }

  asio::awaitable<void> refuse(ConnectionPointer connection) {
    const auto self = shared_from_this();
    ++refusals;
    const std::string reason = "too many connections are open; try again later";
    co_await send_error(*connection, 503, reason);
    co_await close(*connection);
    --refusals;
  }

  asio::awaitable<void> serve(ConnectionPointer connection) {
    const auto self = shared_from_this();
    beast::flat_buffer buffer(limits.head_bytes * 2);
    while (co_await serve_one(*connection, buffer)) {
    }
    // A connection without a request has nothing to lose.
    if (!connection->idle && !connection->gave_way) co_await close(*connection);
    connection->expires_never();
    open.erase(connection);
    if (connection->gave_way) --leaving;
    if (draining && open.empty() && drained) std::exchange(drained, {})();
  }

  /// Reads one request and sends its answer. Returns false if the connection is to be closed.
  asio::awaitable<bool> serve_one(Connection& connection, beast::flat_buffer& buffer) {
    error_code failed;
    connection.let_in = false;
    connection.waits(true);
    if (buffer.size() == 0) {
      if (draining) co_return false;
      connection.idle = true;
      connection.expires_after(limits.idle);
      const std::size_t count =
          co_await connection.socket.async_read_some(buffer.prepare(4096), into(failed));
      if (failed) co_return false;
      connection.idle = false;
      buffer.commit(count);
    }
    Parser parser;
    parser.header_limit(static_cast<std::uint32_t>(limits.head_bytes));
    parser.body_limit(limits.body_bytes);
    connection.expires_after(limits.receiving);
    co_await http::async_read_header(connection.socket, buffer, parser, into(failed));
    if (failed) co_return co_await say_failure(connection, failed);

    HttpRequest request;
    if (std::optional<HttpAnswer> refusal = judge(parser.get(), request)) {
      const bool keeps_open = parser.is_done() && parser.get().keep_alive() && !draining;
      const std::string whole = whole_text(*refusal, keeps_open, parser.get().method() != http::verb::head);
      co_await send(connection, whole, failed);
      co_return !failed && keeps_open;
    }
    connection.let_in = true;
    connection.waits(true);
    BodyRoom room(*this);
    if (parser.get()[http::field::expect] == "100-continue" && !parser.is_done()) {
      const std::string go_on = "HTTP/1.1 100 Continue\r\n\r\n";
      co_await send(connection, go_on, failed);
    }
    connection.expires_after(limits.receiving);
    while (!failed && !parser.is_done()) {
      co_await http::async_read_some(connection.socket, buffer, parser, into(failed));
      if (room.take(parser.get().body().size())) continue;
      const std::string reason = "too many requests are being received; try again later";
      co_await send_error(connection, 503, reason);
      co_return false;
    }
    if (failed) co_return co_await say_failure(connection, failed);
    request.body = beast::buffers_to_string(parser.get().body().data());
    parser.get().body().clear();
    co_return co_await answer(connection, parser, std::move(request));
  }

  /// Returns the answer that refuses a request before its body is read; nothing if it is accepted. Fills all
  /// of `request` except the body.
  template <class Message>
  std::optional<HttpAnswer> judge(const Message& message, HttpRequest& request) {
    if (const std::string problem = problem_of_head(message); !problem.empty())
      return HttpAnswer{.status = 400, .body = error_body(400, problem)};
    const auto field = [&](http::field name) { return std::string(message[name]); };
    request = {.method = std::string(message.method_string()),
               .path = std::string(message.target()),
               .body = {},
               .content_type = field(http::field::content_type),
               .authorization = field(http::field::authorization),
               .host = host_in(field(http::field::host)).value_or(""),
               .origin = field(http::field::origin),
               .asked = field(http::field::host)};
    request.path = request.path.substr(0, request.path.find('?'));
    return gate(request);
  }

  asio::awaitable<bool> answer(Connection& connection, Parser& parser, HttpRequest request) {
    const auto& message = parser.get();
    const bool wants_open = message.keep_alive();
    const auto reply = std::make_shared<Reply>(connection.socket.get_executor());
    connection.expires_never();
    connection.waits(false);
    handler(std::move(request), reply);
    co_await reply->wait();
    error_code failed;
    if (!reply->in_parts) {
      connection.waits(true);
      const bool keeps_open = wants_open && !draining;
      const std::string whole = whole_text(reply->head(), keeps_open, message.method() != http::verb::head);
      co_await send(connection, whole, failed);
      co_return !failed && keeps_open;
    }
    // HTTP/1.0 has no chunks: there the end of the connection is that of the answer.
    const bool chunked = message.version() >= 11;
    std::string text =
        head_text(reply->head(),
                  chunked ? "Transfer-Encoding: chunked\r\nConnection: close\r\n" : "Connection: close\r\n");
    co_await send(connection, text, failed);
    while (!failed) {
      co_await reply->wait();
      text = reply->take_parts();
      if (text.empty()) break;
      if (chunked) text = chunk_text(text);
      co_await send(connection, text, failed);
    }
    if (failed) {
      reply->client_is_gone();
    } else if (chunked) {
      text = "0\r\n\r\n";
      co_await send(connection, text, failed);
    }
    co_return false;
  }

  asio::awaitable<bool> say_failure(Connection& connection, const error_code& failed) {
    const ReadFailure failure = read_failure(failed, limits, connection.late);
    if (failure.status != 0) co_await send_error(connection, failure.status, failure.reason);
    co_return false;
  }

  asio::awaitable<void> send_error(Connection& connection, int status, const std::string& reason) {
    HttpAnswer answer{.status = status, .body = error_body(status, reason)};
    if (status == 503) answer.fields.push_back({"Retry-After", "1"});
    const std::string whole = whole_text(answer, false);
    error_code failed;
    co_await send(connection, whole, failed);
  }

  /// The text outlives the call, as does everything that is awaited here: GCC 12 destroys some temporaries of
  /// an awaited expression twice.
  asio::awaitable<void> send(Connection& connection, const std::string& text, error_code& failed) {
    connection.expires_after(limits.sending);
    co_await asio::async_write(connection.socket, asio::buffer(text), into(failed));
  }

  asio::awaitable<void> close(Connection& connection) {
    error_code failed;
    connection.socket.shutdown(tcp::socket::shutdown_send, failed);
    connection.expires_after(linger_time);
    char thrown_away[4096];
    for (std::size_t bytes = 0; !failed && bytes < linger_bytes;)
      bytes += co_await connection.socket.async_read_some(asio::buffer(thrown_away), into(failed));
  }

  asio::io_context& loop;
  const HttpLimits limits;
  HttpGate gate;
  HttpHandler handler;
  ErrorBody error_body;
  tcp::acceptor acceptor;
  asio::steady_timer pause;
  std::set<ConnectionPointer> open;
  std::size_t body_bytes = 0, refusals = 0;
  std::size_t leaving = 0;  ///< open connections that give way
  std::uint64_t refused = 0;
  bool draining = false;
  std::function<void()> drained;
};

HttpServer::HttpServer(asio::io_context& loop, const std::string& host, std::uint16_t port,
                       const HttpLimits& limits, HttpGate gate, HttpHandler handler, ErrorBody error_body)
    : state_(
          std::make_shared<State>(loop, limits, std::move(gate), std::move(handler), std::move(error_body))) {
  const tcp::endpoint place(address_of(host), port);
  error_code failed;
  tcp::acceptor& acceptor = state_->acceptor;
  acceptor.open(place.protocol(), failed);
  if (!failed) acceptor.set_option(tcp::acceptor::reuse_address(true), failed);
  if (!failed) acceptor.bind(place, failed);
  if (!failed) acceptor.listen(asio::socket_base::max_listen_connections, failed);
  if (failed)
    throw Error("cannot listen on " + host + " port " + std::to_string(port) + ": " + failed.message() +
                (failed == asio::error::address_in_use ? "; give another --port" : ""));
  keep_from_children(acceptor.native_handle());
  asio::co_spawn(loop, state_->accept_all(), asio::detached);
}

HttpServer::~HttpServer() = default;

std::uint16_t HttpServer::port() const {
  return state_->acceptor.local_endpoint().port();
}

void HttpServer::drain(std::function<void()> drained) {
  State& state = *state_;
  error_code ignored;
  state.draining = true;
  state.acceptor.close(ignored);
  for (const ConnectionPointer& connection : state.open)
    if (connection->idle) connection->socket.cancel(ignored);
  if (state.open.empty()) return drained();
  state.drained = std::move(drained);
}

std::size_t HttpServer::connections() const {
  return state_->open.size();
}

std::uint64_t HttpServer::refused() const {
  return state_->refused;
}

bool is_loopback(const std::string& host) {
  return address_of(host).is_loopback();
}

}  // namespace encore::serve
