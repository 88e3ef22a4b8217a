// FieldRule: what is done about a member of a file of a Hugging Face folder. One table (field_rules.cpp) has
// every member that a class of `transformers` or sentence-transformers reads for one of the families; the
// page docs/reference/pretrained_fields.md is that table, and a test compares the two. Place in the flow:
// folder_settings.cpp checks a folder against it before a run is planned.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace encore {

enum class FieldUse : std::uint8_t {
  honoured,  ///< taken over as it is, or refused where it cannot be
  equal,     ///< must be one of `accepted`; absent or null counts as accepted
  same,      ///< another name of the member `accepted`, whose value it must have
  harmless,  ///< changes no number that a trained model gives
  training,  ///< counts only while a model is trained; a run has options of its own for it
  named,     ///< not taken over; a notice names it where it is not one of `accepted`
};

struct FieldRule {
  const char* families;  ///< model types with blanks between them; "": all
  const char* name;
  FieldUse use;
  const char* accepted;  ///< of `equal` and `named`: values as a JSON array; of `same`: a member
  const char* what;      ///< for the page
};

/// The files that have rules, in the order of the page.
std::span<const char* const> files_with_rules();
/// Throws std::logic_error for a file without rules.
std::span<const FieldRule> field_rules(std::string_view file);
/// The rule of a member; null where the table has none.
const FieldRule* find_rule(std::string_view file, std::string_view family, std::string_view name);

/// Checks the members of a JSON object. Throws Error naming file and member where one is refused. What is not
/// taken over, and what the table does not have, is added to `notices`.
void check_fields(std::string_view file, const std::filesystem::path& path, std::string_view family,
                  const nlohmann::json& object, std::vector<std::string>& notices);

/// The rows of the page for a file, in Markdown.
std::string field_table(std::string_view file);

}  // namespace encore
