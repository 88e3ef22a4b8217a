// SPDX-License-Identifier: BSD-3-Clause
// Tests SIGHUP at `exp serve` (serve/service.hpp, serve/model_pool.hpp): other models replace the served ones
// under load, and every request must be answered by one model or the other; also what leaves the served ones
// unchanged. The words of messages may change.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "system/control/serving.hpp"

namespace encore::system_test {
namespace {

class ServeReload : public Serve {
 protected:
  void SetUp() override {
    Serve::SetUp();
    if (IsSkipped()) return;
    output_of({"run", "tiny.toml", "-q", "-S", "name=other", "-S", "seed=7"});
    output_of({"tag", "tiny", "+live"});
  }
  /// Returns how often the server printed `line`, such as "serving NAME".
  std::size_t said(const std::string& line) const {
    const std::string text = sandbox_.read("serve.txt");
    std::size_t count = 0;
    for (std::size_t at = text.find(line); at != std::string::npos; at = text.find(line, at + 1)) ++count;
    return count;
  }
  bool reload_says(const std::string& line) const {
    const std::size_t before = said(line);
    ::kill(server_, SIGHUP);
    return sandbox_.wait_until([&] { return said(line) > before; });
  }
  std::string served_now() const {
    return json::parse(ask(http_get("/v1/models")).body).at("data").at(0).at("id");
  }
};

TEST_F(ServeReload, EveryRequestIsAnsweredByOneModelOrTheOther) {
  serve({"--tag", "live", "--workers", "2"}, "all");
  const std::vector<std::string> texts = some_texts(12);
  const std::map<std::string, std::vector<json>> expected = {{"tiny", predicted(texts)},
                                                             {"other", predicted(texts, "other")}};
  std::atomic<bool> enough = false;
  std::atomic<int> wrong = 0, back = 0;
  std::atomic<std::size_t> by_tiny = 0, by_other = 0;
  std::vector<std::thread> clients;
  for (std::size_t c = 0; c < 4; ++c)
    clients.emplace_back([&, c] {
      HttpConnection connection(port_);
      bool seen_other = false;
      for (std::size_t i = c; !enough; ++i) {
        connection.send(http_post("/v1/predict", json{{"inputs", texts[i % texts.size()]}}.dump()));
        const HttpResponse response = connection.receive();
        if (response.status != 200) {
          ++wrong;
          continue;
        }
        const json body = json::parse(response.body);
        const std::string model = body.at("model");
        if (body.at("results")[0] != expected.at(model)[i % texts.size()]) ++wrong;
        if (model == "tiny" && seen_other) ++back;
        seen_other = seen_other || model == "other";
        ++(model == "tiny" ? by_tiny : by_other);
      }
    });
  EXPECT_TRUE(sandbox_.wait_until([&] { return by_tiny > 20; }));
  output_of({"tag", "other", "+live"});
  output_of({"tag", "tiny", "-live"});
  EXPECT_TRUE(reload_says("serving other\n")) << sandbox_.read("serve.txt");
  EXPECT_TRUE(sandbox_.wait_until([&] { return by_other > 20; }));
  enough = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(wrong, 0) << "lost, refused, or the answer of the other model";
  EXPECT_EQ(back, 0) << "an old model has answered a request that came after the change";
  EXPECT_EQ(served_now(), "other");
  EXPECT_TRUE(sandbox_.wait_until([&] { return sandbox_.workers().size() == 2; }))
      << "those replaced have ended";
  EXPECT_TRUE(sandbox_.wait_until([&] { return metric("encore_workers_ready{model=\"other\"}") == 2U; }));
  EXPECT_EQ(metric("encore_workers_ready{model=\"tiny\"}"), 0U);
}

TEST_F(ServeReload, ARequestThatIsBeingComputedIsAnsweredByItsModel) {
  serve({"--tag", "live", "--workers", "1"}, "all");
  const std::vector<pid_t> workers = sandbox_.workers();
  ASSERT_EQ(workers.size(), 1U);
  ::kill(workers[0], SIGSTOP);
  HttpConnection asked(port_);
  asked.send(http_post("/v1/predict", R"({"inputs": "Anna lives in Lund ."})"));
  ASSERT_TRUE(sandbox_.wait_until([&] { return metric("encore_batches_total{model=\"tiny\"}") == 1; }));
  output_of({"tag", "other", "+live"});
  output_of({"tag", "tiny", "-live"});
  EXPECT_TRUE(reload_says("serving other\n"));
  EXPECT_EQ(json::parse(predict("Anna lives in Lund .").body).at("model"), "other");
  ::kill(workers[0], SIGCONT);
  const HttpResponse answer = asked.receive();
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(json::parse(answer.body).at("model"), "tiny");
  EXPECT_TRUE(sandbox_.wait_until([&] { return sandbox_.workers().size() == 1; }));
}

TEST_F(ServeReload, WeightsThatHaveChangedAreLoadedThoughNoWorkerIsLeft) {
  output_of({"quantize", "tiny", "--tolerance", "5"});
  serve({"--int8", "--workers", "1"});
  const std::string before = json::parse(predict("Anna").body).at("digest");
  output_of({"quantize", "tiny", "--tolerance", "5", "--keep", "head"});
  for (const pid_t worker : sandbox_.workers()) ::kill(worker, SIGKILL);
  // A worker that is started now would read the new weights. The server must not answer with it while others
  // answer with the old weights, so it asks for a reload.
  ASSERT_TRUE(sandbox_.wait_for_text("serve.txt", "Send SIGHUP to exp serve to load them"));
  EXPECT_TRUE(reload_says("serving tiny\n")) << sandbox_.read("serve.txt");
  const HttpResponse answer = predict("Anna");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_NE(json::parse(answer.body).at("digest"), before);
}

TEST_F(ServeReload, AFailedReloadKeepsTheModels) {
  serve({"--tag", "live"}, "all");
  output_of({"tag", "tiny", "-live"});
  EXPECT_TRUE(reload_says("exp: the models stay as they are: ")) << "no run has the tag";
  output_of({"tag", "other", "+live"});
  const std::string id = json::parse(output_of({"show", "other", "--json"})).at("id");
  sandbox_.write("encore.db.runs/" + id + "/labels.txt", "nonsense\n");
  EXPECT_TRUE(reload_says("exp: the models stay as they are: ")) << sandbox_.read("serve.txt");
  EXPECT_EQ(served_now(), "tiny");
  EXPECT_EQ(predict("Anna lives in Lund .").status, 200);
  output_of({"tag", "tiny", "+live"});
  output_of({"tag", "other", "-live"});
  EXPECT_TRUE(reload_says("serving tiny\n")) << "the same model again";
  EXPECT_EQ(predict("Anna lives in Lund .").status, 200);
}

}  // namespace
}  // namespace encore::system_test
