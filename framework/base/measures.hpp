// SPDX-License-Identifier: BSD-3-Clause
// The values of measures (encore/measure.hpp) from the statistics of examples; is_defined_on(), which says
// whether a data set can define a measure (F1 is 0 for every model if no example has a true label); and the
// measures of training itself, such as the loss, which every task has. Place in the flow: Task::measure ->
// Statistics -> measure_values() -> the choice of the best checkpoint (train/scoring.cpp), `exp evaluate` and
// tests that resample examples. Databases have the names, so these never change. Read next: measure_cells.hpp
// for the arithmetic, measure_json.hpp for the stored form.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <encore/measure.hpp>
#include <encore/statistics.hpp>

namespace encore {

/// Returns the title, or the name if the measure has no title.
const std::string& title_of(const Measure& measure);

/// Returns whether the measure is a family: "f1/{label}" has a member for each key, "f1/PER" and "f1/LOC".
bool is_family(const Measure& measure);
/// Returns "f1" for "f1/{label}".
std::string family_name(const Measure& family);
/// Returns "f1/PER" for the key "PER".
std::string member_name(const Measure& family, std::string_view key);
/// Returns "PER" for "f1/PER", or nullopt if the name is not a member of the family.
std::optional<std::string> key_in_name(const Measure& family, std::string_view name);

/// Returns false for `matrix`, which is a table, and for `opaque`, whose value the task computes.
bool has_value(Reducer reducer);
/// Returns "" if the reducer accepts this number of columns, or a message such as "expected 2 columns, found
/// 1". `opaque` accepts any number.
std::string column_problem(Reducer reducer, std::size_t columns);

/// Computes the value over all examples. The measure has a value (has_value) and is not a family.
double measure_value(const Measure& measure, const Statistics& statistics);

/// Computes all measures that have a value, families as their members in the order of the keys: {"f1", 0.9},
/// {"f1/LOC", 0.8} ...
std::vector<std::pair<std::string, double>> measure_values(std::span<const Measure> measures,
                                                           const Statistics& statistics);

/// Returns false if the measure of this name ("f1", "f1/PER") is undefined on the data set for all
/// predictions. Returns true for a name that `measures` does not contain, such as "loss", and for a measure
/// without a reducer.
bool is_defined_on(std::span<const Measure> measures, std::string_view name, const Statistics& statistics);

/// The loss, which is measured on each data set: train/loss, dev/loss, test/loss.
const Measure& loss_measure();
/// The measures of each training step: loss, learning_rate, gradient_norm, tokens_per_second, step_seconds.
const std::vector<Measure>& training_measures();

}  // namespace encore
