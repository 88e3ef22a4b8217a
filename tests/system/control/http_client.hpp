// SPDX-License-Identifier: BSD-3-Clause
// HttpConnection: a small HTTP client for tests of `exp serve`, which sends whole requests or raw bytes and
// receives answers. serving.hpp, tests/bounds and tests/unit/serve use it. It must use no library, so that it
// can also send invalid requests.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace encore::system_test {

struct HttpResponse {
  int status = 0;  ///< 0: the connection ended without an answer
  std::string head, body;

  bool has(std::string_view text) const { return (head + body).find(text) != std::string::npos; }
};

/// One connection to this machine.
class HttpConnection {
 public:
  explicit HttpConnection(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(port);
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    open_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0;
  }
  ~HttpConnection() { ::close(socket_); }
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  bool open() const { return open_; }
  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  void end_sending() { ::shutdown(socket_, SHUT_WR); }
  /// Waits for a whole answer, up to its length or the end of the connection.
  HttpResponse receive() {
    HttpResponse response;
    std::size_t end = 0;
    while ((end = received_.find("\r\n\r\n")) == std::string::npos)
      if (!more()) return response;
    response.head = received_.substr(0, end + 4);
    response.status = std::stoi(response.head.substr(9, 3));
    received_.erase(0, end + 4);
    if (response.status == 100) return response;  // has no body
    const std::string field = "Content-Length: ";
    const std::size_t length = response.head.find(field);
    if (length == std::string::npos) {
      while (more()) {
      }
      response.body = std::move(received_);
      return response;
    }
    const std::size_t bytes = std::stoul(response.head.substr(length + field.size()));
    while (received_.size() < bytes && more()) {
    }
    response.body = received_.substr(0, bytes);
    received_.erase(0, bytes);
    return response;
  }

 private:
  bool more() {
    char bytes[1 << 14];
    const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
    if (count <= 0) return false;
    received_.append(bytes, static_cast<std::size_t>(count));
    return true;
  }

  int socket_;
  bool open_ = false;
  std::string received_;
};

/// Returns the bytes of a request. `fields`: more lines of the head, each with its line end.
inline std::string http_post(const std::string& path, const std::string& body,
                             const std::string& fields = "") {
  return "POST " + path +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n" + fields + "\r\n" + body;
}
inline std::string http_get(const std::string& path, const std::string& fields = "") {
  return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + fields + "\r\n";
}

}  // namespace encore::system_test
