// SPDX-License-Identifier: BSD-3-Clause
// serve(): makes the event loop, the server and the service, and handles signals: SIGTERM and SIGINT drain,
// SIGHUP replaces the models. The order in which these parts start and end is fixed here. cli/serve_verb.cpp
// calls it. Read serve.hpp first.
#include "serve/serve.hpp"

#include <sys/resource.h>

#include <future>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <encore/error.hpp>

#include "serve/answers.hpp"
#include "serve/http_server.hpp"
#include "serve/service.hpp"

namespace encore::serve {
namespace {

/// A connection needs a descriptor, and the usual limit is meant for programs with few.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::string url_of(const std::string& host, std::uint16_t port) {
  const bool v6 = host.find(':') != std::string::npos;
  return "http://" + (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

/// The objects of one call of serve().
class Serving {
 public:
  Serving(const ServeOptions& options, const std::vector<ServedRun>& runs)
      : options_(options),
        service_(loop_, options, runs),
        server_(
            loop_, options.host, options.port,
            {.connections = options.connections,
             .body_bytes = options.body_bytes,
             .all_body_bytes = std::max(HttpLimits().all_body_bytes, options.body_bytes),
             .receiving = options.receiving},
            [this](const HttpRequest& request) { return service_.judge(request); },
            [this](HttpRequest request, std::shared_ptr<HttpReply> reply) {
              service_.handle(std::move(request), std::move(reply));
            },
            error_body),
        signals_(loop_, SIGTERM, SIGINT),
        hangups_(loop_),
        patience_(loop_) {
    service_.watch(server_);
    (options.runs_now ? hangups_ : signals_).add(SIGHUP);
  }

  bool run() {
    wait_for_signal();
    wait_for_hangup();
    if (options_.listening) options_.listening(url_of(options_.host, server_.port()));
    service_.start([this](const std::string& why) {
      failure_ = why;
      loop_.stop();
    });
    loop_.run();
    if (!failure_.empty()) throw Error(failure_);
    return all_answered_;
  }

 private:
  void wait_for_signal() {
    signals_.async_wait([this](const boost::system::error_code& stopped, int) {
      if (stopped) return;
      if (draining_) return loop_.stop();
      drain();
      wait_for_signal();
    });
  }

  void wait_for_hangup() {
    hangups_.async_wait([this](const boost::system::error_code& stopped, int) {
      if (stopped) return;
      if (!draining_) choose_models();
      wait_for_hangup();
    });
  }

  /// Reports models that cannot be loaded, and continues with the models that were served before.
  void refuse(const std::string& why) const {
    if (options_.noticed) options_.noticed("the models stay as they are: " + why);
  }

  /// Calls options.runs_now on another thread, so that requests are answered while a bundle is unpacked.
  void choose_models() {
    if (choosing_ || service_.is_replacing() || !service_.loaded())
      return refuse("other models are being loaded");
    choosing_ = true;
    chooser_ = std::async(std::launch::async, [this] {
      std::vector<ServedRun> runs;
      std::string failure;
      try {
        runs = options_.runs_now();
      } catch (const std::exception& error) {
        failure = error.what();
      }
      boost::asio::post(loop_, [this, runs = std::move(runs), failure] {
        choosing_ = false;
        if (!failure.empty()) return refuse(failure);
        if (!draining_) replace_models(runs);
      });
    });
  }

  void replace_models(const std::vector<ServedRun>& runs) try {
    service_.replace(runs, [this](const std::string& why) {
      if (!why.empty()) return refuse(why);
      if (options_.ready) options_.ready();
    });
  } catch (const std::exception& error) {
    refuse(error.what());
  }

  void drain() {
    draining_ = true;
    service_.begin_drain();
    patience_.expires_after(options_.drain);
    patience_.async_wait([this](const boost::system::error_code& stopped) {
      if (!stopped) loop_.stop();
    });
    server_.drain([this] {
      all_answered_ = true;
      loop_.stop();
    });
  }

  const ServeOptions& options_;
  boost::asio::io_context loop_{1};
  Service service_;
  HttpServer server_;
  boost::asio::signal_set signals_, hangups_;
  boost::asio::steady_timer patience_;
  std::string failure_;
  bool draining_ = false, all_answered_ = false, choosing_ = false;
  std::future<void> chooser_;  // last: its destructor waits, and everything else must still exist
};

}  // namespace

bool serve(const ServeOptions& options, std::vector<ServedRun> runs) {
  raise_descriptor_limit();
  Serving serving(options, runs);
  runs.clear();  // a pool holds the files of its workers itself, until it is replaced
  return serving.run();
}

}  // namespace encore::serve
