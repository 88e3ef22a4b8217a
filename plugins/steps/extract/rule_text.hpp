// SPDX-License-Identifier: BSD-3-Clause
// Parts of the notation in which the options of the step `extract` describe documents: names, lists, and the
// refusal of a name that is unknown or stands twice. rules.cpp, equations.cpp and document_types.cpp call it.
// Experiment files have the notation, so a change must accept what was accepted before. Read next: rules.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace encore::extract {

/// Returns whether a text is a name: letters of a to z, digits and "_", and no digit in front.
bool is_name(std::string_view text);
std::string in_quotes(std::string_view text);
/// Returns the names with ", " between them.
std::string listed(const std::vector<std::string>& names);
/// Returns the parts of a text between separators, without white space at their ends.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Throws OptionError if a name stands twice. `option` is the option that has the names.
void require_different(const char* option, const std::vector<std::string>& names);
/// Throws OptionError if `name`, a part of the value `entry` of an option, is not one of `names`.
void require_known(const char* option, const std::string& entry, const std::string& name,
                   const std::vector<std::string>& names);

}  // namespace encore::extract
