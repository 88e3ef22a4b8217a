// Service: what stands between HTTP and the models: routes, tokens, limits, and the answer of each request.
// Place in the flow: HttpServer hands it whole requests, it submits jobs to a ModelPool and answers when they
// are over. Read next: routes.cpp, requests.cpp, answers.cpp.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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
#include "serve/routes.hpp"
#include "serve/serve.hpp"
#include "serve/serve_monitor.hpp"

namespace encore {

class Service {
 public:
  Service(boost::asio::io_context& loop, const ServeOptions& options, const std::vector<ServedRun>& runs);

  /// Starts the workers of every model. `cannot`: one has no worker that could load it.
  void start(const std::function<void(const std::string& why)>& cannot);
  /// The models of these runs in place of those that are served, once each of them has a worker; what had
  /// come before is answered by those that it came to. `ended`: with "", or with the reason why nothing was
  /// replaced.
  void replace(const std::vector<ServedRun>& runs, std::function<void(const std::string& why)> ended);
  bool is_replacing() const { return !next_.empty(); }
  /// Every model has been loaded once, whatever has become of its workers.
  bool loaded() const {
    return std::ranges::all_of(pools_, [](const auto& pool) { return pool->model().has_value(); });
  }
  /// The answer to a request that is refused by its head: route, host, token and type; nothing where its body
  /// may come.
  std::optional<HttpAnswer> judge(const HttpRequest& request);
  /// A request that judge() let in.
  void handle(HttpRequest request, std::shared_ptr<HttpReply> reply);
  /// From now on it is not ready; requests that come are still answered.
  void begin_drain() { draining_ = true; }
  /// Whose connections are counted, outlives it.
  void watch(const HttpServer& server) { server_ = &server; }

 private:
  /// A request on its way.
  struct Call {
    const Route* route = nullptr;
    std::shared_ptr<HttpReply> reply;
    ServeClock::time_point arrived;
    std::uint64_t number = 0;  ///< of the request, from 1
    std::string sampled = {};  ///< the request's id, where the monitor is to have it
    std::shared_ptr<ServeMonitor> monitor = {};
    ServeRequest request = {};
    ModelPool* pool = nullptr;  ///< held as long as it has jobs
    bool streaming = false;     ///< the head of a stream was sent

    std::string completion_id() const { return "cmpl-" + std::to_string(number); }
  };
  using CallPointer = std::shared_ptr<Call>;

  using Next = std::function<void()>;

  void allow(const HttpRequest& request, const Route& route) const;
  /// Reads the body; what is to be done with it on the loop. Looks at nothing but its arguments and options.
  Next read(const CallPointer& call, const std::string& body);
  /// The same on a thread of its own, since nobody else is answered while the loop reads; then, on the loop,
  /// what is to be done.
  void read_aside(CallPointer call, std::string body);
  /// Does it; what it throws is the answer.
  void carry_out(const Call& call, const Next& work);
  void ask(const CallPointer& call);
  void observe(Call& call, Job& job);
  void take_feedback(const Call& call, const FeedbackRequest& feedback);
  /// Once for all that is answered in this turn of the loop.
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
  using Pools = std::vector<std::shared_ptr<ModelPool>>;
  Pools make_pools(const std::vector<ServedRun>& runs);
  void change_over();
  /// Lets go of what was replaced and has no request any more; not at once, for one of them may be at work.
  void forget_idle_later();
  /// Every model has a worker.
  bool ready() const;
  std::string models_body() const;
  std::string metrics_text() const;
  ServedModel named(const ModelPool& pool) const;

  boost::asio::io_context& loop_;
  const ServeOptions& options_;
  ServeMetrics metrics_;
  std::string session_;                                            ///< begins the ids of sampled requests
  std::map<std::string, std::shared_ptr<ServeMonitor>> monitors_;  ///< by name of the run
  Pools pools_, next_, replaced_;
  bool writing_ = false;
  std::function<void(const std::string& why)> replacing_ended_;
  const HttpServer* server_ = nullptr;
  bool draining_ = false;
  bool loopback_ = true;
  std::uint64_t requests_ = 0;
  boost::asio::thread_pool aside_{1};  // last: it looks at options_, and posts to loop_
};

}  // namespace encore
