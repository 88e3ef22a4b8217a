// SPDX-License-Identifier: BSD-3-Clause
// Serve: the fixture of tests of `exp serve` (serve_test.cpp, serve_files_test.cpp, serve_reload_test.cpp,
// monitor_test.cpp): a trained run, a server with real workers on a port that the system chooses, and its
// client (http_client.hpp). The port must stay one that the system chooses, because tests run at the same
// time.
#pragma once

#include <signal.h>

#include <memory>
#include <sstream>

#include <nlohmann/json.hpp>

#include "system/control/http_client.hpp"
#include "system/control/real_worker.hpp"

namespace encore::system_test {

using nlohmann::json;

/// Returns this number of inputs of several lengths.
inline std::vector<std::string> some_texts(std::size_t count) {
  const char* names[] = {"Anna", "Berg", "Clara", "Dahl", "Erik"};
  const char* places[] = {"Lund", "Oslo", "Bergen"};
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    std::string text = std::string(names[i % 5]) + " lives in " + places[i % 3];
    for (std::size_t k = 0; k < i % 2; ++k) text += " and " + std::string(names[(i + k) % 5]) + " in Oslo";
    texts.push_back(text + " .");
  }
  return texts;
}

class Serve : public RealWorkerTest {
 protected:
  void SetUp() override {
    RealWorkerTest::SetUp();
    if (IsSkipped()) return;
    sandbox_.write("tiny.toml", tiny_experiment());
    output_of({"run", "tiny.toml", "-q"});
  }
  void TearDown() override {
    if (server_ > 0 && !has_ended(server_)) {
      ::kill(server_, SIGTERM);
      Sandbox::wait(server_);
    }
  }

  /// Starts the server and waits until it has loaded its models.
  void serve(std::vector<std::string> options = {}, const std::string& run = "tiny") {
    options.insert(options.begin(), {"serve", run, "--port", "0"});
    server_ = sandbox_.start(options, "serve.txt");
    ASSERT_TRUE(sandbox_.wait_for_text("serve.txt", "serving ")) << sandbox_.read("serve.txt");
    const std::string said = sandbox_.read("serve.txt");
    const std::string before = "listening on http://127.0.0.1:";
    port_ = static_cast<std::uint16_t>(std::stoi(said.substr(said.find(before) + before.size())));
  }
  /// Makes the file private, as --token-file requires.
  void write_token(const std::string& name, const std::string& token) const {
    sandbox_.write(name, token);
    std::filesystem::permissions(sandbox_.folder() / name, std::filesystem::perms(0600));
  }
  HttpResponse ask(const std::string& request) const {
    HttpConnection connection(port_);
    connection.send(request);
    return connection.receive();
  }
  HttpResponse predict(const json& inputs) const {
    return ask(http_post("/v1/predict", json{{"inputs", inputs}}.dump()));
  }
  void expect_refused(const HttpResponse& response, int status, const std::string& reason) const {
    EXPECT_EQ(response.status, status) << response.head << response.body;
    EXPECT_TRUE(response.has(reason)) << response.body;
    EXPECT_TRUE(json::accept(response.body)) << response.body;
  }
  std::uint64_t metric(const std::string& line) const {
    const std::string text = ask(http_get("/metrics")).body;
    const std::size_t at = text.find("\n" + line + " ");
    return at == std::string::npos ? 0 : std::stoull(text.substr(at + line.size() + 2));
  }
  /// Returns what `exp predict --json` prints for each input.
  std::vector<json> predicted(const std::vector<std::string>& texts, const std::string& run = "tiny",
                              const std::vector<std::string>& options = {}) const {
    std::string lines;
    for (const std::string& text : texts) lines += text + "\n";
    std::vector<std::string> arguments = {"predict", run, "--file", "-", "--json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    std::istringstream answers(output_of(arguments, lines));
    std::vector<json> all;
    for (std::string line; std::getline(answers, line);) all.push_back(json::parse(line));
    return all;
  }
  std::optional<runner::ProcessEnd> end_server(int signal = SIGTERM) {
    ::kill(server_, signal);
    return Sandbox::wait(server_);
  }

  pid_t server_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace encore::system_test
