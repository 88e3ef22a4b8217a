// SPDX-License-Identifier: BSD-3-Clause
// Prints planned runs for `exp plan`, as text, CSV and JSON: the action and its reason, the expected time,
// and the origin of each value; print_sizes() prints the costs of models. plan_verb.cpp calls these
// functions. JSON members, CSV columns and names of actions are read by programs and never change.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/plan.hpp"
#include "cli/terminal.hpp"

namespace encore::cli {

/// Returns "; starts from a; learns from b; asks c and d", or "" for a run that needs none.
std::string needs_text(const app::NeededRuns& needs);
/// Adds the members starts_from and learns_from, null for none, and the list asks.
void add_needs(const app::NeededRuns& needs, nlohmann::ordered_json& to);

/// Prints a table of the shown runs with their actions, then the expected time and warnings.
void print_plan(std::ostream& out, const Terminal& terminal, const app::PlanView& view);
/// Prints the shown runs; an unknown time is empty.
void print_plan_csv(std::ostream& out, const app::PlanView& view);
/// Prints every option with its value and origin, once for all shown runs; different values are listed.
void print_values(std::ostream& out, const Terminal& terminal, const app::PlanView& view);
/// Prints the costs of an experiment file's models, from plan_sizes.
void print_sizes(std::ostream& out, const Terminal& terminal, const std::vector<app::SizedModel>& sizes);
/// Returns all shown runs with action, reason and expected time, and with `with_values` each option's value
/// and origin. Programs read the members, so none is renamed.
nlohmann::ordered_json plan_json(const app::PlanView& view, bool with_values);

}  // namespace encore::cli
