// SPDX-License-Identifier: BSD-3-Clause
// Finds the columns that the options of the reader "tsv" name. Each column has its own option, instead of one
// list of all fields, so that a file of twenty columns needs two options. tsv.cpp calls it; words of messages
// may change, and options keep their names. Read tsv_columns.hpp first.
#include "tsv_columns.hpp"

#include <algorithm>
#include <charconv>

#include <encore/error.hpp>

#include "line_text.hpp"

namespace encore::tsv {
namespace {

/// Returns the index of a heading. Throws Error if the first line lacks it or has it twice.
std::size_t place_of(const Column& column, const std::vector<std::string>& names, const std::string& where) {
  if (column.number) return *column.number;
  const auto found = std::ranges::find(names, column.name);
  const auto again = found == names.end() ? found : std::find(found + 1, names.end(), column.name);
  if (found != names.end() && again == names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "\"" : ", \"") + name + "\"";
  throw Error(where + (found == names.end() ? "no column is called \"" : "two columns are called \"") +
              column.name + "\"; this line names " + all +
              (names.size() == 1 ? delimiter_remedy(names.front()) : ""));
}

}  // namespace

std::string delimiter_remedy(std::string_view row) {
  for (const auto& [character, name] : {std::pair{'\t', "tab"}, {',', ","}, {';', ";"}, {'|', "|"}})
    if (row.find(character) != std::string_view::npos)
      return std::string("; if its columns are separated by ") +
             (character == '\t' ? "tabs" : std::string("\"") + name + "\"") + ", set data.delimiter = \"" +
             name + "\"";
  return "";
}

Column column_of(const Options& options, const std::string& option, const std::string& holds) {
  const std::string& name = options.text(option);
  if (name.empty() || name.find_first_not_of("0123456789") != std::string::npos) {
    if (!options.flag("header") || trimmed(name).empty())
      throw OptionError(option,
                        "invalid " + option + " = \"" + name +
                            "\": expected the number of a column, from 1; a name in the first line of the "
                            "file needs header = true");
    return {.option = option, .holds = holds, .name = std::string(trimmed(name)), .number = {}};
  }
  std::size_t number = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
  if (parsed.ec != std::errc() || number == 0)
    throw OptionError(option,
                      "invalid " + option + " = \"" + name + "\": expected the number of a column, from 1");
  return {.option = option, .holds = holds, .name = name, .number = number - 1};
}

void require_own_columns(const std::vector<Column>& columns) {
  for (std::size_t i = 1; i < columns.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const Column &one = columns[j], &other = columns[i];
      if (one.number ? one.number == other.number : !other.number && one.name == other.name)
        throw OptionError(other.option, other.option + " = \"" + other.name +
                                            "\" is also the column of the " + one.holds + ": " + one.holds +
                                            " and " + other.holds + " need a column each");
    }
}

std::vector<std::size_t> places_in(const std::vector<Column>& columns, const std::vector<std::string>& names,
                                   const std::string& where) {
  std::vector<std::size_t> places;
  for (const Column& column : columns) {
    places.push_back(place_of(column, names, where));
    for (std::size_t i = 0; i + 1 < places.size(); ++i)
      if (places[i] == places.back())
        throw Error(where + "\"" + columns[i].name + "\" and \"" + column.name + "\" are one column: " +
                    columns[i].holds + " and " + column.holds + " need a column each");
  }
  return places;
}

std::vector<std::size_t> places_to_write(const std::vector<Column>& columns) {
  std::vector<std::size_t> places, used;
  for (const Column& column : columns)
    if (column.number) used.push_back(*column.number);
  for (const Column& column : columns) {
    std::size_t place = column.number.value_or(0);
    while (!column.number && std::ranges::find(used, place) != used.end()) ++place;
    places.push_back(place);
    used.push_back(place);
  }
  return places;
}

}  // namespace encore::tsv
