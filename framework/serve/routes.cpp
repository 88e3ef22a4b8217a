// SPDX-License-Identifier: BSD-3-Clause
// The table of all routes of `exp serve`, and the OpenAPI document and docs/reference/serving_api.md that are
// made from it. A new route or member is added here; its meaning is in requests.cpp and service.cpp. Clients
// depend on the names: add, never rename. Read routes.hpp first.
#include "serve/routes.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"

namespace encore::serve {
namespace {

using Json = nlohmann::ordered_json;

const RouteField model_field = {"model", FieldType::text, false,
                                "the name of the model; required only if the server has several"};
const RouteField truncate_field = {"truncate", FieldType::flag, false,
                                   "true: use only the beginning of an input that is too long for the model; "
                                   "false (default): refuse the request with 400"};

const RouteField item_field = {"item", FieldType::text, true, "the id of the item"};
const RouteField reviewer_field = {"reviewer", FieldType::text, true, "the name of the reviewer"};

/// The answer of the routes that look at one item of the review queue.
const std::vector<AnswerMember> item_members = {
    {"item", "the item; null if `POST /v1/review/claim` finds that none waits"},
    {"item.id", "the id of the item"},
    {"item.run", "the id of the run of the application that answered the request"},
    {"item.digest", "the digest of this application"},
    {"item.band",
     "what the application did with the request: `answer`, `review` (left it to a person) or `refuse`"},
    {"item.reason", "why a person sees the item: `review`, or `audit` for a random sample"},
    {"item.proposed", "the label that the application proposes"},
    {"item.confidence", "the probability of this label by the application; null if it has none"},
    {"item.scope", "the probability that the request belongs to no class; null if the application has none"},
    {"item.queued", "when the item was queued, in seconds since 1970"},
    {"item.text", "the input of the request; null if it is not kept"},
    {"item.label", "the label that people gave; null until the item is decided"},
    {"item.holder", "the reviewer who has the item; null if no one has it"},
    {"item.held_until", "the time until which the reviewer has it, in seconds since 1970; null without one"},
    {"waiting", "number of items that wait for a decision"},
    {"done", "number of items that are decided"},
    {"seen", "number of requests in each band that the application answered since the queue began"}};

const std::vector<AnswerMember> status_members = {
    {"application", "the name of the application whose requests are queued"},
    {"opinions", "number of people who must give an item the same label"},
    {"audit", "share of the other requests that are queued at random"},
    {"lease", "seconds for which a reviewer has a claimed item"},
    {"text_days", "days for which the queue keeps inputs; 0: it does not keep them"},
    {"labels", "the labels that a decision may name"},
    {"waiting", "number of items that wait for a decision"},
    {"done", "number of items that are decided"},
    {"seen", "number of requests in each band that the application answered since the queue began"}};

const std::vector<AnswerMember> model_members = {
    {"data[].id", "the name of the model"},
    {"data[].ready", "whether a worker can answer; the members below are missing until one was ready"},
    {"data[].digest", "the SHA-256 of its weights"},
    {"data[].step", "the training step of these weights"},
    {"data[].task", "its task"},
    {"data[].fields",
     "the fields of an input of `/v1/predict`; an input with several fields, such as `question` and "
     "`context`, has a tab between two of them"},
    {"data[].labels", "the labels of its classes"},
    {"data[].routes", "the routes that it can answer"}};

/// Makes a member that clients of OpenAI send and that is not supported; only `values` and null, which
/// request nothing, are accepted.
constexpr RouteField neutral_field(const char* name, const char* values,
                                   const char* help = "not supported; only the listed values are accepted") {
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
       "the head is invalid, for example without the field Host, with several of them, or with a "
       "Transfer-Encoding that is not chunked; the body is not JSON, has a wrong or unknown member, or has "
       "an input that the model cannot process; the message says which and why"},
      {401, "the token is missing or wrong"},
      {403,
       "the server is for programs on its own machine only, and the field Host names another machine, or "
       "Origin a page of another server"},
      {404,
       "there is no such route, model or item; for feedback: the request is unknown, or the server runs "
       "without "
       "`--monitor`; for reviews: the server runs without `--review`"},
      {405, "the route takes another method, which the field Allow names"},
      {408, "the request did not arrive completely in time"},
      {409, "another reviewer has the item, or it is decided already"},
      {413, "the body is too long, or requests too many inputs or outputs"},
      {415, "the Content-Type of the body is not application/json"},
      {429, "the queue is full; try again after the seconds in Retry-After"},
      {431, "the head of the request is too long"},
      {500, "a fault of Encore; please report it"},
      {503,
       "no worker is ready, the answer took too long, the request has crashed two workers, too many "
       "connections are open, the review queue cannot be written, or the server is about to end; the message "
       "says which"}};
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

/// Returns the schema of an object with these members, each with its help.
Json answer_schema(const std::vector<AnswerMember>& members) {
  Json schema = {{"type", "object"}};
  for (const AnswerMember& member : members) {
    Json* object = &schema;
    std::string_view name = member.name;
    for (std::size_t dot = name.find('.'); dot != name.npos; dot = name.find('.')) {
      std::string_view outer = name.substr(0, dot);
      const bool list = outer.ends_with("[]");
      if (list) outer.remove_suffix(2);
      object = &(*object)["properties"][std::string(outer)];
      if (list) {
        (*object)["type"] = "array";
        object = &(*object)["items"];
      }
      (*object)["type"] = "object";
      if (!list) (*object)["nullable"] = true;
      name.remove_prefix(dot + 1);
    }
    (*object)["properties"][std::string(name)]["description"] = member.help;
  }
  return schema;
}

Json responses(const Route& route) {
  const Json error = {
      {"type", "object"},
      {"properties",
       {{"error",
         {{"type", "object"},
          {"properties", {{"message", {{"type", "string"}}}, {"type", {{"type", "string"}}}}}}}}}};
  const Json content =
      route.members == nullptr ? Json::object() : Json{{"schema", answer_schema(*route.members)}};
  Json all = {{"200", {{"description", route.answer}, {"content", {{route.content_type, content}}}}}};
  for (const ErrorStatus& status : error_statuses())
    if (!route.fields.empty())
      all[std::to_string(status.status)] = {{"description", status.meaning},
                                            {"content", {{"application/json", {{"schema", error}}}}}};
  return all;
}

/// Breaks a paragraph at its blanks into lines of at most 120 characters, as in the other pages of docs/.
std::string in_lines(const std::string& paragraph) {
  constexpr std::size_t longest_line = 120;
  std::istringstream words(paragraph);
  std::string lines;
  std::size_t length = 0;
  for (std::string word; words >> word; length += word.size()) {
    const bool fits = length + 1 + word.size() <= longest_line;
    if (!lines.empty()) lines += fits ? ' ' : '\n';
    length = fits && !lines.empty() ? length + 1 : 0;
    lines += word;
  }
  return lines + "\n";
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
       .summary = "Returns the answer of the model to each input, as `exp predict` does",
       .fields = {{"inputs", FieldType::texts, true,
                   "the inputs, each in the form of a line that `exp predict` reads"},
                  model_field,
                  truncate_field,
                  {"scores", FieldType::flag, false,
                   "true: add the probability of each answer (`score`) and those of all labels (`scores`); a "
                   "model whose task has no probabilities refuses the request with 400"},
                  {"group", FieldType::text, false,
                   "a name of at most 64 bytes, such as a brand, that `--monitor` stores with the numbers of "
                   "the request, so that alerts and tables can divide the inputs by it"}},
       .answer =
           "`results` has an object for each input, the same that `exp predict --json` prints, or with "
           "`scores` the same that `exp predict --json --scores` prints. An input that was read in several "
           "windows has their number in `windows`; `truncated` says what an answer does not depend on "
           "because the input was cut"},
      {.method = "POST",
       .path = "/v1/embeddings",
       .work = RouteWork::embeddings,
       .open = false,
       .summary = "Returns a vector for each input, in the form of OpenAI's interface",
       .fields = {{"input", FieldType::texts, true, "the inputs"},
                  model_field,
                  {"encoding_format", FieldType::text, false,
                   "`float` (default): each vector is a list of numbers; `base64`: the bytes of its float32 "
                   "values, little endian"},
                  truncate_field,
                  {"dimensions", FieldType::integer, false,
                   "accepted only if it equals the length of the model's vectors"},
                  {"user", FieldType::text, false, "accepted and ignored"}},
       .answer = "`data` has a vector for each input, the same that `exp embed` prints, with `windows` and "
                 "`truncated` "
                 "as in the answer of `/v1/predict`; `usage` counts tokens"},
      {.method = "POST",
       .path = "/v1/completions",
       .work = RouteWork::completions,
       .open = false,
       .summary =
           "Returns text that the model generates after each prompt, in the form of OpenAI's interface",
       .fields =
           {{"prompt", FieldType::texts, true, "the prompts"},
            model_field,
            {"max_tokens", FieldType::integer, false, "largest number of tokens of an output; default 16"},
            {"temperature", FieldType::number, false,
             "above 0: draw tokens at random, with logits divided by this number; 0: draw none. Default: 1 "
             "with `top_k` or `top_p`, else the decoding options of the task, as for `exp generate`"},
            {"top_p", FieldType::number, false,
             "draw only from the most probable tokens: from the fewest whose probabilities sum to at least "
             "this share"},
            {"top_k", FieldType::integer, false, "draw only from this number of the most probable tokens"},
            {"seed", FieldType::integer, false, "the seed of the random draws; default 0"},
            {"n", FieldType::integer, false, "number of outputs for each prompt; default 1"},
            {"beam", FieldType::integer, false,
             "beam search: number of the most probable outputs that are kept at each step; default 1, no "
             "beam search"},
            {"length_penalty", FieldType::number, false,
             "an output of n tokens has the score log p / n^length_penalty"},
            {"repetition_penalty", FieldType::number, false,
             "above 1: tokens that already occur in the text become less probable"},
            {"stop", FieldType::texts, false,
             "an output ends before the first of these strings that occurs in it"},
            {"stream", FieldType::flag, false,
             "true: send the output as it grows, as server-sent events; the request must have one prompt and "
             "one output"},
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
       .answer =
           "`choices` has the outputs, the same that `exp generate` writes; `usage` counts tokens. A stream "
           "has events of the same form with the new part of the output, and at the end `[DONE]`"},
      {.method = "POST",
       .path = "/v1/feedback",
       .work = RouteWork::feedback,
       .open = false,
       .summary =
           "Records the true answer to an input of an earlier request. The server must run with `--monitor`",
       .fields = {{"id", FieldType::text, true,
                   "the id of the request, from the field `X-Request-Id` in the head of its answer"},
                  {"text", FieldType::integer, false,
                   "the index of the input in that request, from 0; default 0"},
                  {"answer", FieldType::object, true,
                   "members of the answer with their true values; the answer was right if it has all these "
                   "values"}},
       .answer = "`id` and `text` of the request, and `correct`: whether the answer of the model was right"},
      {.method = "POST",
       .path = "/v1/review/claim",
       .work = RouteWork::review_claim,
       .open = false,
       .summary =
           "Gives a reviewer the next item of the review queue, or the one that the reviewer has already. "
           "The server must run with `--review`",
       .fields = {reviewer_field,
                  {"order", FieldType::text, false,
                   "`uncertainty` (default): the lowest confidence first; `age`: the oldest first"}},
       .answer = "the item that the reviewer now has, and the counts of the queue",
       .members = &item_members},
      {.method = "POST",
       .path = "/v1/review/decide",
       .work = RouteWork::review_decide,
       .open = false,
       .summary = "Records the label that a reviewer gives an item. Sending the same decision again changes "
                  "nothing",
       .fields = {item_field,
                  {"label", FieldType::text, true, "the label"},
                  reviewer_field,
                  {"new_label", FieldType::flag, false,
                   "true: accept a label that the queue does not have yet"}},
       .answer = "the item after the decision, and the counts of the queue",
       .members = &item_members},
      {.method = "POST",
       .path = "/v1/review/undo",
       .work = RouteWork::review_undo,
       .open = false,
       .summary =
           "Takes back the decision that a reviewer made about an item. The reviewer then has the item "
           "again",
       .fields = {item_field, reviewer_field},
       .answer = "the item, which the reviewer has again, and the counts of the queue",
       .members = &item_members},
      {.method = "POST",
       .path = "/v1/review/release",
       .work = RouteWork::review_release,
       .open = false,
       .summary = "Gives back an item that a reviewer has claimed",
       .fields = {item_field,
                  reviewer_field,
                  {"skip", FieldType::flag, false,
                   "true: reviewers get the item after all items that were skipped less often"}},
       .answer = "the item after that, and the counts of the queue",
       .members = &item_members},
      {.method = "GET",
       .path = "/v1/review/status",
       .work = RouteWork::review_status,
       .open = false,
       .summary = "Returns the settings of the review queue, its labels and its counts",
       .answer = "the settings and the counts",
       .members = &status_members},
      {.method = "GET",
       .path = "/review",
       .work = RouteWork::review_page,
       .open = true,
       .summary = "Returns a web page on which people decide the items of the review queue",
       .content_type = "text/html; charset=utf-8",
       .answer = "a page that loads nothing from other servers"},
      {.method = "GET",
       .path = "/v1/models",
       .work = RouteWork::models,
       .open = false,
       .summary = "Lists the models of the server",
       .answer = "`data` has an object for each model",
       .members = &model_members},
      {.method = "GET",
       .path = "/healthz",
       .work = RouteWork::alive,
       .open = true,
       .summary = "Reports that the server runs",
       .content_type = "text/plain",
       .answer = "`ok`"},
      {.method = "GET",
       .path = "/readyz",
       .work = RouteWork::ready,
       .open = true,
       .summary = "Reports whether every model has a worker. Before that, and while the server ends, the "
                  "status is 503",
       .content_type = "text/plain",
       .answer = "`ok`"},
      {.method = "GET",
       .path = "/metrics",
       .work = RouteWork::metrics,
       .open = false,
       .summary = "Returns the counters of the server, for Prometheus",
       .content_type = "text/plain; version=0.0.4",
       .answer = "counters, gauges and histograms in Prometheus' text format"},
      {.method = "GET",
       .path = "/",
       .work = RouteWork::page,
       .open = true,
       .summary = "Returns a web page on which a user can try the models",
       .content_type = "text/html; charset=utf-8",
       .answer = "a page that loads nothing from other servers"},
      {.method = "GET",
       .path = "/openapi.json",
       .work = RouteWork::openapi,
       .open = true,
       .summary = "Describes all routes for programs",
       .answer = "an OpenAPI 3.0 document"}};
  return list;
}

namespace {

/// Returns the first route whose answer has these members.
const Route& first_with(const std::vector<AnswerMember>* members) {
  return *std::ranges::find(routes(), members, &Route::members);
}

/// Returns a sentence that names the first route with the same answer, or "" for that route itself.
std::string same_members(const Route& route) {
  if (route.members == nullptr) return "";
  const Route& first = first_with(route.members);
  if (first.path == std::string_view(route.path)) return "";
  return " Its members are those of `" + std::string(first.method) + " " + first.path + "`.";
}

}  // namespace

std::string openapi_document(const std::string& version) {
  Json document = {
      {"openapi", "3.0.3"},
      {"info",
       {{"title", "Encore"},
        {"description",
         "Models of Encore over HTTP. If the server has a token, requests need Authorization: Bearer TOKEN."},
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
      "# The routes of `exp serve`\n\n" +
      in_lines(
          "This page lists the routes of `exp serve`, the HTTP server for trained models: what each route "
          "does, the members of a request, the answer, and the errors. It is for programmers who write a "
          "client. [Deployment](../guides/deployment.md) describes how to start and run a server, and has an "
          "example of a request; the default address is `http://127.0.0.1:8080`. The page is made from the "
          "table of routes (`framework/serve/routes.cpp`), as is the OpenAPI document of "
          "`GET /openapi.json`.") +
      "\n" +
      in_lines(
          "A request body is JSON with `Content-Type: application/json`. If the server has a token, a "
          "request needs the field `Authorization: Bearer TOKEN`, except where a route says otherwise. The "
          "answers of `/v1/predict`, `/v1/embeddings` and `/v1/completions` have the members `model`, the "
          "name of the run; `digest`, the SHA-256 of its weights; `step`, the training step of these "
          "weights; and `version`, the version of Encore. An error is `{\"error\": {\"message\", \"type\"}}` "
          "with one of the [status codes](#status-codes) below.");
  for (const Route& route : routes()) {
    page += "\n## `" + std::string(route.method) + " " + route.path + "`\n" +
            in_lines(std::string(route.summary) + "." + (route.open ? " This route needs no token." : "")) +
            "\n";
    if (!route.fields.empty()) page += "| member | type | meaning |\n|---|---|---|\n";
    for (const RouteField& field : route.fields)
      page += "| `" + std::string(field.name) + "`" + (field.required ? ", required" : "") + " | " +
              type_text(field) + " | " + cell(field.help) + " |\n";
    page += (route.fields.empty() ? "" : "\n") + in_lines("Answer (" + std::string(route.content_type) +
                                                          "): " + route.answer + "." + same_members(route));
    if (route.members == nullptr || first_with(route.members).path != std::string_view(route.path)) continue;
    page += "\n| member of the answer | meaning |\n|---|---|\n";
    for (const AnswerMember& member : *route.members)
      page += "| `" + std::string(member.name) + "` | " + cell(member.help) + " |\n";
  }
  page += "\n## Status codes\n| code | meaning |\n|---|---|\n";
  for (const ErrorStatus& status : error_statuses())
    page += "| " + std::to_string(status.status) + " | " + status.meaning + " |\n";
  return page;
}

}  // namespace encore::serve
