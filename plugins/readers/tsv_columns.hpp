// The columns of a table that an experiment file names, by number or by heading, and where they stand in a
// file. Place in the flow: the reader "tsv" asks once per file, before its rows are read or written.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <encore/options.hpp>

namespace encore::tsv {

/// A column as the experiment file names it: by its number, or by its name in the first line.
struct Column {
  std::string option;                 ///< that names it: "text_column"
  std::string holds;                  ///< "text", "second text", "label", "source", "target"
  std::string name;                   ///< as the user wrote it
  std::optional<std::size_t> number;  ///< counted from 0; nothing: to be looked up in the first line
};

/// The column that an option names. Throws OptionError: a number below 1, a name without `header`.
Column column_of(const Options& options, const std::string& option, const std::string& holds);

/// Throws OptionError where two of them are one column by what the options say.
void require_own_columns(const std::vector<Column>& columns);

/// The place of each column, counted from 0, in a file whose first line has these names. `where` begins
/// messages: "train.tsv:1: ". Throws Error where the line lacks a name or has it twice, or two columns are
/// one.
std::vector<std::size_t> places_in(const std::vector<Column>& columns, const std::vector<std::string>& names,
                                   const std::string& where);

/// The same for a file that is written: columns that go by names stand in the places that are free.
std::vector<std::size_t> places_to_write(const std::vector<Column>& columns);

}  // namespace encore::tsv
