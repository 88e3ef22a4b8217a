// SPDX-License-Identifier: BSD-3-Clause
// Writes the HTTP bodies for finished jobs, stream events and errors. service.cpp calls it. /v1/embeddings
// and /v1/completions answer as OpenAI's interface does, /v1/predict as `exp predict --json`; the JSON of a
// worker's predictions is copied unchanged. Clients read these members: a change needs one in routes.cpp,
// which documents them. Read answers.hpp first.
#include "serve/answers.hpp"

#include <cstring>
#include <ctime>
#include <vector>

#include <encore/base64.hpp>
#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "serve/refusal.hpp"

namespace encore::serve {
namespace {

using Json = nlohmann::ordered_json;

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json named(const ServedModel& model) {
  return {{"model", model.name},
          {"digest", model.facts.digest},
          {"step", model.facts.step},
          {"version", model.version}};
}

/// Returns `{..., NAME: [LIST]}`. `texts` is the content of the list, already as JSON.
std::string with_list(const Json& object, const char* name, const std::string& texts) {
  std::string body = dumped(object);
  body.pop_back();
  return body + (body.size() > 1 ? ",\"" : "\"") + name + "\":[" + texts + "]}";
}

std::string vector_json(std::string_view bytes) {
  std::vector<float> numbers(bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(float));
  return json_list(numbers);
}

/// Returns the members of an object as text to append to another one: `,"windows":3`.
std::string more_members(std::string_view object) {
  return object.size() <= 2 ? "" : "," + std::string(object.substr(1, object.size() - 2));
}

std::int64_t tokens_of(const Job& job) {
  std::int64_t tokens = 0;
  for (const record::ServeAnswer& answer : job.answers) tokens += answer.tokens;
  return tokens;
}

std::string predict_body(const ServedModel& model, const Job& job) {
  std::string results;
  for (const record::ServeAnswer& answer : job.answers) results += (results.empty() ? "" : ",") + answer.text;
  return with_list(named(model), "results", results);
}

std::string embeddings_body(const ServedModel& model, const ServeRequest& request, const Job& job) {
  const auto length = static_cast<std::int64_t>(job.answers.at(0).text.size() / sizeof(float));
  if (request.dimensions && *request.dimensions != length)
    throw Refusal(400, "invalid \"dimensions\" " + std::to_string(*request.dimensions) +
                           ": the vectors of this model have " + std::to_string(length) +
                           " numbers; leave it out");
  Json body = {{"object", "list"}};
  body.update(named(model));
  body["usage"] = {{"prompt_tokens", tokens_of(job)}, {"total_tokens", tokens_of(job)}};
  std::string data;
  for (std::size_t i = 0; i < job.answers.size(); ++i)
    data += (i > 0 ? "," : "") + std::string(R"({"object":"embedding","index":)") + std::to_string(i) +
            ",\"embedding\":" +
            (request.base64 ? '"' + to_base64(job.answers[i].text) + '"' : vector_json(job.answers[i].text)) +
            more_members(job.answers[i].members) + "}";
  return with_list(body, "data", data);
}

const char* finish_reason(const Json& text) {
  return text.at("ended").get<bool>() ? "stop" : "length";
}

Json completion(const ServedModel& model, std::string_view id) {
  Json body = {{"id", id}, {"object", "text_completion"}, {"created", std::time(nullptr)}};
  body.update(named(model));
  return body;
}

Json usage_json(std::int64_t prompts, std::int64_t written) {
  return {{"prompt_tokens", prompts}, {"completion_tokens", written}, {"total_tokens", prompts + written}};
}

/// Returns the generated texts of a job as JSON: a list of outputs for each prompt.
Json written_by(const Job& job) {
  return parse_json<Json>(job.answers.front().text);
}

std::int64_t tokens_written(const Json& prompts) {
  std::int64_t tokens = 0;
  for (const Json& texts : prompts)
    for (const Json& text : texts) tokens += text.at("pieces").get<std::int64_t>();
  return tokens;
}

std::string completions_body(const ServedModel& model, const Job& job, std::string_view id) {
  const Json prompts = written_by(job);
  Json body = completion(model, id);
  Json choices = Json::array();
  for (const Json& texts : prompts)
    for (const Json& text : texts)
      choices.push_back({{"index", choices.size()},
                         {"text", text.at("text")},
                         {"score", text.at("score")},
                         {"logprobs", nullptr},
                         {"finish_reason", finish_reason(text)}});
  body["choices"] = std::move(choices);
  body["usage"] = usage_json(tokens_of(job), tokens_written(prompts));
  return dumped(body);
}

std::string event(const std::string& data) {
  return "data: " + data + "\n\n";
}

std::string stream_event(const ServedModel& model, std::string_view id, std::string_view text,
                         const Json& reason, const Json& usage = nullptr) {
  Json body = completion(model, id);
  body["choices"] =
      Json::array({{{"index", 0}, {"text", text}, {"logprobs", nullptr}, {"finish_reason", reason}}});
  if (!usage.is_null()) body["usage"] = usage;
  return event(dumped(body));
}

const char* error_type(int status) {
  if (status == 401 || status == 403) return "authentication_error";
  if (status == 404) return "not_found_error";
  if (status == 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

}  // namespace

std::string answer_body(const ServedModel& model, const ServeRequest& request, const Job& job,
                        std::string_view id) {
  for (std::size_t i = 0; i < job.answers.size(); ++i)
    if (job.answers[i].outcome == record::ServeOutcome::refused)
      throw Refusal(400,
                    (job.answers.size() > 1 ? "text " + std::to_string(i) + ": " : "") + job.answers[i].text);
  switch (request.work) {
    case record::ServeWork::answer:
      return predict_body(model, job);
    case record::ServeWork::vector:
      return embeddings_body(model, request, job);
    case record::ServeWork::writing:
      break;
  }
  return completions_body(model, job, id);
}

std::string stream_part(const ServedModel& model, std::string_view id, std::string_view text) {
  return stream_event(model, id, text, nullptr);
}

std::string stream_end(const ServedModel& model, std::string_view id, const Job& job) {
  const Json prompts = written_by(job);
  return stream_event(model, id, "", finish_reason(prompts.at(0).at(0)),
                      usage_json(tokens_of(job), tokens_written(prompts))) +
         event("[DONE]");
}

std::string stream_failure(int status, const std::string& reason) {
  return event(error_body(status, reason)) + event("[DONE]");
}

/// A reason may repeat data that a client has sent: in JSON a "<" is written so that no browser takes it for
/// a tag.
std::string error_body(int status, const std::string& reason) {
  std::string body;
  for (const char letter : dumped({{"error", {{"message", reason}, {"type", error_type(status)}}}}))
    body += letter == '<' ? "\\u003c" : std::string(1, letter);
  return body;
}

}  // namespace encore::serve
