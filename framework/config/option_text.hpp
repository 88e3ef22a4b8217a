// SPDX-License-Identifier: BSD-3-Clause
// Words an option, a measure, or the fields of a task or reader for tables of help and documentation.
// markdown.hpp and `exp plugin info` use it. A change of the words changes the generated pages.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include <encore/measure.hpp>
#include <encore/options.hpp>

namespace encore::config {

struct ManifestOffer;

/// Returns the type with its unit: "integer", "number, seconds".
std::string type_text(const Option& option);
/// Returns the default as an experiment file writes it: 0.1, "relu", [1, 2]; empty if there is none.
std::string default_text(const Option& option);
/// Returns `"relu", "gelu"` or "at least 0, below 1" or an empty string.
std::string limits_text(const Option& option);

/// Returns `It reads the fields "words", to learn and to be scored also "tags"` or `It gives the fields
/// "words", "tags"`; empty for other kinds.
std::string fields_text(const ManifestOffer& offer);

/// A row of the table of inputs and outputs of a head: `column`, `targets`, `tokens`, `integers below
/// classes`.
struct HeadRow {
  std::string what;  ///< "states", "column", "column, where there is one", "output", "parameter"
  std::string name, space, values;
};
/// Returns the rows of one form.
std::vector<HeadRow> head_rows(const HeadForm& form);
/// Returns the sentence above such a table: "With a task of any kind, the head reads and gives:".
std::string head_form_text(const ManifestOffer& offer, const HeadForm& form);
/// Returns "higher" or "lower", or "-" for a matrix and for a measure without a direction.
std::string better_text(const Measure& measure);
/// Returns the help of a measure, and says so if not all data have it.
std::string meaning_text(const Measure& measure);

/// Returns a setting as the experiment file writes it, but without quotes; paths by their last two parts.
std::string setting_text(const nlohmann::json& value);

}  // namespace encore::config
