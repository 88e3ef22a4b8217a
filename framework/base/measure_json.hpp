// SPDX-License-Identifier: BSD-3-Clause
// The JSON of measures and statistics in manifests, spools, the database and files of predictions. Place in
// the flow: the worker writes it, the control program reads it; measures.hpp computes with it. Members keep
// their names: stored files have them.
#pragma once

#include <cstddef>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/count_matrix.hpp"
#include "base/measures.hpp"

namespace encore {

/// Returns the stored name: "harmonic_mean", "higher".
std::string_view name_of(Reducer reducer);
std::string_view name_of(Better better);

/// {"name": "f1/{label}", "title": "F1", "fraction": true, "better": "higher", "reducer": "harmonic_mean",
/// "columns": ["correct", "predicted", "truth"]}. A member with its default is left out; `better` is left out
/// for `neither`.
nlohmann::json json_of(const Measure& measure);
/// Throws Error with the name of the measure, the invalid value and the expected ones.
Measure measure_in(const nlohmann::json& json);

struct JsonPlace;
/// These convert a measure that is a field of a message (json_fields.hpp).
void write_value(nlohmann::json& to, const Measure& measure);
void read_value(const nlohmann::json& from, const JsonPlace& place, Measure& measure);

/// Writes one example: {"correct": {"PER": 1}, "words": 13, "confusion": {"PER": {"PER": 2, "O": 1}}}.
/// Values with the same column and keys are summed. A value that is not finite becomes null. Throws Error if
/// a column has values with and without keys.
nlohmann::json json_of(const Statistics& statistics, std::size_t example);
/// Appends an example to `to`. Throws Error that names the column if a value is not a number.
void add_example(Statistics& to, const nlohmann::json& json);

/// Writes and reads {"PER": {"PER": 2, "O": 1}}: counts by truth, then by prediction. matrix_in throws Error.
nlohmann::json json_of(const CountMatrix& matrix);
CountMatrix matrix_in(const nlohmann::json& json);

}  // namespace encore
