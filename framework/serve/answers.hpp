// SPDX-License-Identifier: BSD-3-Clause
// answer_body(), stream_part() and error_body() and others: turn the answers of workers into HTTP bodies.
// Place in the flow: model_pool.cpp ends a Job -> service.cpp calls these functions -> http_server.cpp sends
// the text. Pure functions. Clients of OpenAI's interface read the bodies, so members never change
// (routes.cpp documents them). Read next: job.hpp.
#pragma once

#include <string>
#include <string_view>

#include "record/serve_messages.hpp"
#include "serve/job.hpp"
#include "serve/requests.hpp"

namespace encore::serve {

/// The model and the program that answered.
struct ServedModel {
  std::string name;          ///< of the run
  std::string version;       ///< of Encore
  record::ServeModel facts;  ///< the worker's description of the model
};

/// Returns the body for a finished job. `id` is the id of the request. Throws Refusal with the first reason
/// if an input has no answer.
std::string answer_body(const ServedModel& model, const ServeRequest& request, const Job& job,
                        std::string_view id);
/// Returns an event of a stream of generated text with a new part of the text.
std::string stream_part(const ServedModel& model, std::string_view id, std::string_view text);
/// Returns the last event of a stream, with the reason why the text ended.
std::string stream_end(const ServedModel& model, std::string_view id, const Job& job);
/// Returns the event for an error after the stream has begun.
std::string stream_failure(int status, const std::string& reason);

/// Returns {"error": {"message", "type"}}.
std::string error_body(int status, const std::string& reason);

}  // namespace encore::serve
