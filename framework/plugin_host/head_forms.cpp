// SPDX-License-Identifier: BSD-3-Clause
// head_forms(): makes the head for a task with targets over each space, lets it declare, and reads its plan.
// It needs no memory for a model and no device. manifest_tool.cpp calls it when a plugin is built. Pages of
// plugins show the result; no run depends on it. Read loader.hpp first.
#include "plugin_host/loader.hpp"

#include <algorithm>
#include <optional>

#include "plugin_host/default_options.hpp"
#include "plugin_host/make_offer.hpp"

namespace encore::plugin_host {
namespace {

// These sizes of a model occur nowhere else, so an extent shows which of them it is.
constexpr std::int64_t width = 1 << 10, classes = 131, vocabulary = 10007;

std::string size_text(std::int64_t size) {
  if (size == width) return "width";
  if (size == classes) return "classes";
  if (size == vocabulary) return "vocabulary";
  return std::to_string(size);
}

HeadContext context_for(Space targets, bool weighed) {
  HeadContext context{.width = width, .classes = classes, .vocabulary = vocabulary};
  context.labels.emplace_back("O");
  for (std::int64_t i = 1; i < classes; ++i)  // a tagging scheme, for heads that know one
    context.labels.push_back((i % 2 == 1 ? "B-" : "I-") + std::to_string((i + 1) / 2));
  context.columns.push_back({.name = targets_column, .space = targets, .truth = true});
  if (weighed)
    context.columns.push_back(
        {.name = weights_column, .space = targets, .type = ColumnType::numbers, .truth = true});
  return context;
}

/// Returns nothing if the head refuses such a task.
std::optional<HeadPlan> plan_of(const Offer& offer, Space targets, bool weighed) try {
  const std::unique_ptr<Head> head =
      make_offer<Kind::head>(offer, default_options(offer.options), context_for(targets, weighed));
  HeadPlan plan(width);
  head->declare(plan);
  return plan;
} catch (const std::exception&) {
  return {};
}

config::HeadValue column_of(const ColumnNeed& need) {
  return {.name = need.name,
          .space = need.space,
          .type = need.type,
          .width = size_text(need.width),
          .below = need.below == 0 ? "" : size_text(need.below)};
}

config::HeadForm form_of(const Offer& offer, const HeadPlan& plan, Space targets) {
  config::HeadForm form{.targets = {targets}, .reads = plan.reads()};
  for (const ColumnNeed& need : plan.columns()) form.columns.push_back(column_of(need));
  for (const OutputRule& rule : plan.outputs())
    form.outputs.push_back({.name = rule.name,
                            .space = rule.space,
                            .type = rule.type,
                            .width = size_text(rule.width),
                            .on_request = rule.on_request});
  for (const ParameterSpec& spec : plan.parameters())
    if (!spec.alias.empty()) form.ties.push_back(spec.alias);
  form.couples_sequences = plan.couples_sequences();
  if (const std::optional<HeadPlan> weighed = plan_of(offer, targets, true))
    for (const ColumnNeed& need : weighed->columns())
      if (std::ranges::find(plan.columns(), need) == plan.columns().end())
        form.optional_columns.push_back(column_of(need));
  return form;
}

}  // namespace

std::vector<config::HeadForm> head_forms(const Offer& offer) {
  std::vector<config::HeadForm> forms;
  if (offer.kind != Kind::head) return forms;
  for (const Space targets : {Space::tokens, Space::sequences, Space::picked}) {
    const std::optional<HeadPlan> plan = plan_of(offer, targets, false);
    if (!plan) continue;
    const auto found = std::ranges::find(plan->columns(), std::string(targets_column), &ColumnNeed::name);
    if (found != plan->columns().end() && found->space != targets) continue;  // no such task fits
    config::HeadForm form = form_of(offer, *plan, targets);
    const auto same = std::ranges::find_if(forms, [&](config::HeadForm other) {
      other.targets = form.targets;
      return other == form;
    });
    if (same == forms.end())
      forms.push_back(std::move(form));
    else
      same->targets.push_back(targets);
  }
  return forms;
}

}  // namespace encore::plugin_host
