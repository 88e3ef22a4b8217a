// SPDX-License-Identifier: BSD-3-Clause
// Describes an option, a measure, or the fields of a task, reader or step in words, for tables of help and
// documentation. markdown.hpp and `exp plugin info` use it. A change of the words changes the generated
// pages.
#pragma once

#include <string>
#include <vector>

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

/// Returns which fields a task reads or the records of a reader have, without the last full stop: `It reads
/// the field "words" of each record. Records for training and scoring also need the field "tags"`. Of a step
/// that asks a model, returns how its table names the model. Empty for other types.
std::string fields_text(const ManifestOffer& offer);

/// A row of the table of inputs and outputs of a head: `column of the task`, `targets`, `token`, `integer, 0
/// to classes - 1, or -1 for none`.
struct HeadRow {
  std::string
      what;  ///< "states of the model", "column of the task", "optional column", "output", "parameter"
  std::string name;  ///< empty for states, which have none
  std::string
      space;  ///< what has one such value: "token", "sequence", "picked row", "target"; empty: the model
  std::string values;  ///< "number", "vector of numbers, length = classes"
};
struct HeadInterface {
  std::string sentence;  ///< "If the task has a target for each token, the head reads ...:"
  std::vector<HeadRow> rows;
};
/// Returns what a head reads and gives: a table for each kind of task, or one if they differ only in what has
/// a target. Empty for other kinds of plugins.
std::vector<HeadInterface> head_interfaces(const ManifestOffer& offer);
/// Returns what the `select` of a task or a step decides, to follow "Without train.select, " of
/// select_option(): "the best checkpoint is chosen by max dev/f1 (the highest f1 on the development set)".
std::string select_text(const ManifestOffer& offer);
/// Returns the option that has this default: "train.select" or "app.select".
std::string select_option(const ManifestOffer& offer);
/// Returns "higher" or "lower", or "-" for a matrix and for a measure without a direction.
std::string better_text(const Measure& measure);
/// Returns the help of a measure, and says so if not all data have it.
std::string meaning_text(const Measure& measure);

/// Returns a setting as the experiment file writes it, but without quotes; paths by their last two parts.
std::string setting_text(const nlohmann::json& value);

}  // namespace encore::config
