// SPDX-License-Identifier: BSD-3-Clause
// Predictions for files in the format "conll": questions_in() reads the words, and with_labels() adds a
// column with the predicted labels. Both use walk() below, because line i of the output must belong to line i
// of the input. conll.cpp calls them; read conll.hpp first.
#include "conll.hpp"

#include <map>
#include <span>

#include <encore/lines.hpp>

#include "conll_rows.hpp"
#include "line_checks.hpp"
#include "line_text.hpp"
#include "row_problems.hpp"

namespace encore::conll {
namespace {

/// A row whose word shall be labelled.
struct AskedRow {
  std::string_view line;  ///< without its line end
  std::string_view word;
  std::int64_t number = 0;  ///< number of the line
  std::int64_t columns = 0;
};

/// The shape of the rows of a file, taken from the first row that cannot be a comment.
struct Shape {
  std::int64_t columns = 0;  ///< 0: there is no such row
  bool has_tags = false;     ///< the label column holds a tag of an entity
};

Shape shape_of(std::string_view text, const Format& format) {
  std::vector<std::string_view> columns;
  const std::string_view row = first_row(text, format);
  if (row.empty()) return {};
  split_row(row, format, columns);
  Shape shape{.columns = std::ssize(columns)};
  std::map<std::string, std::int64_t> unused;
  if (format.entities && problem_of(columns, format, 0, false).empty())
    shape.has_tags =
        problem_of_tag(mapped_label(columns[place_of_label(format, shape.columns)], format, unused), format)
            .empty();
  return shape;
}

/// Returns whether a line is a comment. In a file with tags, decides as `read` does. Without tags, a line
/// with the columns of a row is a row, unless only blanks separate its columns and the mark is a column, as
/// in "# words".
bool is_comment_here(std::string_view line, const Format& format, const Shape& shape,
                     std::vector<std::string_view>& columns) {
  if (format.comment.empty() || !line.starts_with(format.comment)) return false;
  if (shape.has_tags) return is_comment(line, format, shape.columns, columns);
  split_row(line, format, columns);
  const std::int64_t count = std::ssize(columns);
  if (shape.columns != 0 && count != shape.columns) return true;
  const bool has_own_delimiter = format.delimiter != ' ' || line.find('\t') != std::string_view::npos;
  const std::string_view behind = line.substr(format.comment.size());
  return !has_own_delimiter && count > 1 &&
         (behind.empty() || behind.front() == ' ' || behind.front() == '\t');
}

/// Returns what is wrong with the columns of a row, or "". `expected`: number of columns; 0 before the first
/// row.
std::string problem_of_question(std::span<const std::string_view> columns, const Format& format,
                                std::int64_t expected) {
  const std::int64_t count = std::ssize(columns);
  const std::string column = "column " + std::to_string(format.token_column);
  if (expected != 0 && count != expected)
    return "this row has " + counted(count, "column", "columns") + ", the rows before it have " +
           std::to_string(expected) + "; every row needs the same columns" +
           (format.delimiter == ' ' ? ", one token per row; read a file of plain text with --format text"
                                    : "");
  if (count < format.token_column)
    return "this row has " + counted(count, "column", "columns") + " and no " + column +
           ", which holds the token; only the columns behind it may be missing";
  if (columns[static_cast<std::size_t>(format.token_column) - 1].empty())
    return "the token in " + column + " is empty";
  const bool has_label =
      format.label_column == 0 ? count > format.token_column : count >= format.label_column;
  return has_label && expected == 0 ? problem_of_heading(columns, format) : "";
}

std::string_view without_mark(std::string_view text) {
  while (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

/// Calls take_row(AskedRow) for each row, and end_sentence() after each sentence, perhaps several times.
/// Returns the notes. Throws Error as questions_in does.
template <class TakeRow, class EndSentence>
std::vector<std::string> walk(std::string_view text, const std::string& name, const Format& format,
                              const TakeRow& take_row, const EndSentence& end_sentence) {
  const Shape shape = shape_of(text, format);
  RowProblems problems;
  std::vector<std::string_view> columns;
  std::int64_t expected = 0;
  Lines lines(text);
  while (lines.next()) {
    const std::string_view line = lines.line();
    if (has_label_of_sentence(line, format) || is_comment_here(line, format, shape, columns)) continue;
    if (parts_sentences(trimmed(line), format.delimiter)) {
      end_sentence();
      continue;
    }
    split_row(line, format, columns);
    std::string problem = problem_of_length(line);
    if (problem.empty()) problem = problem_of_question(columns, format, expected);
    if (!problem.empty()) {
      problems.add(name, lines.number(), problem);
      continue;
    }
    expected = std::ssize(columns);
    // A row with a single column is treated as if a tab followed.
    const std::string_view word = columns[static_cast<std::size_t>(format.token_column) - 1];
    take_row(AskedRow{.line = line,
                      .word = expected == 1 ? trimmed(word) : word,
                      .number = lines.number(),
                      .columns = expected});
  }
  problems.require_none();
  end_sentence();
  std::vector<std::string> notes;
  add_stray_returns(notes, name, lines.stray_returns());
  return notes;
}

/// Returns the row up to the end of its last column, where a new column is inserted. White space after it
/// belongs to no column, unless the columns have a separator of their own.
std::string_view columns_of(const AskedRow& row, const Format& format) {
  if (format.delimiter != ' ') return row.line;
  const std::string_view line = trimmed(row.line);
  return row.line.substr(0, static_cast<std::size_t>(line.data() + line.size() - row.line.data()));
}

/// Returns the separator to write between the last column of a row and a new one.
char delimiter_of_row(const AskedRow& row, const Format& format) {
  if (format.delimiter != ' ') return format.delimiter;
  return row.columns > 1 && columns_of(row, format).find('\t') == std::string_view::npos ? ' ' : '\t';
}

}  // namespace

Records questions_in(const InputText& file, const Format& format) {
  Records::TextLists sentences;
  bool open = false;
  Records records;
  records.notes = walk(
      without_mark(file.text), file.name, format,
      [&](const AskedRow& row) {
        if (!open) sentences.emplace_back();
        open = true;
        sentences.back().emplace_back(row.word);
      },
      [&] { open = false; });
  if (!format.label_comment.empty()) records.add("text", joined(sentences));
  records.add("words", std::move(sentences));
  return records;
}

std::string with_labels(const InputText& file, const Records::TextLists& labels, const Format& format) {
  const std::string_view text = without_mark(file.text);
  std::string all;
  std::size_t done = 0, sentence = 0, word = 0;
  walk(
      text, file.name, format,
      [&](const AskedRow& row) {
        ENCORE_REQUIRE(sentence < labels.size() && word < labels[sentence].size(), "every word has a label");
        const std::string& label = labels[sentence][word++];
        const char delimiter = delimiter_of_row(row, format);
        if (label.find(delimiter) != std::string::npos)
          throw Error(file.name + ":" + std::to_string(row.number) + ": the label \"" + label +
                      "\" cannot be written in columns that are separated by \"" + std::string(1, delimiter) +
                      "\"; separate the columns by tabs");
        const std::string_view columns = columns_of(row, format);
        const auto end = static_cast<std::size_t>(columns.data() + columns.size() - text.data());
        all.append(text.substr(done, end - done)).append(1, delimiter).append(label);
        done = end;
      },
      [&] {
        if (word > 0) ++sentence;
        word = 0;
      });
  return all.append(text.substr(done));
}

}  // namespace encore::conll
