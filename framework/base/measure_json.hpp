// Measures and statistics as JSON: in manifests, in the metric records of spools, in the database, and in
// files of predictions. Place in the flow: written by the worker, read by the control program; measures.hpp
// gives them their meaning.
#pragma once

#include <cstddef>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/count_matrix.hpp"
#include "base/measures.hpp"

namespace encore {

/// "harmonic_mean"; "higher".
std::string_view name_of(Reducer reducer);
std::string_view name_of(Better better);

/// {"name": "f1/{label}", "title": "F1", "fraction": true, "better": "higher", "reducer": "harmonic_mean",
/// "columns": ["correct", "predicted", "truth"]}. What has its default is left out; `better` is missing for
/// `neither`.
nlohmann::json json_of(const Measure& measure);
/// Throws Error that names the measure, what is wrong and what is possible.
Measure measure_in(const nlohmann::json& json);

/// One example: {"correct": {"PER": 1}, "words": 13, "taken": {"PER": {"PER": 2, "O": 1}}}. Values of equal
/// column and keys are summed; null stands for what is not finite. Throws Error where a column has values
/// with and without keys.
nlohmann::json json_of(const Statistics& statistics, std::size_t example);
/// The next example of `to`. Throws Error that names the column.
void add_example(Statistics& to, const nlohmann::json& json);

/// {"PER": {"PER": 2, "O": 1}}: by truth and prediction; and back. matrix_in throws Error.
nlohmann::json json_of(const CountMatrix& matrix);
CountMatrix matrix_in(const nlohmann::json& json);

}  // namespace encore
