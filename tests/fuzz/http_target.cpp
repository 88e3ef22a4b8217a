// SPDX-License-Identifier: BSD-3-Clause
// The fuzz target "http": bytes of a client, most of them with a matching Content-Length, are sent over a
// local socket to the server of `exp serve` (serve/http_server.hpp, serve/service.hpp): the parser of the
// library, decisions by the head, routes, tokens, bodies. Every answer must be whole, with a status that the
// table of routes lists, and never 500. fuzz.cpp calls the target; read target.hpp first.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>

#include <nlohmann/json.hpp>

#include "fuzz/scratch.hpp"
#include "fuzz/target.hpp"
#include "serve/answers.hpp"
#include "serve/http_server.hpp"
#include "serve/service.hpp"

namespace encore::fuzz {

namespace {

constexpr std::string_view end_of_head = "\r\n\r\n";
constexpr std::string_view token = "0123456789abcdef";

void require(bool holds, const std::string& what, std::string_view bytes) {
  if (!holds) throw std::logic_error(what + ": " + std::string(bytes.substr(0, 300)));
}

/// A server without workers: every request gets its answer up to the point where a model would compute.
class Door {
 public:
  Door(const std::filesystem::path& folder, bool has_token)
      : options_{.token = has_token ? std::string(token) : "", .version = "1", .monitor_share = 1.0},
        service_(loop_, options_,
                 {{.name = "tiny",
                   .worker = {},
                   .arguments = {},
                   .places = {},
                   .id = "0123456789",
                   .folder = folder}}),
        server_(
            loop_, "127.0.0.1", 0, {.head_bytes = 4096, .body_bytes = 20'000, .all_body_bytes = 100'000},
            [this](const serve::HttpRequest& request) { return service_.judge(request); },
            [this](serve::HttpRequest request, std::shared_ptr<serve::HttpReply> reply) {
              service_.handle(std::move(request), std::move(reply));
            },
            serve::error_body) {
    service_.watch(server_);
  }

  /// Returns all bytes until the server ends the connection.
  std::string answers_to(std::string_view bytes) {
    const int client = connection();
    std::string received;
    for (bool ended = false, sends = true; !ended;) {
      if (sends && !bytes.empty()) {
        const ssize_t count = ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
        if (count < 0 && errno != EAGAIN) bytes = {};
      }
      if (sends && bytes.empty()) {
        ::shutdown(client, SHUT_WR);
        sends = false;
      }
      loop_.restart();
      if (loop_.poll() == 0) loop_.run_one_for(std::chrono::milliseconds(1));
      char part[1 << 14];
      for (ssize_t count = 0;
           (count = ::recv(client, part, sizeof part, MSG_DONTWAIT)) != -1 || errno != EAGAIN;) {
        if (count > 0) received.append(part, static_cast<std::size_t>(count));
        ended = count <= 0;
        if (ended) break;
      }
    }
    ::close(client);
    while (server_.connections() > 0) {
      loop_.restart();
      loop_.run_one_for(std::chrono::milliseconds(1));
    }
    return received;
  }

 private:
  /// A reset leaves no state behind: the system would run out of ports for thousands of connections a second.
  int connection() const {
    const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const linger at_once = {1, 0};
    ::setsockopt(client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(server_.port());
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(client, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0)
      throw std::logic_error("no connection to the server of this process");
    return client;
  }

  boost::asio::io_context loop_{1};
  serve::ServeOptions options_;
  serve::Service service_;
  serve::HttpServer server_;
};

/// Returns the length of the body that the head of an answer gives, or nothing if it gives none.
std::optional<std::size_t> length_in(std::string_view head) {
  constexpr std::string_view field = "\r\nContent-Length: ";
  const std::size_t at = head.find(field);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t length = 0;
  std::from_chars(head.data() + at + field.size(), head.data() + head.size(), length);
  return length;
}

/// Throws std::logic_error unless `received` is a sequence of whole answers with allowed statuses. `is_head`:
/// a request may be of the method HEAD, whose answer has no body.
void require_sound_answers(std::string_view received, bool is_head) {
  while (!received.empty()) {
    const std::size_t end = received.find(end_of_head);
    require(end != std::string_view::npos && received.starts_with("HTTP/1.1 "), "no head of an answer",
            received);
    const std::string_view head = received.substr(0, end + 2);
    received.remove_prefix(end + end_of_head.size());
    const std::string status(head.substr(9, 3));
    if (status == "100") continue;
    static const std::vector<std::string> known = {"200", "400", "401", "403", "404", "405",
                                                   "408", "413", "415", "429", "431", "503"};
    require(std::ranges::find(known, status) != known.end(), "an answer with another state", head);
    const std::optional<std::size_t> length = length_in(head);
    require(length.has_value(), "an answer without a length", head);
    if (is_head && (received.empty() || received.starts_with("HTTP/1.1 "))) continue;
    require(received.size() >= *length, "an answer that is cut", head);
    const std::string_view body = received.substr(0, *length);
    received.remove_prefix(*length);
    if (status != "200")
      require(nlohmann::json::parse(body).at("error").at("message").is_string(), "an error without a message",
              body);
  }
}

std::string post(const std::string& path, const std::string& body, const std::string& more = "") {
  return "POST " + path + " HTTP/1.1\r\nHost: localhost:8080\r\n" + more +
         "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         std::string(end_of_head) + body;
}

class HttpTarget final : public Target {
 public:
  std::string name() const override { return "http"; }

  std::vector<std::string> corpus() override {
    const std::string asks = "Authorization: Bearer " + std::string(token) + "\r\n";
    const std::string predict = R"({"inputs":["the text","na\u00efve"],"model":"tiny","truncate":true})";
    return {
        open(post("/v1/predict", predict)),
        open(post("/v1/predict", R"({"inputs":"the text"})", "Origin: http://localhost:8080\r\n")),
        open(post("/v1/embeddings", R"({"input":["a","b"],"encoding_format":"base64"})")),
        open(post("/v1/completions",
                  R"({"prompt":"the","max_tokens":8,"temperature":0.5,"top_p":0.9,"top_k":5,"seed":1,"n":1,)"
                  R"("repetition_penalty":1.1,"stop":["."],"stream":true,"user":"me"})")),
        open(post("/v1/completions", R"({"prompt":["a","b"],"beam":4,"length_penalty":0.6,"n":2})")),
        open(post("/v1/feedback", R"({"id":"a-1","text":0,"answer":{"label":"A","spans":[{"start":0}]}})")),
        open(
            "POST /v1/predict HTTP/1.1\r\nHost: [::1]:80\r\nContent-Type: application/json; charset=utf-8\r\n"
            "Transfer-Encoding: chunked\r\nExpect: "
            "100-continue\r\n\r\n8\r\n{\"inputs\r\n8;x=1\r\n\":\"the\"}\r\n"
            "0\r\nTrailer: a\r\n\r\n"),
        open("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: keep-alive\r\n\r\n"
             "GET /healthz?a=b HTTP/1.0\r\n\r\n"),
        open("GET /v1/models HTTP/1.1\r\nHost: a\r\n\r\nHEAD /openapi.json HTTP/1.1\r\nHost: "
             "localhost\r\n\r\n"),
        NamedInput{"token", post("/v1/predict", predict, asks) + "GET /metrics HTTP/1.1\r\nHost: x\r\n" +
                                asks + "Connection: close\r\n\r\n"}
            .text()};
  }

  void mutate(std::string& input, const std::vector<std::string>& others, Random& random) override {
    NamedInput request = NamedInput::of(input);
    if (random.once_in(8)) request.name = request.name == "open" ? "token" : "open";
    const std::string other = NamedInput::of(random.any_of(others)).content;
    const std::size_t cut = request.content.find(end_of_head);
    if (random.once_in(3) || cut == std::string::npos) {
      mutate_bytes(request.content, words(), {other}, random);
    } else {
      std::string head = request.content.substr(0, cut),
                  body = request.content.substr(cut + end_of_head.size());
      if (random.once_in(2)) mutate_bytes(head, words(), {other}, random);
      if (body.starts_with('{') && !random.once_in(4))
        mutate_json(body, random);
      else if (!body.empty())
        mutate_bytes(body, words(), {other}, random);
      fit_length(head, body.size());
      request.content = head + std::string(end_of_head) + body;
    }
    input = request.text();
  }

  void take(const std::string& input) override {
    const NamedInput request = NamedInput::of(input);
    std::unique_ptr<Door>& door = request.name == "token" ? with_token_ : without_token_;
    if (!door) door = std::make_unique<Door>(folder_ / "run", request.name == "token");
    require_sound_answers(door->answers_to(request.content),
                          request.content.find("HEAD") != std::string::npos);
  }

 private:
  static std::string open(const std::string& request) { return NamedInput{"open", request}.text(); }

  static const Words& words() {
    static const Words list = [] {
      Words all = json_words();
      all.insert(all.end(), {"\r\n",
                             "\r\n\r\n",
                             "\n",
                             "\r",
                             ":",
                             " ",
                             "\t",
                             "\r\n ",
                             "GET ",
                             "HEAD ",
                             "OPTIONS * ",
                             "HTTP/1.1",
                             "HTTP/1.0",
                             "HTTP/2",
                             "Host: a\r\n",
                             "Host: [::1\r\n",
                             "Host: :80\r\n",
                             "Content-Length: 5\r\n",
                             "Content-Length: -1\r\n",
                             "Content-Length: 18446744073709551615\r\n",
                             "Transfer-Encoding: chunked\r\n",
                             "Transfer-Encoding: gzip\r\n",
                             "Expect: 100-continue\r\n",
                             "Upgrade: h2c\r\n",
                             "Connection: close\r\n",
                             "Origin: null\r\n",
                             "Authorization: Bearer x\r\n",
                             "0\r\n\r\n",
                             "ffffffffffffffff\r\n",
                             "5\r\n",
                             "\"inputs\":",
                             "\"stream\":true,",
                             "%00",
                             "/../",
                             "?",
                             "#",
                             std::string(1, '\0'),
                             "\xff",
                             "\x1b[31m",
                             std::string(5000, 'x')});
      return all;
    }();
    return list;
  }

  /// Writes the length of the body if the head has a field for it.
  static void fit_length(std::string& head, std::size_t length) {
    const std::string field = "Content-Length: ";
    const std::size_t at = head.find(field);
    if (at == std::string::npos) return;
    const std::size_t begin = at + field.size(), end = std::min(head.find('\r', begin), head.size());
    head.replace(begin, end - begin, std::to_string(length));
  }

  Scratch folder_;
  std::unique_ptr<Door> without_token_, with_token_;  ///< made by the process that sends the requests
};

}  // namespace

std::unique_ptr<Target> make_http_target() {
  return std::make_unique<HttpTarget>();
}

}  // namespace encore::fuzz
