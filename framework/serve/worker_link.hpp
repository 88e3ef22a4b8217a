// SPDX-License-Identifier: BSD-3-Clause
// WorkerLink: one worker process of a served model and the socket to it. Place in the flow: model_pool.cpp
// owns one for each worker; record/serve_messages.hpp defines the messages; the other end is
// worker/serve_verb.cpp: a changed message needs a change there. Everything happens on the thread of the
// loop.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "record/serve_messages.hpp"
#include "runner/worker_process.hpp"

namespace encore::serve {

/// How a worker of a model is started.
struct ServeWorkerStart {
  std::filesystem::path program;
  std::vector<std::string> arguments;      ///< "serve --run-folder DIR ..."
  runner::WorkerPlace place = {};          ///< its cores, threads and device
  std::shared_ptr<const void> files = {};  ///< keeps an unpacked bundle on disk (serve.hpp)
};

/// The events of a link; each call comes from the loop.
struct WorkerLinkEvents {
  std::function<void(record::ServeModel)> ready;
  std::function<void(record::ServeAnswers)> answered;
  /// Called once when the process is gone; no other event follows.
  std::function<void(runner::ProcessEnd end, const std::string& why)> ended;
};

class WorkerLink {
 public:
  /// Starts the process. Throws Error if it cannot be started.
  WorkerLink(boost::asio::io_context& loop, const ServeWorkerStart& start, WorkerLinkEvents events);
  /// Closes the socket, after which a worker ends, and kills one that does not. No event follows.
  ~WorkerLink();
  WorkerLink(const WorkerLink&) = delete;
  WorkerLink& operator=(const WorkerLink&) = delete;

  /// Queues a message; it is written when the socket takes it.
  void send(const record::ServeMessage& message);
  /// Kills a worker that does not answer any more; `ended` follows.
  void kill();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace encore::serve
