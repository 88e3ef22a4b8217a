// SPDX-License-Identifier: BSD-3-Clause
// FieldRule: how a member of a file of a Hugging Face folder is treated. The table in field_rules.cpp has
// every member that a class of `transformers` or sentence-transformers reads for one of the families, and is
// the page docs/reference/pretrained_fields.md. Place in the flow: folder_settings.cpp checks a folder
// against it before a run is planned. A member that is honoured or refused must never be ignored instead.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace encore::pretrained {

enum class FieldUse : std::uint8_t {
  honoured,  ///< taken over as it is, or refused where it cannot be
  equal,     ///< must be one of `accepted`; absent or null counts as accepted
  same,      ///< another name of the member `accepted`, whose value it must have
  harmless,  ///< changes no number of a trained model
  training,  ///< counts only while a model is trained; a run has options of its own for it
  named,     ///< not taken over; a notice names it unless it is one of `accepted`
};

struct FieldRule {
  const char* families;  ///< model types with blanks between them; "": all
  const char* name;
  FieldUse use;
  const char* accepted;  ///< of `equal` and `named`: values as a JSON array; of `same`: a member
  const char* what;      ///< for the page
};

/// Returns the files that have rules, in the order of the page.
std::span<const char* const> files_with_rules();
/// Throws std::logic_error for a file without rules.
std::span<const FieldRule> field_rules(std::string_view file);
/// Returns the rule of a member, or null if the table has none.
const FieldRule* find_rule(std::string_view file, std::string_view family, std::string_view name);

/// Checks the members of a JSON object. Throws Error that names file and member if one is refused. Adds to
/// `notices` what is not taken over and what the table does not have.
void check_fields(std::string_view file, const std::filesystem::path& path, std::string_view family,
                  const nlohmann::json& object, std::vector<std::string>& notices);

/// Returns the rows of the page for a file, in Markdown.
std::string field_table(std::string_view file);

}  // namespace encore::pretrained
