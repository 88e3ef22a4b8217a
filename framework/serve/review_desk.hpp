// SPDX-License-Identifier: BSD-3-Clause
// ReviewDesk: the review queue of a server. It writes on a thread of its own, because a commit waits for the
// disk. Requests that wait for the same commit share it: while one commit runs, the next one collects. Place
// in the flow: service.cpp -> here -> review/queue.hpp. All functions are called on the loop's thread, and
// all callbacks come there. An answer must not be sent before its items are committed.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include "review/queue.hpp"
#include "serve/http_server.hpp"
#include "serve/requests.hpp"
#include "serve/review_items.hpp"

namespace encore::serve {

class ReviewDesk {
 public:
  /// Opens the queue, and waits up to `patience` for other processes that write to it. `noticed` is as
  /// ServeOptions::noticed. Throws Error if it is not a review queue.
  ReviewDesk(boost::asio::io_context& loop, const std::filesystem::path& queue,
             std::chrono::milliseconds patience, std::function<void(const std::string& text)> noticed);
  /// Writes what is left.
  ~ReviewDesk();
  ReviewDesk(const ReviewDesk&) = delete;
  ReviewDesk& operator=(const ReviewDesk&) = delete;

  const review::QueueSettings& settings() const { return settings_; }
  /// Adds labels to choose from.
  void add_classes(std::vector<std::string> classes);
  /// Calls `committed` with "" when the items are on the disk, at once if there are none; or with the reason
  /// why they cannot be written. Counts of requests without items are written within a second.
  void take(ReviewIntake intake, std::function<void(const std::string& failure)> committed);
  /// Does what a request to /v1/review/... asks for. `answered` gets the body of the answer, or the
  /// exception.
  using Answered = std::function<void(const std::string& body, std::exception_ptr failure)>;
  void act(ReviewAction action, Answered answered);

 private:
  struct Waiting {
    ReviewIntake intake;
    std::function<void(const std::string& failure)> committed;
  };
  void commit();
  void commit_counts_later();
  void forget_hourly();

  boost::asio::io_context& loop_;
  std::function<void(const std::string&)> noticed_;
  review::Queue queue_;  ///< used on thread_ alone after the constructor
  review::QueueSettings settings_;
  std::vector<Waiting> waiting_;
  std::map<review::Band, std::int64_t> seen_;  ///< of requests without items, not written yet
  bool committing_ = false, counts_due_ = false, failed_ = false;
  boost::asio::steady_timer counts_timer_, texts_timer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  ///< callbacks check that this object exists
  boost::asio::thread_pool thread_{1};
};

}  // namespace encore::serve
