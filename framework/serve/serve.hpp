// SPDX-License-Identifier: BSD-3-Clause
// serve(): `exp serve`, which answers requests to models over HTTP. The control program queues requests, sets
// deadlines and answers; workers tokenize, pack and compute (worker/serve_verb.cpp). Place in the flow:
// cli/serve_verb.cpp -> serve() -> service.cpp. Other folders include only this header, so that Boost stays
// behind it. Read next: service.hpp, model_pool.hpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runner/worker_process.hpp"

namespace encore::serve {

/// A run whose model is served, and how its workers are started, one for each place.
struct ServedRun {
  std::string name;                         ///< by which requests select the model
  std::filesystem::path worker;             ///< program
  std::vector<std::string> arguments;       ///< "serve --run-folder DIR ..."
  std::vector<runner::WorkerPlace> places;  ///< one for each worker
  std::string id = {};                      ///< of the run, for the records of its requests
  std::vector<std::string> lineage = {};    ///< names of the runs that retrain one another, its own included
  std::filesystem::path folder = {};        ///< the run's own
  std::shared_ptr<const void> files = {};   ///< keeps an unpacked bundle on disk while a worker may start
};

struct ServeOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8080;  ///< 0: any that is free
  std::string token = {};     ///< "": requests need none
  std::string version = {};   ///< of Encore
  /// Inputs in a batch, inputs that wait, bytes in a body, open connections: at most this number of each.
  std::size_t batch_texts = 32, queue_texts = 1024, body_bytes = std::size_t{1} << 20, connections = 1024;
  std::int64_t max_tokens = 4096;  ///< largest number that a request may ask for
  std::chrono::microseconds batch_wait{0};
  std::chrono::milliseconds timeout = std::chrono::seconds(30);  ///< of a request, from its arrival
  /// How long the server sends its last answers after SIGTERM or SIGINT.
  std::chrono::milliseconds drain = std::chrono::seconds(30);
  /// How long the server waits for the head of a request, and then for its body.
  std::chrono::milliseconds receiving = std::chrono::seconds(10);
  double monitor_share = 0.0;         ///< share of the requests to predict whose numbers are stored
  double monitor_text_days = 0.0;     ///< number of days for which their inputs and answers are kept too
  std::filesystem::path review = {};  ///< the queue of requests that people decide; "": none
  std::function<void(const std::string& url)> listening = {};  ///< called once, before any model is ready
  /// Called when every model has a worker: once at the start, and after each change of models.
  std::function<void()> ready = {};
  /// Called with a message for the operator, a sentence without a final stop. From any thread.
  std::function<void(const std::string& text)> noticed = {};
  /// Returns the runs to serve from now on. Called at SIGHUP on a thread of its own, one call at a time; may
  /// throw. Empty: SIGHUP is as SIGTERM.
  std::function<std::vector<ServedRun>()> runs_now = {};
};

/// Returns whether only this machine can reach the address. Throws Error if it is not an address.
bool is_loopback(const std::string& host);

/// Serves until SIGTERM or SIGINT, then gives the last answers; a second signal ends it at once. SIGHUP loads
/// the models of options.runs_now() and answers with them once all are ready, without losing a request.
/// Returns true if every request was answered. Throws Error if the address is unavailable or a model
/// cannot be loaded.
bool serve(const ServeOptions& options, std::vector<ServedRun> runs);

}  // namespace encore::serve
