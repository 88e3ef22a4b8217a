// The columns of a CoNLL file: the options that say where token and label stand, a row parted into columns,
// and its label as the file's map has it. Place in the flow: conll.cpp, line by line.
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
  char delimiter = ' ';           ///< ' ': by tabs where a line has one, else by runs of blanks
  std::string comment = {};  ///< lines that begin with it and have no columns of a row are none; "": none
  bool entities = true;      ///< labels are tags of entities; else they stay as they are
  bool skips_bad_rows = false;
  std::map<std::string, std::string> labels = {};  ///< what a label, or the type of an entity, is read as
};

/// The options of the reader "conll".
Schema format_options();
/// Throws OptionError: one column for two things, a delimiter that is none, an entry of label_map that is no
/// FROM=TO.
Format format_of(const Options& options);

/// A token first, its label last, parted by tabs or blanks.
bool has_default_columns(const Format& format);
/// Of `count` columns the one with the label, counted from 0.
std::size_t place_of_label(const Format& format, std::int64_t count);

/// Columns parted by single characters, or where there is none given by single tabs where there is a tab, and
/// by runs of blanks otherwise. They lie in the line.
void split_columns(std::string_view line, char delimiter, std::vector<std::string_view>& columns);

/// What is wrong with the columns of a row; empty where nothing is. `expected` columns, 0 before the first
/// row.
std::string problem_of(std::span<const std::string_view> columns, const Format& format, std::int64_t expected,
                       bool ends_with_tab);
/// What is wrong with a label, after it was mapped.
std::string problem_of_tag(const std::string& tag, const Format& format);

/// A label as the file's map has it: the whole label, else the type of an entity. What is mapped is counted.
std::string mapped_label(std::string_view label, const Format& format,
                         std::map<std::string, std::int64_t>& mapped);

}  // namespace encore::conll
