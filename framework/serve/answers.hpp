// Answers: turns the answers of workers into bodies of HTTP. Place in the flow: a Job that is over -> here ->
// service.cpp.
#pragma once

#include <string>
#include <string_view>

#include "record/serve_messages.hpp"
#include "serve/job.hpp"
#include "serve/requests.hpp"

namespace encore {

/// The model and the program that answered.
struct ServedModel {
  std::string name;     ///< of the run
  std::string version;  ///< of Encore
  ServeModel facts;
};

/// Throws Refusal with the first reason if an input has no answer.
std::string answer_body(const ServedModel& model, const ServeRequest& request, const Job& job,
                        std::string_view id);
/// Events of a stream: one with the new part of the text; the last one with the reason of its end; those of a
/// failure.
std::string stream_part(const ServedModel& model, std::string_view id, std::string_view text);
std::string stream_end(const ServedModel& model, std::string_view id, const Job& job);
std::string stream_failure(int status, const std::string& reason);

/// {"error": {"message", "type"}}
std::string error_body(int status, const std::string& reason);

}  // namespace encore
