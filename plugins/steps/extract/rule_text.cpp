// SPDX-License-Identifier: BSD-3-Clause
// Parts of the notation of rules: lists of names, and refusals of a name that is unknown or stands twice.
// rules.cpp, equations.cpp and document_types.cpp call these functions. Read rule_text.hpp first.
#include "rule_text.hpp"

#include <algorithm>
#include <set>

#include <encore/lines.hpp>
#include <encore/options.hpp>

#include "letters.hpp"

namespace encore::extract {

bool is_name(std::string_view text) {
  return !text.empty() && (is_letter(text.front()) || text.front() == '_') &&
         std::ranges::all_of(
             text, [](char letter) { return is_letter(letter) || is_digit(letter) || letter == '_'; });
}

std::string in_quotes(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

std::string listed(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(trimmed(text.substr(begin, end == std::string_view::npos ? end : end - begin)));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

void require_different(const char* option, const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (const std::string& name : names)
    if (!seen.insert(name).second)
      throw OptionError(option, "invalid " + std::string(option) + ": the name " + in_quotes(name) +
                                    " stands twice; expected each name once");
}

void require_known(const char* option, const std::string& entry, const std::string& name,
                   const std::vector<std::string>& names) {
  if (std::ranges::find(names, name) != names.end()) return;
  throw OptionError(option,
                    "invalid " + std::string(option) + " " + in_quotes(entry) + ": unknown field " +
                        in_quotes(name) + ": " +
                        (names.empty() ? "expected a field of the options fields or groups, which are empty"
                                       : "expected one of " + listed(names)));
}

}  // namespace encore::extract
