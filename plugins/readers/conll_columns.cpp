// SPDX-License-Identifier: BSD-3-Clause
// The columns of CoNLL files: splits a row, finds its token and label, maps labels, and describes what is
// wrong with a row. conll.cpp and conll_questions.cpp call it. Words of messages may change; what is read
// from a valid row may not. Read conll_columns.hpp first.
#include "conll_columns.hpp"

#include <cctype>
#include <utility>

#include <encore/lines.hpp>

#include "line_text.hpp"
#include "tag_scheme.hpp"

namespace encore::conll {
namespace {

/// Returns what is wrong with the columns of a row, or "", if the options name the columns.
std::string problem_of_chosen(std::span<const std::string_view> columns, const Format& format) {
  const auto count = static_cast<std::int64_t>(columns.size());
  const std::string parted = format.delimiter == ' '    ? "tabs or blanks"
                             : format.delimiter == '\t' ? "tabs"
                                                        : "\"" + std::string(1, format.delimiter) + "\"";
  for (const auto& [column, holds] :
       {std::pair{format.token_column, "token"}, {format.label_column, "label"}})
    if (column > count)
      return "this row has " + counted(count, "column", "columns") + " and no column " +
             std::to_string(column) + ", which holds the " + holds + "; columns are separated by " + parted;
  if (format.label_column == 0 && count <= format.token_column)
    return "this row has " + counted(count, "column", "columns") +
           " and none behind the token for the label; columns are separated by " + parted;
  const auto token = static_cast<std::size_t>(format.token_column) - 1, label = place_of_label(format, count);
  for (const auto& [place, holds] : {std::pair{token, "token"}, {label, "label"}})
    if (columns[place].empty())
      return "the " + std::string(holds) + " in column " + std::to_string(place + 1) + " is empty";
  return "";
}

char delimiter_of(const Options& options) {
  const std::string& text = options.text("delimiter");
  if (text == "whitespace") return ' ';
  if (text == "tab" || text == "\t") return '\t';
  if (text.size() == 1 && std::ispunct(static_cast<unsigned char>(text.front())) != 0) return text.front();
  throw OptionError("delimiter",
                    "invalid delimiter = \"" + text +
                        "\": expected \"whitespace\", \"tab\", or one character that is not a letter, "
                        "digit or blank");
}

std::map<std::string, std::string> label_map_of(const Options& options) {
  std::map<std::string, std::string> labels;
  for (const std::string& entry : options.text_list("label_map")) {
    const std::size_t parting = entry.find('=');
    if (parting == std::string::npos || parting == 0 || parting + 1 == entry.size())
      throw OptionError("label_map",
                        "invalid label_map \"" + entry + "\": expected FROM=TO, such as \"PERSON=PER\"");
    if (!labels.emplace(entry.substr(0, parting), entry.substr(parting + 1)).second)
      throw OptionError("label_map", "label_map names \"" + entry.substr(0, parting) + "\" twice");
  }
  return labels;
}

}  // namespace

Schema format_options() {
  return Schema()
      .integer("token_column", 1, {.help = "column with the token, counted from 1", .min = 1.0})
      .integer("label_column", 0,
               {.help = "column with the label, counted from 1; 0: the last one", .min = 0.0})
      .text("delimiter", "whitespace",
            {.help = "separator of the columns: \"tab\", one punctuation mark such as \",\", or "
                     "\"whitespace\": tabs in lines that have one, blanks in other lines"})
      .choice("label_type", "entity", {"entity", "word"},
              {.help = "entity: labels are tags of entities, which are converted to IOB2; word: labels can "
                       "be any word and are kept as they are"})
      .text_list("label_map", {},
                 {.help = "labels to rename, such as [\"PERSON=PER\", \"B-MISC=O\"]; the name of an entity "
                          "type renames all tags of that type"})
      .text("comment", "",
            {.help =
                 "lines that begin with this text are comments, such as \"#\" in CoNLL-U; \"\": no comments. "
                 "A token may begin with it: a line such as \"#fun O\", with as many columns as the other "
                 "rows and a valid label, is a row. With label_type = \"word\" and blanks between the "
                 "columns, a line with \"# \" in front is always a comment"})
      .text("label_comment", "",
            {.help =
                 "beginning of a line in front of each sentence, such as \"# type =\"; the rest of the line "
                 "is the label of the sentence or document. The records then also have the fields "
                 "\"label\" and \"text\", the words with one blank between them, for the task "
                 "`classify` and for applications; \"\": off"})
      .choice("bad_rows", "error", {"error", "skip"},
              {.help = "what to do with invalid rows. error: refuse the run; skip: skip their sentences and "
                       "count them in the log (exp logs RUN). `exp predict` always refuses a file with "
                       "invalid rows"});
}

Format format_of(const Options& options) {
  Format format{.token_column = options.integer("token_column"),
                .label_column = options.integer("label_column"),
                .delimiter = delimiter_of(options),
                .comment = options.text("comment"),
                .label_comment = options.text("label_comment"),
                .entities = options.text("label_type") == "entity",
                .skips_bad_rows = options.text("bad_rows") == "skip",
                .labels = label_map_of(options)};
  if (format.token_column == format.label_column)
    throw OptionError("label_column",
                      "label_column = " + std::to_string(format.label_column) +
                          " is also the column of the token: token and label need a column each");
  if (!format.label_comment.empty() && trimmed(format.label_comment).empty())
    throw OptionError(
        "label_comment",
        "label_comment has no character but white space: expected the beginning of a line, such "
        "as \"# type =\"");
  return format;
}

bool has_default_columns(const Format& format) {
  return format.token_column == 1 && format.label_column == 0 && format.delimiter == ' ';
}

std::size_t place_of_label(const Format& format, std::int64_t count) {
  return static_cast<std::size_t>(format.label_column == 0 ? count : format.label_column) - 1;
}

void split_columns(std::string_view line, char delimiter, std::vector<std::string_view>& columns) {
  columns.clear();
  if (delimiter == ' ' && line.find('\t') != std::string_view::npos) delimiter = '\t';
  while (true) {
    const std::size_t end = line.find(delimiter);
    if (delimiter != ' ')
      columns.push_back(trimmed(line.substr(0, end)));
    else if (end != 0)
      columns.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return;
    line.remove_prefix(end + 1);
  }
}

std::string problem_of(std::span<const std::string_view> columns, const Format& format, std::int64_t expected,
                       bool ends_with_tab) {
  const auto count = static_cast<std::int64_t>(columns.size());
  if (!has_default_columns(format)) {
    const std::string problem = problem_of_chosen(columns, format);
    if (!problem.empty()) return problem;
  } else if (count > 1 && columns.front().empty()) {
    return "the token before the first tab is empty; a row is a token, a tab and its tag, and an empty line "
           "separates two sentences";
  } else if (count < 2) {
    return ends_with_tab ? "this row has a token and nothing behind its tab; its tag is missing"
                         : "this row has one column; write the token first and its tag last, separated by "
                           "a tab or blanks";
  }
  if (expected != 0 && count != expected)
    return "this row has " + std::to_string(count) + " columns, the rows before it have " +
           std::to_string(expected) + "; every row needs the same columns";
  return "";
}

std::string problem_of_tag(const std::string& tag, const Format& format) {
  if (!format.entities || is_tag(tag)) return "";
  return "\"" + tag + "\" in " +
         (format.label_column == 0 ? "the last column" : "column " + std::to_string(format.label_column)) +
         " is not a tag: expected O, or B-, I-, E- or S- before a type";
}

std::string mapped_label(std::string_view label, const Format& format,
                         std::map<std::string, std::int64_t>& mapped) {
  const auto target = [&](std::string_view name) -> const std::string* {
    const auto found = format.labels.find(std::string(name));
    if (found == format.labels.end()) return nullptr;
    ++mapped[found->first];
    return &found->second;
  };
  if (format.labels.empty()) return std::string(label);
  if (const std::string* whole = target(label)) return *whole;
  if (!format.entities || label == "O" || !is_tag(label)) return std::string(label);
  const std::string* type = target(type_of(label));
  if (type == nullptr) return std::string(label);
  return *type == "O" ? *type : std::string(label.substr(0, 2)) + *type;
}

}  // namespace encore::conll
