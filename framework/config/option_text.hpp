// An option, a measure, or the fields of a task or reader in words, as tables of help and of documentation
// show them. See markdown.hpp and `exp plugin info`.
#pragma once

#include <string>

#include <encore/measure.hpp>
#include <encore/options.hpp>

namespace encore {

struct ManifestOffer;

/// "integer", "number, seconds"
std::string type_text(const Option& option);
/// As it would stand in an experiment file: 0.1, "relu", [1, 2]; empty where there is no default.
std::string default_text(const Option& option);
/// `"relu", "gelu"` or "at least 0, below 1" or nothing.
std::string limits_text(const Option& option);

/// `It reads the fields "words", to learn and to be scored also "tags"` or `It gives the fields "words",
/// "tags"`; empty for other kinds.
std::string fields_text(const ManifestOffer& offer);

/// A row of what a head reads or gives, for tables: `column`, `targets`, `tokens`, `integers below classes`.
struct HeadRow {
  std::string what;  ///< "states", "column", "column, where there is one", "output", "parameter"
  std::string name, space, values;
};
/// Returns the rows of one form.
std::vector<HeadRow> head_rows(const HeadForm& form);
/// "Of a task with targets over tokens or picked:", what stands above such a table.
std::string head_form_text(const ManifestOffer& offer, const HeadForm& form);
/// "higher", "lower", or "-" for a table and for what is only watched.
std::string better_text(const Measure& measure);
/// Its help, and that not all data have it.
std::string meaning_text(const Measure& measure);

}  // namespace encore
