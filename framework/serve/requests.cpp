// SPDX-License-Identifier: BSD-3-Clause
// Parses the JSON bodies of requests to models, and checks the values of their members. service.cpp calls it.
// routes.cpp lists the members and their types; this file defines what they mean. Clients depend on both:
// members may be added, not renamed. Read requests.hpp first.
#include "serve/requests.hpp"

#include <cmath>
#include <limits>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "base/nearest.hpp"
#include "record/generate_request.hpp"
#include "serve/refusal.hpp"

namespace encore::serve {
namespace {

using nlohmann::json;

/// Tokens of a text if the request does not say how many: the default of OpenAI's interface.
constexpr std::int64_t default_max_tokens = 16;

std::string kind_of(const json& value) {
  if (value.is_string()) return "a text";
  if (value.is_boolean()) return "true or false";
  if (value.is_number()) return "a number";
  if (value.is_null()) return "null";
  return value.is_array() ? "a list" : "an object";
}

std::string wanted(FieldType type) {
  switch (type) {
    case FieldType::text:
      return "a text";
    case FieldType::texts:
      return "a text or a list of them";
    case FieldType::integer:
      return "a whole number";
    case FieldType::number:
      return "a number";
    case FieldType::flag:
      return "true or false";
    case FieldType::object:
      return "an object";
    case FieldType::neutral:
      break;
  }
  return "";
}

bool has_type(const json& value, FieldType type) {
  switch (type) {
    case FieldType::text:
      return value.is_string();
    case FieldType::texts:
      return value.is_string() || value.is_array();
    case FieldType::integer:
      return value.is_number_integer();
    case FieldType::number:
      return value.is_number();
    case FieldType::flag:
      return value.is_boolean();
    case FieldType::object:
      return value.is_object();
    case FieldType::neutral:
      break;
  }
  return false;
}

[[noreturn]] void refuse(const std::string& reason) {
  throw Refusal(400, reason);
}

void require_neutral(const RouteField& field, const json& value) {
  const json accepted = parse_json(field.neutral);
  if (value.is_null() || std::ranges::find(accepted, value) != accepted.end()) return;
  refuse("\"" + std::string(field.name) + "\" is not supported; leave it out, or send " +
         accepted.front().dump());
}

/// A body whose members are those of its route, with the right types.
class Body {
 public:
  Body(const Route& route, const std::string& text) {
    try {
      json_ = parse_json(text);
    } catch (const JsonError& error) {
      refuse(std::string("the body: ") + error.what());
    }
    if (!json_.is_object()) refuse("the body must be a JSON object, not " + kind_of(json_));
    std::vector<std::string> names;
    for (const RouteField& field : route.fields) names.emplace_back(field.name);
    for (const auto& [name, value] : json_.items()) {
      const auto field = std::ranges::find(route.fields, name,
                                           [](const RouteField& each) { return std::string(each.name); });
      if (field == route.fields.end())
        refuse("unknown member \"" + name + "\"" +
               did_you_mean(name, names, "; " + std::string(route.path) + " takes " + quoted_list(names)));
      if (field->type == FieldType::neutral)
        require_neutral(*field, value);
      else if (!value.is_null() && !has_type(value, field->type))
        refuse("\"" + name + "\" must be " + wanted(field->type) + ", not " + kind_of(value));
    }
    for (const RouteField& field : route.fields)
      if (field.required && !has(field.name))
        refuse("\"" + std::string(field.name) + "\" is missing: " + field.help);
  }

  /// Returns whether the body has the member. null counts as missing.
  bool has(const char* name) const { return json_.contains(name) && !json_.at(name).is_null(); }
  /// Returns whether the member exists and is neither null nor an empty list.
  bool has_any(const char* name) const { return has(name) && !json_.at(name).empty(); }
  std::string text(const char* name) const { return has(name) ? json_.at(name).get<std::string>() : ""; }
  bool flag(const char* name) const { return has(name) && json_.at(name).get<bool>(); }
  std::optional<double> number(const char* name) const {
    if (!has(name)) return {};
    const double value = json_.at(name).get<double>();
    if (!std::isfinite(value)) refuse("\"" + std::string(name) + "\" must be a finite number");
    return value;
  }
  std::optional<std::int64_t> integer(const char* name, std::int64_t least) const {
    if (!has(name)) return {};
    const json& value = json_.at(name);
    const bool huge =
        value.is_number_unsigned() &&
        value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (huge || value.get<std::int64_t>() < least)
      refuse("invalid \"" + std::string(name) + "\" " + value.dump() + ": expected a whole number from " +
             std::to_string(least));
    return value.get<std::int64_t>();
  }
  std::string object(const char* name) const { return json_.at(name).dump(); }
  std::vector<std::string> texts(const char* name) const {
    if (!has(name)) return {};
    const json& value = json_.at(name);
    if (value.is_string()) return {value.get<std::string>()};
    std::vector<std::string> all;
    for (const json& each : value) {
      if (!each.is_string())
        refuse("\"" + std::string(name) + "\" has " + kind_of(each) + " at place " +
               std::to_string(all.size()) + " of its list; it must be a text or a list of them");
      all.push_back(each.get<std::string>());
    }
    if (all.empty()) refuse("\"" + std::string(name) + "\" is an empty list; give at least one text");
    return all;
  }

 private:
  json json_;
};

std::string writing_of(const Body& body, const std::vector<std::string>& prompts,
                       const RequestLimits& limits) {
  record::GenerateRequest request{.prompts = prompts, .json = true};
  record::DecodingWishes& wishes = request.decoding;
  wishes.max_tokens = body.integer("max_tokens", 1).value_or(default_max_tokens);
  if (*wishes.max_tokens > limits.max_tokens)
    refuse("invalid \"max_tokens\" " + std::to_string(*wishes.max_tokens) + ": this server writes at most " +
           std::to_string(limits.max_tokens));
  wishes.temperature = body.number("temperature");
  wishes.top_p = body.number("top_p");
  if (wishes.top_p == 1.0 && !wishes.temperature)
    wishes.top_p.reset();  // clients send the default 1, which asks for no draws
  wishes.top_k = body.integer("top_k", 0);
  wishes.texts = body.integer("n", 1);
  wishes.beam = body.integer("beam", 1);
  wishes.length_penalty = body.number("length_penalty");
  wishes.repetition_penalty = body.number("repetition_penalty");
  if (const auto seed = body.integer("seed", 0)) wishes.seed = static_cast<std::uint64_t>(*seed);
  if (body.has_any("stop")) wishes.stop = body.texts("stop");
  for (const std::string& stop : wishes.stop)
    if (stop.empty()) refuse("\"stop\" has an empty string, at which every text would end");
  const std::int64_t most = static_cast<std::int64_t>(limits.texts);
  for (const auto& [name, count] : {std::pair("n", wishes.texts), std::pair("beam", wishes.beam)})
    if (count.value_or(1) > most / static_cast<std::int64_t>(prompts.size()))
      throw Refusal(413, "invalid \"" + std::string(name) + "\" " + std::to_string(*count) + " for " +
                             std::to_string(prompts.size()) + " prompts: this server writes at most " +
                             std::to_string(most) + " outputs per request");
  if (const std::string wrong = record::contradiction_in(wishes.over(Decoding())); !wrong.empty())
    refuse(wrong);
  return request.text();
}

/// Returns the group of a request. It is a name such as a brand, which tables show, and not a text of users.
std::string group_in(const Body& body) {
  constexpr std::size_t most_bytes = 64;
  std::string group = body.text("group");
  if (!body.has("group")) return group;
  const bool is_plain = std::ranges::none_of(
      group, [](char letter) { return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f; });
  if (group.empty() || group.size() > most_bytes || !is_plain)
    refuse("invalid \"group\": expected a name of 1 to " + std::to_string(most_bytes) +
           " bytes without control characters, such as that of a brand");
  return group;
}

const char* texts_field(RouteWork work) {
  return work == RouteWork::predict ? "inputs" : work == RouteWork::embeddings ? "input" : "prompt";
}

record::ServeWork work_of(RouteWork work) {
  return work == RouteWork::predict      ? record::ServeWork::answer
         : work == RouteWork::embeddings ? record::ServeWork::vector
                                         : record::ServeWork::writing;
}

}  // namespace

FeedbackRequest parse_feedback(const Route& route, const std::string& text) {
  const Body body(route, text);
  FeedbackRequest request{.id = body.text("id"),
                          .text = static_cast<std::size_t>(body.integer("text", 0).value_or(0)),
                          .answer = body.object("answer")};
  if (request.answer == "{}")
    refuse("\"answer\" is empty; name members of the answer with their true values");
  return request;
}

ReviewAction parse_review(const Route& route, const std::string& text) {
  const Body body(route, text);
  const std::string order = body.text("order");
  const std::optional<review::Order> known = review::order_from(order.empty() ? "uncertainty" : order);
  if (!known) refuse("invalid \"order\" \"" + order + "\": expected \"uncertainty\" or \"age\"");
  return {.work = route.work,
          .item = body.text("item"),
          .label = body.text("label"),
          .reviewer = body.text("reviewer"),
          .order = *known,
          .skip = body.flag("skip"),
          .new_label = body.flag("new_label")};
}

ServeRequest parse_request(const Route& route, const std::string& text, const RequestLimits& limits) {
  const Body body(route, text);
  ServeRequest request{.model = body.text("model"),
                       .work = work_of(route.work),
                       .truncates = body.flag("truncate"),
                       .scored = body.flag("scores"),
                       .texts = body.texts(texts_field(route.work)),
                       .streams = body.flag("stream")};
  if (request.texts.size() > limits.texts)
    throw Refusal(413, "the request has " + std::to_string(request.texts.size()) +
                           " inputs; this server takes at most " + std::to_string(limits.texts) +
                           " at a time");
  const std::string format = body.text("encoding_format");
  if (!format.empty() && format != "float" && format != "base64")
    refuse("invalid \"encoding_format\" \"" + format + "\": expected \"float\" or \"base64\"");
  request.base64 = format == "base64";
  if (request.work == record::ServeWork::answer) request.group = group_in(body);
  if (request.work == record::ServeWork::vector) request.dimensions = body.integer("dimensions", 1);
  if (request.work != record::ServeWork::writing) return request;
  request.writing = writing_of(body, request.texts, limits);
  if (request.streams && (request.texts.size() > 1 || body.integer("n", 1).value_or(1) > 1))
    refuse("\"stream\" needs one prompt with one output; leave it out, or send one prompt with n = 1");
  return request;
}

}  // namespace encore::serve
