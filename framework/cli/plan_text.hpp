// What `exp plan` shows of planned runs: why each would be done or left alone, how long it will take, and
// where each value comes from; as text and as JSON.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/plan.hpp"
#include "cli/terminal.hpp"

namespace encore {

void print_plan(std::ostream& out, const Terminal& terminal, const PlanView& view);
/// The runs that are shown; a time in seconds is empty where none is known.
void print_plan_csv(std::ostream& out, const PlanView& view);
/// Every option with its value and origin: once for all runs that are shown; where they differ, what they
/// have.
void print_values(std::ostream& out, const Terminal& terminal, const PlanView& view);
/// What the models of an experiment file cost, as plan_sizes answers.
void print_sizes(std::ostream& out, const Terminal& terminal, const std::vector<SizedModel>& sizes);
nlohmann::ordered_json plan_json(const PlanView& view, bool with_values);

}  // namespace encore
