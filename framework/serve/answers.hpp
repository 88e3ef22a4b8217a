// Answers: what workers have answered, as bodies of HTTP. Place in the flow: a Job that is over -> here ->
// service.cpp.
#pragma once

#include <string>
#include <string_view>

#include "record/serve_messages.hpp"
#include "serve/job.hpp"
#include "serve/requests.hpp"

namespace encore {

/// Who has answered.
struct ServedModel {
  std::string name;     ///< of the run
  std::string version;  ///< of Encore
  ServeModel facts;
};

/// Throws Refusal with the first reason where a text has no answer.
std::string answer_body(const ServedModel& model, const ServeRequest& request, const Job& job,
                        std::string_view id);
/// An event of a stream with what a text has more; the last one with the reason of its end; the events of a
/// failure.
std::string stream_part(const ServedModel& model, std::string_view id, std::string_view text);
std::string stream_end(const ServedModel& model, std::string_view id, const Job& job);
std::string stream_failure(int status, const std::string& reason);

/// {"error": {"message", "type"}}
std::string error_body(int status, const std::string& reason);

}  // namespace encore
