// SPDX-License-Identifier: BSD-3-Clause
// The columns that an experiment file selects, by number or by heading, and their indices in a file. tsv.cpp
// calls it once per file, before it reads or writes rows. Experiment files contain the names of the options,
// so these never change.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <encore/options.hpp>

namespace encore::tsv {

/// A column as the experiment file selects it: by number, or by its heading in the first line.
struct Column {
  std::string option;                 ///< the option, such as "text_column"
  std::string holds;                  ///< its role: "text", "second text", "label", "source", "target"
  std::string name;                   ///< as the user wrote it
  std::optional<std::size_t> number;  ///< counted from 0; empty: selected by heading
};

/// Returns the column that an option selects. Throws OptionError for a number below 1, or a name without
/// `header`.
Column column_of(const Options& options, const std::string& option, const std::string& holds);

/// Throws OptionError if two options select the same column.
void require_own_columns(const std::vector<Column>& columns);

/// Returns the end of a message about a row that the delimiter has left as one value: "; if its columns are
/// separated by ...", with the first usual delimiter in the row. Returns "" if it contains none.
std::string delimiter_remedy(std::string_view row);

/// Returns the index of each column, from 0, in a file whose first line has these headings. `where` begins
/// messages: "train.tsv:1: ". Throws Error if the line lacks a heading or has it twice, or if two columns are
/// the same.
std::vector<std::size_t> places_in(const std::vector<Column>& columns, const std::vector<std::string>& names,
                                   const std::string& where);

/// Returns the index of each column in a file that is written: columns selected by heading get the free
/// places.
std::vector<std::size_t> places_to_write(const std::vector<Column>& columns);

}  // namespace encore::tsv
