// The columns of a table that an experiment file names, by number or by heading, and their places in a file.
// Place in the flow: the reader "tsv" asks once per file, before its rows are read or written.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <encore/options.hpp>

namespace encore::tsv {

/// A column as the experiment file names it: by its number, or by its name in the first line.
struct Column {
  std::string option;                 ///< the option that names it: "text_column"
  std::string holds;                  ///< "text", "second text", "label", "source", "target"
  std::string name;                   ///< as the user wrote it
  std::optional<std::size_t> number;  ///< counted from 0; empty: found in the first line
};

/// Returns the column that an option names. Throws OptionError: a number below 1, a name without `header`.
Column column_of(const Options& options, const std::string& option, const std::string& holds);

/// Throws OptionError if two options name one column.
void require_own_columns(const std::vector<Column>& columns);

/// Returns the place of each column, counted from 0, in a file whose first line has these names. `where`
/// begins messages: "train.tsv:1: ". Throws Error if the line lacks a name or has it twice, or two columns
/// are one.
std::vector<std::size_t> places_in(const std::vector<Column>& columns, const std::vector<std::string>& names,
                                   const std::string& where);

/// Does the same for a file that is written: columns with names take the free places.
std::vector<std::size_t> places_to_write(const std::vector<Column>& columns);

}  // namespace encore::tsv
