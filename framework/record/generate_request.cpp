// SPDX-License-Identifier: BSD-3-Clause
// GenerateRequest: converts the request of `exp generate` to and from JSON, and checks ranges and
// combinations of decoding options. app/predict.cpp writes it, the worker reads it; serve/requests.cpp uses
// the same checks. Both programs come from one build, so the JSON may change. Read generate_request.hpp
// first.
#include "record/generate_request.hpp"

#include <cmath>

#include <encore/error.hpp>
#include <nlohmann/json.hpp>

#include "base/json_fields.hpp"
#include "base/json_text.hpp"

namespace encore::record {
namespace {

constexpr std::int64_t most_texts = 32;  // followed at a time; kernels::largest_channels gives twice as many

/// Returns the shortest text of a number: "0.5", "2".
std::string number(double value) {
  return nlohmann::json(value).dump();
}

std::string out_of_range(const Decoding& of, const DecodingNames& names) {
  const auto whole = [](const char* name, std::int64_t value, std::int64_t least) {
    return std::string(name) + " is " + std::to_string(value) + "; it must be at least " +
           std::to_string(least);
  };
  if (of.beam < 1 || of.beam > most_texts)
    return std::string(names.beam) + " is " + std::to_string(of.beam) + "; it must be from 1 to " +
           std::to_string(most_texts);
  if (of.texts < 1) return whole(names.texts, of.texts, 1);
  if (of.top_k < 0) return whole(names.top_k, of.top_k, 0);
  if (of.max_tokens < 0) return whole(names.max_tokens, of.max_tokens, 0);
  if (!(of.temperature >= 0.0) || std::isinf(of.temperature))
    return std::string(names.temperature) + " is " + number(of.temperature) +
           "; it must be 0, or a number above";
  if (!(of.top_p > 0.0 && of.top_p <= 1.0))
    return std::string(names.top_p) + " is " + number(of.top_p) + "; it must be above 0 and at most 1";
  if (!(of.repetition_penalty > 0.0) || std::isinf(of.repetition_penalty))
    return std::string(names.repetition_penalty) + " is " + number(of.repetition_penalty) +
           "; it must be above 0";
  if (!std::isfinite(of.length_penalty))
    return std::string(names.length_penalty) + " is " + number(of.length_penalty) + "; it must be a number";
  for (const std::string& stop : of.stop)
    if (stop.empty())
      return std::string("a text of ") + names.stop + " is empty; every text would end at once";
  return {};
}

}  // namespace

std::string contradiction_in(const Decoding& decoding, const DecodingNames& names) {
  if (std::string wrong = out_of_range(decoding, names); !wrong.empty()) return wrong;
  const std::string draws = std::string(names.temperature) + " = " + number(decoding.temperature);
  if (decoding.temperature > 0.0 && decoding.beam > 1)
    return std::string(names.beam) + " = " + std::to_string(decoding.beam) +
           " follows the most probable sequences, and " + draws + " draws tokens; give one of them";
  if (decoding.temperature == 0.0 && decoding.top_k > 0)
    return std::string(names.top_k) + " = " + std::to_string(decoding.top_k) + " limits draws, but with " +
           draws + " nothing is drawn; give a temperature above 0";
  if (decoding.temperature == 0.0 && decoding.top_p < 1.0)
    return std::string(names.top_p) + " = " + number(decoding.top_p) + " limits draws, but with " + draws +
           " nothing is drawn; give a temperature above 0";
  if (decoding.temperature == 0.0 && decoding.texts > decoding.beam)
    return std::string(names.texts) + " = " + std::to_string(decoding.texts) + " are more than a beam of " +
           std::to_string(decoding.beam) + " follows; give a beam of " + std::to_string(decoding.texts) +
           ", or a temperature above 0 to draw them";
  return {};
}

Decoding DecodingWishes::over(Decoding decoding) const {
  const bool cuts = (top_k || top_p) && !beam && !temperature;
  const bool draws = temperature.value_or(0.0) > 0.0 || cuts;
  if (draws && !beam) decoding.beam = 1;
  if (beam && !draws) {
    decoding.temperature = 0.0;
    decoding.top_k = 0;
    decoding.top_p = 1.0;
  }
  if (draws && decoding.temperature == 0.0) decoding.temperature = 1.0;
  decoding.beam = beam.value_or(decoding.beam);
  decoding.top_k = top_k.value_or(decoding.top_k);
  decoding.texts = texts.value_or(decoding.texts);
  decoding.max_tokens = max_tokens.value_or(decoding.max_tokens);
  decoding.length_penalty = length_penalty.value_or(decoding.length_penalty);
  decoding.temperature = temperature.value_or(decoding.temperature);
  decoding.top_p = top_p.value_or(decoding.top_p);
  decoding.repetition_penalty = repetition_penalty.value_or(decoding.repetition_penalty);
  decoding.seed = seed.value_or(decoding.seed);
  if (!stop.empty()) decoding.stop = stop;
  return decoding;
}

static void list(auto& field, A<DecodingWishes> auto& wishes) {
  field.optional("beam", wishes.beam);
  field.optional("top_k", wishes.top_k);
  field.optional("texts", wishes.texts);
  field.optional("max_pieces", wishes.max_tokens);
  field.optional("length_penalty", wishes.length_penalty);
  field.optional("temperature", wishes.temperature);
  field.optional("top_p", wishes.top_p);
  field.optional("repetition_penalty", wishes.repetition_penalty);
  field.optional("seed", wishes.seed);
  field("stop", wishes.stop);
}

static void list(auto& field, A<GenerateRequest> auto& request) {
  field("prompts", request.prompts);
  field("decoding", request.decoding);
  field("json", request.json);
}

std::string GenerateRequest::text() const {
  return to_json_object(*this).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

GenerateRequest GenerateRequest::parse(const std::string& text) try {
  return from_json_object<GenerateRequest>(parse_json(text));
} catch (const std::exception& error) {
  throw Error(std::string("generate: the request on standard input cannot be read: ") + error.what());
}

}  // namespace encore::record
