// SPDX-License-Identifier: BSD-3-Clause
// ReviewDesk: commits items in groups, answers the routes /v1/review/..., and removes inputs whose time is
// over, all on one thread, so that one connection to the queue is enough. The members of the answers are an
// interface for programs (routes.cpp). Read review_desk.hpp first.
#include "serve/review_desk.hpp"

#include <exception>
#include <utility>

#include <boost/asio/post.hpp>
#include <nlohmann/json.hpp>

#include "serve/refusal.hpp"

namespace encore::serve {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::chrono::seconds counts_delay(1);
constexpr std::chrono::hours texts_interval(1);
constexpr const char* program = "exp serve";

std::string body_of(review::Queue& queue, const std::optional<review::Item>& item) {
  Json json = {{"item", item ? review::item_json(*item, review::Opinions::hidden) : Json()}};
  json.update(review::counts_json(queue.counts()));
  return json.dump();
}

std::string status_body(review::Queue& queue) {
  const review::QueueSettings& settings = queue.settings();
  Json json = {
      {"application", settings.application}, {"opinions", settings.opinions},   {"audit", settings.audit},
      {"lease", settings.lease_seconds},     {"text_days", settings.text_days}, {"labels", queue.classes()}};
  json.update(review::counts_json(queue.counts()));
  return json.dump();
}

std::string carry_out(review::Queue& queue, const ReviewAction& action) {
  switch (action.work) {
    case RouteWork::review_claim:
      return body_of(queue, queue.claim(action.reviewer, action.order));
    case RouteWork::review_decide:
      return body_of(queue, queue.decide(action.item, action.label, action.reviewer, action.new_label));
    case RouteWork::review_undo:
      return body_of(queue, queue.undo(action.item, action.reviewer));
    case RouteWork::review_release:
      queue.release(action.item, action.reviewer, action.skip);
      return body_of(queue, queue.find(action.item));
    default:
      return status_body(queue);
  }
}

/// Returns the status for a client whose action the state of the item does not permit.
int status_of(review::ItemRefused::Why why) {
  switch (why) {
    case review::ItemRefused::Why::unknown:
      return 404;
    case review::ItemRefused::Why::label:
      return 400;
    default:
      return 409;
  }
}

}  // namespace

ReviewDesk::ReviewDesk(boost::asio::io_context& loop, const std::filesystem::path& queue,
                       std::chrono::milliseconds patience,
                       std::function<void(const std::string& text)> noticed)
    : loop_(loop),
      noticed_(std::move(noticed)),
      queue_(queue, {.patience = patience}),
      settings_(queue_.settings()),
      counts_timer_(loop),
      texts_timer_(loop) {
  queue_.forget_expired();
  forget_hourly();
}

ReviewDesk::~ReviewDesk() {
  *alive_ = false;
  thread_.join();
  try {
    if (!seen_.empty()) queue_.add({}, seen_, program);
  } catch (const std::exception& error) {
    if (noticed_) noticed_(std::string("the last counts of requests are lost: ") + error.what());
  }
}

void ReviewDesk::add_classes(std::vector<std::string> classes) {
  boost::asio::post(thread_, [this, classes = std::move(classes)] {
    try {
      queue_.add_classes(classes);
    } catch (const std::exception& error) {
      if (noticed_)
        noticed_(std::string("the labels of the model are not in the review queue: ") + error.what());
    }
  });
}

// --- items ---

void ReviewDesk::take(ReviewIntake intake, std::function<void(const std::string& failure)> committed) {
  if (intake.items.empty()) {
    for (const auto& [band, requests] : intake.seen) seen_[band] += requests;
    commit_counts_later();
    return committed("");
  }
  waiting_.push_back({.intake = std::move(intake), .committed = std::move(committed)});
  if (!committing_) commit();
}

void ReviewDesk::commit() {
  committing_ = true;
  auto batch = std::make_shared<std::vector<Waiting>>(std::exchange(waiting_, {}));
  boost::asio::post(thread_, [this, alive = alive_, batch, counts = std::exchange(seen_, {})] {
    std::vector<review::NewItem> items;
    std::map<review::Band, std::int64_t> seen = counts;
    for (Waiting& each : *batch) {
      items.insert(items.end(), std::make_move_iterator(each.intake.items.begin()),
                   std::make_move_iterator(each.intake.items.end()));
      for (const auto& [band, requests] : each.intake.seen) seen[band] += requests;
    }
    std::string failure;
    try {
      queue_.add(items, seen, program);
    } catch (const std::exception& error) {
      failure = error.what();
    }
    boost::asio::post(loop_, [this, alive, batch, counts, failure] {
      if (!*alive) return;
      committing_ = false;
      if (!failure.empty())
        for (const auto& [band, requests] : counts) seen_[band] += requests;
      if (!failure.empty() && !std::exchange(failed_, true) && noticed_)
        noticed_("requests for review are refused until this is corrected: " + failure);
      if (failure.empty()) failed_ = false;
      for (const Waiting& each : *batch)
        if (each.committed) each.committed(failure);
      if (!waiting_.empty() && !committing_) commit();
    });
  });
}

void ReviewDesk::commit_counts_later() {
  if (std::exchange(counts_due_, true)) return;
  counts_timer_.expires_after(counts_delay);
  counts_timer_.async_wait([this, alive = alive_](const boost::system::error_code& stopped) {
    if (stopped || !*alive) return;
    counts_due_ = false;
    if (!seen_.empty() && !committing_) commit();
  });
}

// --- people ---

void ReviewDesk::act(ReviewAction action, Answered answered) {
  boost::asio::post(thread_, [this, action = std::move(action), answered = std::move(answered)]() mutable {
    std::string body;
    std::exception_ptr failure;
    try {
      body = carry_out(queue_, action);
    } catch (const review::ItemRefused& refused) {
      failure = std::make_exception_ptr(Refusal(status_of(refused.why()), refused.what()));
    } catch (const store::DatabaseError& error) {
      failure = std::make_exception_ptr(Refusal(503, error.what()));
    } catch (const Error& error) {
      failure = std::make_exception_ptr(Refusal(400, error.what()));
    }
    // This thread keeps nothing of the call: its reply ends on the loop.
    boost::asio::post(loop_, [answered = std::move(answered), body = std::move(body), failure] {
      answered(body, failure);
    });
  });
}

void ReviewDesk::forget_hourly() {
  texts_timer_.expires_after(texts_interval);
  texts_timer_.async_wait([this, alive = alive_](const boost::system::error_code& stopped) {
    if (stopped || !*alive) return;
    boost::asio::post(thread_, [this] {
      try {
        queue_.forget_expired();
      } catch (const std::exception& error) {
        if (noticed_) noticed_(std::string("inputs are not removed yet: ") + error.what());
      }
    });
    forget_hourly();
  });
}

}  // namespace encore::serve
