// SPDX-License-Identifier: BSD-3-Clause
// The table of all routes of `exp serve`, and the OpenAPI document and docs/reference/serving_api.md that are
// made from it. A new route or member is added here; its meaning is in requests.cpp and service.cpp. Clients
// depend on the names. Read routes.hpp first.
#include "serve/routes.hpp"

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"

namespace encore::serve {
namespace {

using Json = nlohmann::ordered_json;

const RouteField model_field = {"model", FieldType::text, false,
                                "the name of a model; may be left out where only one is served"};
const RouteField truncate_field = {
    "truncate", FieldType::flag, false,
    "true: use only the beginning of a text that is too long for the model; otherwise the request is "
    "refused with 400"};

/// Makes a member that clients of OpenAI send and that is not supported; only values that request nothing are
/// accepted.
constexpr RouteField neutral_field(
    const char* name, const char* values,
    const char* help = "not supported: accepted with a value that requests nothing") {
  return {name, FieldType::neutral, false, help, values};
}

Json field_schema(const RouteField& field) {
  Json schema;
  switch (field.type) {
    case FieldType::text:
      schema = {{"type", "string"}};
      break;
    case FieldType::texts:
      schema = {
          {"oneOf",
           {{{"type", "string"}}, {{"type", "array"}, {"items", {{"type", "string"}}}, {"minItems", 1}}}}};
      break;
    case FieldType::integer:
      schema = {{"type", "integer"}};
      break;
    case FieldType::number:
      schema = {{"type", "number"}};
      break;
    case FieldType::flag:
      schema = {{"type", "boolean"}};
      break;
    case FieldType::object:
      schema = {{"type", "object"}};
      break;
    case FieldType::neutral:
      schema = {{"enum", parse_json<Json>(field.neutral)}, {"nullable", true}};
      break;
  }
  schema["description"] = field.help;
  return schema;
}

std::string type_text(const RouteField& field) {
  switch (field.type) {
    case FieldType::text:
      return "text";
    case FieldType::texts:
      return "text, or list of text";
    case FieldType::integer:
      return "whole number";
    case FieldType::number:
      return "number";
    case FieldType::flag:
      return "true or false";
    case FieldType::object:
      return "object";
    case FieldType::neutral: {
      std::string values;
      for (const Json& value : parse_json<Json>(field.neutral)) values += "`" + value.dump() + "` or ";
      return values + "`null`";
    }
  }
  return "";
}

struct ErrorStatus {
  int status;
  const char* meaning;
};

/// The error statuses of every route with a body.
const std::vector<ErrorStatus>& error_statuses() {
  static const std::vector<ErrorStatus> list = {
      {400,
       "the request has no field Host or several, or another Transfer-Encoding than chunked; the body is not "
       "JSON, has a wrong or unknown member, or an input that the model cannot process; the message says "
       "which "
       "and why"},
      {401, "the token is missing or wrong"},
      {403, "Host names another machine, or Origin another page, on a server for this machine only"},
      {404, "there is no such route or model, or the request of the feedback is unknown"},
      {405, "the route takes another method, named in Allow"},
      {408, "the request did not arrive completely in time"},
      {413, "the body is too long, or has too many inputs"},
      {415, "the Content-Type of the body is not application/json"},
      {429, "the queue is full; try again after Retry-After"},
      {431, "the head of the request is too long"},
      {500, "a fault of Encore; please report it"},
      {503,
       "no worker is ready, the answer took too long, the work has ended two workers, or too many "
       "connections are open; the message says which"}};
  return list;
}

Json request_body(const Route& route) {
  Json properties = Json::object(), required = Json::array();
  for (const RouteField& field : route.fields) {
    properties[field.name] = field_schema(field);
    if (field.required) required.push_back(field.name);
  }
  return {{"required", true},
          {"content",
           {{"application/json",
             {{"schema",
               {{"type", "object"},
                {"properties", properties},
                {"required", required},
                {"additionalProperties", false}}}}}}}};
}

Json responses(const Route& route) {
  const Json error = {
      {"type", "object"},
      {"properties",
       {{"error",
         {{"type", "object"},
          {"properties", {{"message", {{"type", "string"}}}, {"type", {{"type", "string"}}}}}}}}}};
  Json all = {{"200", {{"description", route.answer}, {"content", {{route.content_type, Json::object()}}}}}};
  for (const ErrorStatus& status : error_statuses())
    if (!route.fields.empty())
      all[std::to_string(status.status)] = {{"description", status.meaning},
                                            {"content", {{"application/json", {{"schema", error}}}}}};
  return all;
}

std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, 1, '\\');
  return text;
}

}  // namespace

const std::vector<Route>& routes() {
  static const std::vector<Route> list = {
      {.method = "POST",
       .path = "/v1/predict",
       .work = RouteWork::predict,
       .open = false,
       .summary = "the answers of the model to inputs, for every task",
       .fields = {{"inputs", FieldType::texts, true, "the inputs: each of them as a line of `exp predict`"},
                  model_field,
                  truncate_field,
                  {"scores", FieldType::flag, false,
                   "true: with probabilities, of each answer (`score`) and of every label (`scores`). A task "
                   "without them is refused with 400"}},
       .answer = "`model`, `digest`, `step` and `version` name the model that answered; `results` has an "
                 "object for "
                 "each input, as `exp predict --json` prints it, and with `scores` as `exp predict --scores "
                 "--json` "
                 "does"},
      {.method = "POST",
       .path = "/v1/embeddings",
       .work = RouteWork::embeddings,
       .open = false,
       .summary = "vectors of inputs, in the form of OpenAI's interface",
       .fields = {{"input", FieldType::texts, true, "the inputs"},
                  model_field,
                  {"encoding_format", FieldType::text, false,
                   "`float`, or `base64`: the bytes of float32 values, little endian"},
                  truncate_field,
                  {"dimensions", FieldType::integer, false,
                   "accepted if it is the length of the model's vectors"},
                  {"user", FieldType::text, false, "accepted and ignored"}},
       .answer = "`data` has a vector for each input, the same as `exp embed` gives; `usage` counts tokens"},
      {.method = "POST",
       .path = "/v1/completions",
       .work = RouteWork::completions,
       .open = false,
       .summary = "text that the model writes after prompts, in the form of OpenAI's interface",
       .fields = {{"prompt", FieldType::texts, true, "the prompts"},
                  model_field,
                  {"max_tokens", FieldType::integer, false, "tokens of a text at most; 16 where left out"},
                  {"temperature", FieldType::number, false,
                   "above 0: tokens are drawn. Without it, the decoding of the task is used, as with "
                   "`exp generate`"},
                  {"top_p", FieldType::number, false,
                   "draw from the fewest tokens that have this share together"},
                  {"top_k", FieldType::integer, false, "draw from this number of the most probable tokens"},
                  {"seed", FieldType::integer, false, "the seed of the draws; 0 where left out"},
                  {"n", FieldType::integer, false, "outputs for each prompt"},
                  {"beam", FieldType::integer, false, "keep this number of the most probable outputs"},
                  {"length_penalty", FieldType::number, false,
                   "a text of n tokens has the score log p / n^length_penalty"},
                  {"repetition_penalty", FieldType::number, false,
                   "above 1: tokens that the text has already are less probable"},
                  {"stop", FieldType::texts, false, "a text ends before the first of these"},
                  {"stream", FieldType::flag, false,
                   "true: send one output of one prompt as it grows, as server-sent events"},
                  neutral_field("best_of", "[1]"),
                  neutral_field("echo", "[false]"),
                  neutral_field("frequency_penalty", "[0]"),
                  neutral_field("logit_bias", "[{}]"),
                  neutral_field("logprobs", "[false]"),
                  neutral_field("presence_penalty", "[0]"),
                  neutral_field("stream_options", R"([{}, {"include_usage": true}])",
                                "changes nothing: the last event of a stream always has `usage`"),
                  neutral_field("suffix", R"([""])"),
                  {"user", FieldType::text, false, "accepted and ignored"}},
       .answer = "`choices` has the outputs, the same as `exp generate` writes; `usage` counts tokens. As a "
                 "stream: events of the same form with the new parts, then `[DONE]`"},
      {.method = "POST",
       .path = "/v1/feedback",
       .work = RouteWork::feedback,
       .open = false,
       .summary = "the true answer to an input, for a server with `--monitor`",
       .fields = {{"id", FieldType::text, true,
                   "the request: the field `X-Request-Id` in the head of its answer"},
                  {"text", FieldType::integer, false,
                   "the index of the input in that request, from 0; default 0"},
                  {"answer", FieldType::object, true,
                   "the truth: members of the answer with their true values; the answer "
                   "was right if it has all of them"}},
       .answer = "`id` and `text`, and whether the answer was right: `correct`"},
      {.method = "GET",
       .path = "/v1/models",
       .work = RouteWork::models,
       .open = false,
       .summary = "the models that are served",
       .answer =
           "`data` has for each its name (`id`), whether it is `ready`, the digest of its weights, the step "
           "of its training, its `task`, the `fields` of an input of `/v1/predict`, which tabs separate "
           "(such as `question` and `context`), the `labels` of its classes, and its `routes`"},
      {.method = "GET",
       .path = "/healthz",
       .work = RouteWork::alive,
       .open = true,
       .summary = "whether the server runs",
       .content_type = "text/plain",
       .answer = "`ok`"},
      {.method = "GET",
       .path = "/readyz",
       .work = RouteWork::ready,
       .open = true,
       .summary = "whether every model has a worker; 503 before that, and while the server ends",
       .content_type = "text/plain",
       .answer = "`ok`"},
      {.method = "GET",
       .path = "/metrics",
       .work = RouteWork::metrics,
       .open = false,
       .summary = "the counters of the server, for Prometheus",
       .content_type = "text/plain; version=0.0.4",
       .answer = "counters, gauges and histograms in Prometheus' text format"},
      {.method = "GET",
       .path = "/",
       .work = RouteWork::page,
       .open = true,
       .summary = "a page to try the models",
       .content_type = "text/html; charset=utf-8",
       .answer = "a page that loads nothing from elsewhere"},
      {.method = "GET",
       .path = "/openapi.json",
       .work = RouteWork::openapi,
       .open = true,
       .summary = "this table for programs",
       .answer = "an OpenAPI 3.0 document"}};
  return list;
}

std::string openapi_document(const std::string& version) {
  Json document = {
      {"openapi", "3.0.3"},
      {"info",
       {{"title", "Encore"},
        {"description",
         "Models of Encore over HTTP. If the server has a token, requests need "
         "Authorization: Bearer TOKEN."},
        {"version", version}}},
      {"components", {{"securitySchemes", {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}}}},
      {"paths", Json::object()}};
  for (const Route& route : routes()) {
    Json operation = {{"summary", route.summary}, {"responses", responses(route)}};
    if (!route.fields.empty()) operation["requestBody"] = request_body(route);
    // Only a server with a token needs one: both are allowed here.
    if (!route.open) operation["security"] = Json::array({{{"token", Json::array()}}, Json::object()});
    const std::string method = std::string(route.method) == "POST" ? "post" : "get";
    document["paths"][route.path][method] = std::move(operation);
  }
  return document.dump(2);
}

std::string routes_page() {
  std::string page =
      "# The routes of `exp serve`\n\n"
      "This page is made from the table of routes (`framework/serve/routes.cpp`), as is `GET /openapi.json` "
      "of a "
      "server.\n[Deployment](../guides/deployment.md) says how to start and run a server.\n\n"
      "Bodies are JSON with `Content-Type: application/json`. Every answer to inputs has `model`, the name "
      "of its "
      "run;\n`digest`, the SHA-256 of its weights; `step`, after which training took them; and `version`, "
      "that of "
      "Encore. An error\nis `{\"error\": {\"message\", \"type\"}}` with one of the states below.\n";
  for (const Route& route : routes()) {
    page += "\n## `" + std::string(route.method) + " " + route.path + "`\n" + route.summary +
            (route.open ? "; needs no token" : "") + ".\n\n";
    if (!route.fields.empty()) page += "| member | type | meaning |\n|---|---|---|\n";
    for (const RouteField& field : route.fields)
      page += "| `" + std::string(field.name) + "`" + (field.required ? ", required" : "") + " | " +
              type_text(field) + " | " + cell(field.help) + " |\n";
    page += std::string(route.fields.empty() ? "" : "\n") + "Answer (" + route.content_type +
            "): " + route.answer + ".\n";
  }
  page += "\n## States\n| state | meaning |\n|---|---|\n";
  for (const ErrorStatus& status : error_statuses())
    page += "| " + std::to_string(status.status) + " | " + status.meaning + " |\n";
  return page;
}

}  // namespace encore::serve
