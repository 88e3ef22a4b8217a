// The columns of a CoNLL file: the options that name token and label, a row split into columns, and its label
// after the file's map. Place in the flow: conll.cpp, line by line.
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
  std::int64_t label_column = 0;  ///< 0: the last one
  char delimiter = ' ';           ///< ' ': by tabs if a line has one, else by runs of blanks
  std::string comment = {};       ///< such lines without the columns of a row are comments; "": off
  bool entities = true;           ///< labels are tags of entities; else they stay as they are
  bool skips_bad_rows = false;
  std::map<std::string, std::string> labels = {};  ///< new names of labels, or of types of entities
};

/// Returns the options of the reader "conll".
Schema format_options();
/// Throws OptionError: one column for two things, an invalid delimiter, an entry of label_map that is not
/// FROM=TO.
Format format_of(const Options& options);

/// Whether rows have the token first and its label last, separated by tabs or blanks.
bool has_default_columns(const Format& format);
/// Returns which of `count` columns has the label, counted from 0.
std::size_t place_of_label(const Format& format, std::int64_t count);

/// Splits a row by the given character; without one by single tabs if there is a tab, and by runs of blanks
/// otherwise. The columns point into the line.
void split_columns(std::string_view line, char delimiter, std::vector<std::string_view>& columns);

/// Returns what is wrong with the columns of a row, or "". `expected` columns, 0 before the first row.
std::string problem_of(std::span<const std::string_view> columns, const Format& format, std::int64_t expected,
                       bool ends_with_tab);
/// Returns what is wrong with a label, after it was mapped.
std::string problem_of_tag(const std::string& tag, const Format& format);

/// Maps a label: the whole label, else the type of an entity. Counts what it maps.
std::string mapped_label(std::string_view label, const Format& format,
                         std::map<std::string, std::int64_t>& mapped);

}  // namespace encore::conll
