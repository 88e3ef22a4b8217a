// SPDX-License-Identifier: BSD-3-Clause
// NamePattern: `name` of an experiment file, a text in which {model.dropout} stands for the value of that
// option. Place in the flow: plan_header.cpp parses it -> run_names.cpp fills it in for each run. Experiment
// files contain such names, so the form is only extended.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "config/error.hpp"

namespace encore::plan {

struct NamePart {
  bool is_option = false;
  std::string text;  ///< the literal text, or the option: "model.dropout", "attention"
  config::Place place;
};

struct NamePattern {
  std::vector<NamePart> parts;

  /// Returns whether it has any placeholder.
  bool has_options() const;
  /// Returns whether it has the placeholder {seed}.
  bool names_seed() const;
};

/// Parses the text. Adds what is wrong with it to `problems`, with the column.
NamePattern parse_name(const std::string& text, const config::Place& place, config::Problems& problems);

/// Writes - for each character that a name cannot have: "dropout-0.2" for "dropout=0.2", the name of a run.
std::string as_name(std::string text);

/// Returns whether a placeholder means the option with this dotted key: it is the whole key or the end of it,
/// or for a table its type.
bool is_meant(std::string_view key, std::string_view placeholder);

}  // namespace encore::plan
