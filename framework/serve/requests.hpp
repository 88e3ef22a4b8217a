// SPDX-License-Identifier: BSD-3-Clause
// ServeRequest and FeedbackRequest: the bodies of HTTP requests in parsed form. Place in the flow:
// service.cpp finds the route and calls parse_request -> ServeRequest -> Job (job.hpp). The functions must
// stay pure, because service.cpp may call them on another thread. Read next: routes.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/serve_messages.hpp"
#include "review/queue_items.hpp"
#include "serve/routes.hpp"

namespace encore::serve {

struct ServeRequest {
  std::string model = {};                              ///< "": the request names none
  record::ServeWork work = record::ServeWork::answer;  ///< what is computed for each input
  bool truncates = false;                       ///< inputs that are too long are cut instead of refused
  bool scored = false;                          ///< answers have probabilities
  std::string group = {};                       ///< stored with the numbers of --monitor; "": none
  std::vector<std::string> texts = {};          ///< inputs, or prompts
  bool base64 = false;                          ///< vectors are sent as base64 of their bytes
  std::optional<std::int64_t> dimensions = {};  ///< length that vectors must have
  bool streams = false;                         ///< generated text is sent as it grows
  std::string writing = {};                     ///< for prompts: the text of a GenerateRequest for the worker
};

/// The limits of one request. A larger one is refused with 413 or 400.
struct RequestLimits {
  std::size_t texts = 1024;        ///< inputs of one request
  std::int64_t max_tokens = 4096;  ///< the largest max_tokens of a request
};

/// The truth about an input that was answered.
struct FeedbackRequest {
  std::string id;        ///< of the answered request (X-Request-Id)
  std::size_t text = 0;  ///< index of the input in it
  std::string answer;    ///< a JSON object
};

/// Parses the body of feedback. Throws as parse_request.
FeedbackRequest parse_feedback(const Route& route, const std::string& body);

/// What a person does with the review queue.
struct ReviewAction {
  RouteWork work = RouteWork::review_status;
  std::string item = {}, label = {}, reviewer = {};
  review::Order order = review::Order::uncertainty;
  bool skip = false, new_label = false;
};

/// Parses the body of a route /v1/review/... Throws as parse_request.
ReviewAction parse_review(const Route& route, const std::string& body);

/// Throws Refusal that names the member and what it must be.
ServeRequest parse_request(const Route& route, const std::string& body, const RequestLimits& limits);

}  // namespace encore::serve
