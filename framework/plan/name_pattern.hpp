// NamePattern: `name` of an experiment file, a text in which {model.dropout} stands for the value of that
// option. Read next: run_names.hpp, which fills it in.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "config/error.hpp"

namespace encore {

struct NamePart {
  bool is_option = false;
  std::string text;  ///< as it stands, or the option: "model.dropout", "attention"
  Place place;
};

struct NamePattern {
  std::vector<NamePart> parts;

  /// Whether it has any placeholder.
  bool has_options() const;
  bool names_seed() const;
};

/// What is wrong with the text is added to `problems`, with the column where it stands.
NamePattern parse_name(const std::string& text, const Place& place, Problems& problems);

/// With - for each character that no name may have: "dropout-0.2" of "dropout=0.2", the name of a run.
std::string as_name(std::string text);

/// Whether an option, by its dotted key, is meant by a placeholder: its whole key or the end of it, and for a
/// table its type.
bool is_meant(std::string_view key, std::string_view placeholder);

}  // namespace encore
