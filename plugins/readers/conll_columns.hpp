// SPDX-License-Identifier: BSD-3-Clause
// The columns of a CoNLL file: the options that select token and label, the splitting of a row into columns,
// and the map of labels. conll.cpp and conll_questions.cpp call it line by line. Which columns a line has
// decides the records, so it must not change for valid files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/options.hpp>

namespace encore::conll {

/// How the columns of a file are read. Columns are counted from 1.
struct Format {
  std::int64_t token_column = 1;
  std::int64_t label_column = 0;   ///< 0: the last one
  char delimiter = ' ';            ///< ' ': tabs if the line has one, else runs of blanks
  std::string comment = {};        ///< mark of comments, which lack the columns of a row; "": off
  std::string label_comment = {};  ///< beginning of a line with the label of the next sentence; "": off
  bool entities = true;            ///< labels are tags of entities; else any labels
  bool skips_bad_rows = false;
  std::map<std::string, std::string> labels = {};  ///< new names of labels, or of types of entities
};

/// Returns the options of the reader "conll".
Schema format_options();
/// Throws OptionError for: one column with two roles, an invalid delimiter, an entry of label_map that is not
/// FROM=TO.
Format format_of(const Options& options);

/// Returns whether rows have the token first and the label last, separated by tabs or blanks.
bool has_default_columns(const Format& format);
/// Returns the index of the label among `count` columns, from 0.
std::size_t place_of_label(const Format& format, std::int64_t count);

/// Splits a row at `delimiter`; if that is a blank, at single tabs if there is a tab, otherwise at runs of
/// blanks. The columns point into the line.
void split_columns(std::string_view line, char delimiter, std::vector<std::string_view>& columns);

/// Returns what is wrong with the columns of a row, or "". `expected`: number of columns; 0 before the first
/// row.
std::string problem_of(std::span<const std::string_view> columns, const Format& format, std::int64_t expected,
                       bool ends_with_tab);
/// Returns what is wrong with a label after the map, or "".
std::string problem_of_tag(const std::string& tag, const Format& format);

/// Returns the label after the map of labels, which has the whole label or the type of an entity. Counts each
/// change.
std::string mapped_label(std::string_view label, const Format& format,
                         std::map<std::string, std::int64_t>& mapped);

}  // namespace encore::conll
