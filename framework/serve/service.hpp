// SPDX-License-Identifier: BSD-3-Clause
// Service: the layer between HTTP and the models: routes, tokens, limits, and the answer of each request.
// Place in the flow: serve.cpp makes it; HttpServer passes whole requests to it; it submits jobs to a
// ModelPool and answers when they are over. Everything except read() runs on the thread of the loop. Each
// request must be answered exactly once. Read next: routes.cpp, requests.cpp, answers.cpp.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>

#include "serve/answers.hpp"
#include "serve/http_server.hpp"
#include "serve/metrics.hpp"
#include "serve/model_pool.hpp"
#include "serve/refusal.hpp"
#include "serve/requests.hpp"
#include "serve/review_desk.hpp"
#include "serve/routes.hpp"
#include "serve/serve.hpp"
#include "serve/serve_monitor.hpp"

namespace encore::serve {

class Service {
 public:
  /// `options` must outlive it.
  Service(boost::asio::io_context& loop, const ServeOptions& options, const std::vector<ServedRun>& runs);

  /// Starts the workers of every model. `cannot` is called if a model has no worker that could load it.
  void start(const std::function<void(const std::string& why)>& cannot);
  /// Replaces the served models by those of these runs, once each of them has a worker; earlier requests
  /// are answered by the models that received them. `ended` is called with "", or with the reason why nothing
  /// was replaced.
  void replace(const std::vector<ServedRun>& runs, std::function<void(const std::string& why)> ended);
  bool is_replacing() const { return !next_.empty(); }
  /// Returns whether every model has been loaded once. Its workers may have ended since.
  bool loaded() const {
    return std::ranges::all_of(pools_, [](const auto& pool) { return pool->model().has_value(); });
  }
  /// Returns the answer to a request that is refused by its head (route, host, token, type); nothing if its
  /// body may follow.
  std::optional<HttpAnswer> judge(const HttpRequest& request);
  /// Handles a request that judge() accepted.
  void handle(HttpRequest request, std::shared_ptr<HttpReply> reply);
  /// Makes GET /readyz answer that the server is not ready. New requests are still answered.
  void begin_drain() { draining_ = true; }
  /// Sets the server whose connections are counted. It must outlive this object.
  void watch(const HttpServer& server) { server_ = &server; }

 private:
  /// A request in work.
  struct Call {
    const Route* route = nullptr;
    std::shared_ptr<HttpReply> reply;
    ServeClock::time_point arrived;              ///< when the request was complete
    std::uint64_t number = 0;                    ///< of the request, from 1
    std::string id = {};                         ///< for clients, if the request is kept anywhere
    std::shared_ptr<ServeMonitor> monitor = {};  ///< of its model; null: not sampled
    bool is_reviewed = false;                    ///< its model has a review queue
    ServeRequest request = {};
    ModelPool* pool = nullptr;  ///< held as long as it has jobs
    bool streaming = false;     ///< the head of a stream was sent

    std::string completion_id() const { return "cmpl-" + std::to_string(number); }
  };
  using CallPointer = std::shared_ptr<Call>;

  using Next = std::function<void()>;
  using Pools = std::vector<std::shared_ptr<ModelPool>>;

  void allow(const HttpRequest& request, const Route& route) const;
  /// Reads the body and returns the work for the loop. Depends on its arguments and the options only.
  Next read(const CallPointer& call, const std::string& body);
  /// Calls read() on a thread of its own, because the loop answers no other request while it reads a long
  /// body. The loop then does the work.
  void read_aside(CallPointer call, std::string body);
  /// Does the work; an exception becomes the answer.
  void carry_out(const Call& call, const Next& work);
  void ask(const CallPointer& call);
  void observe(Call& call, Job& job);
  void take_feedback(const Call& call, const FeedbackRequest& feedback);
  /// Passes an action on the review queue on, and answers when it is done.
  void review(const CallPointer& call, ReviewAction action);
  /// Sends the answer once the items for reviewers are on the disk.
  void answer_reviewed(const CallPointer& call, const Job& job, HttpAnswer whole);
  /// Gives the queue the labels of the reviewed application. Returns why its answers cannot be reviewed, or
  /// "".
  std::string prepare_review(const Pools& pools);
  /// Writes samples once for all requests that are answered in this turn of the loop.
  void write_later();
  void stream(const CallPointer& call, const std::shared_ptr<Job>& job);
  static void begin_stream(Call& call);
  void finish(const CallPointer& call, const Job& job);
  HttpAnswer answer_now(const Route& route) const;
  void count(const Call& call, int status);
  void answer(const Call& call, HttpAnswer answer);
  void refuse(const Call& call, const Refusal& refusal);
  static HttpAnswer answer_of(const Refusal& refusal);
  ModelPool& pool_of(const std::string& model);
  Pools make_pools(const std::vector<ServedRun>& runs);
  void change_over();
  /// Drops replaced models without a request; not at once, because one of them may be the caller.
  void forget_idle_later();
  /// Returns whether every model has a worker that is ready.
  bool ready() const;
  std::string models_body() const;
  std::string metrics_text() const;
  ServedModel named(const ModelPool& pool) const;

  boost::asio::io_context& loop_;
  const ServeOptions& options_;
  ServeMetrics metrics_;
  std::string session_;                                            ///< begins the ids of sampled requests
  std::map<std::string, std::shared_ptr<ServeMonitor>> monitors_;  ///< by name of the run
  std::map<std::string, std::string> run_ids_;                     ///< of the runs, by their names
  std::unique_ptr<ReviewDesk> desk_;                               ///< null: without a review queue
  std::set<std::string> reviewed_;  ///< names of the runs whose requests come into the review queue
  Pools pools_, next_, replaced_;   // behind the members that make_pools() uses
  bool writing_ = false;
  std::function<void(const std::string& why)> replacing_ended_;
  const HttpServer* server_ = nullptr;
  bool draining_ = false;
  bool loopback_ = true;
  std::uint64_t requests_ = 0;
  boost::asio::thread_pool aside_{1};  // last: it reads options_, and posts to loop_
};

}  // namespace encore::serve
