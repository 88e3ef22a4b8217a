// SPDX-License-Identifier: BSD-3-Clause
// review_items(): reads band, label, item, confidence and scope from the answers of an application.
// service.cpp calls it on the loop before a request is answered. Names of fields are those of steps; none is
// known here but those of the rule in encore/step.hpp. Read review_items.hpp first.
#include "serve/review_items.hpp"

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "record/text_hash.hpp"

namespace encore::serve {
namespace {

using nlohmann::json;

/// The name of a text field in which a step gives what people see of a request in place of its input, such as
/// the input and its summary (docs/guides/review.md).
constexpr const char* review_text_field = "item";

std::string text_in(const json& answer, const std::string& field) {
  const auto found = answer.find(field);
  return found != answer.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<double> number_in(const json& answer, const std::string& field) {
  const auto found = answer.find(field);
  return found != answer.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

/// The salt makes the audit independent of other shares that are chosen by the same ids (--monitor).
bool is_audited(const std::string& id, double share) {
  return record::share_of("audit " + id) < share;
}

}  // namespace

std::string item_id(std::string_view request, std::size_t input, std::size_t inputs) {
  return std::string(request) + (inputs > 1 ? "." + std::to_string(input) : "");
}

ReviewIntake review_items(const ReviewedRequest& request, const Job& job, double audit) {
  ReviewIntake intake;
  const std::string step = request.model.band.substr(0, request.model.band.rfind('.') + 1);  // "decide."
  for (std::size_t i = 0; i < job.answers.size(); ++i) {
    const json answer = parse_json<json>(job.answers[i].text);
    const std::optional<review::Band> band = review::band_from(text_in(answer, request.model.band));
    if (!band) continue;
    ++intake.seen[*band];
    std::string id = item_id(request.id, i, job.answers.size());
    const bool is_review = *band == review::Band::review;
    if (!is_review && !is_audited(id, audit)) continue;
    std::string proposed = text_in(answer, step + "label");
    if (proposed.empty()) proposed = text_in(answer, request.model.proposal);
    std::string text = text_in(answer, step + review_text_field);
    if (text.empty()) text = job.texts[i];
    intake.items.push_back({.id = std::move(id),
                            .run = request.run,
                            .digest = request.model.digest,
                            .band = *band,
                            .reason = is_review ? review::Reason::review : review::Reason::audit,
                            .proposed = std::move(proposed),
                            .confidence = number_in(answer, step + "confidence"),
                            .scope = number_in(answer, step + "scope"),
                            .text = std::move(text)});
  }
  return intake;
}

}  // namespace encore::serve
