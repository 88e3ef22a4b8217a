// What measures (encore/measure.hpp) are worth for the statistics of examples: one arithmetic for the
// trainer, for `exp evaluate` and for every test that resamples examples. Place in the flow: Task::measure ->
// Statistics -> here. Read next: measure_cells.hpp for the arithmetic, measure_json.hpp for the form in which
// both are written.
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

/// As people write it: the title, else the name.
const std::string& title_of(const Measure& measure);

/// "f1/{label}" stands for one measure for each key of its columns: "f1/PER", "f1/LOC".
bool is_family(const Measure& measure);
/// "f1" of "f1/{label}".
std::string family_name(const Measure& family);
/// "f1/PER" for the key "PER".
std::string member_name(const Measure& family, std::string_view key);
/// "PER" for "f1/PER"; nothing where the name is none of the family.
std::optional<std::string> key_in_name(const Measure& family, std::string_view name);

/// False: `matrix` is a table, and what `opaque` says follows from nothing here.
bool has_value(Reducer reducer);
/// "needs 2 columns, not 1" where a reducer cannot have so many columns, else "". `opaque` takes any.
std::string column_problem(Reducer reducer, std::size_t columns);

/// Of a measure that is no family and has a value, over all examples.
double measure_value(const Measure& measure, const Statistics& statistics);

/// Everything that has a value, families as their members in the order of the keys: {"f1", 0.9}, {"f1/LOC",
/// 0.8} ...
std::vector<std::pair<std::string, double>> measure_values(std::span<const Measure> measures,
                                                           const Statistics& statistics);

}  // namespace encore
