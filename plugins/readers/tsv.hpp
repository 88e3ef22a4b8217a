// The reader "tsv": one example per row of a table, columns separated by tabs or another character (CSV),
// named by number or by heading: a text, perhaps a second one, and a label, a list of labels or a number; or
// a source and its target. Place in the flow: the text of a file -> Records, of which a task makes examples.
// Read next: separated_rows.hpp, tsv_columns.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/reader.hpp>

#include "tsv_columns.hpp"

namespace encore::tsv {

/// What the column with the label holds, and the field that it becomes.
enum class LabelType : std::uint8_t { text, list, number };

class TsvReader final : public Reader {
 public:
  static constexpr const char* summary =
      "one example per row, columns separated by tabs or another character (CSV): a text, perhaps a second "
      "one, and a label, several labels or a number; or a source and its target";
  static Schema options();
  static std::vector<std::string> fields() { return {"text", "label"}; }
  static std::vector<std::string> optional_fields() {
    return {"text2", "labels", "number", "spans", "source", "target"};
  }

  /// Throws OptionError: a number below 1, a name without `header`, one column for two things, an invalid
  /// delimiter, a source without a target or with options of a text.
  TsvReader(const Options& options, const ReaderContext& context);

  /// Accepts a byte order mark, CRLF and empty lines; white space around a value is dropped. Between tabs a
  /// quotation mark is an ordinary character, else it is that of RFC 4180. With `header` the first line of
  /// each file names the columns; a repeated line is skipped, so that files may be concatenated. Throws Error
  /// naming file and line: a row with another number of columns than the first or too few, an empty text or
  /// label, invalid span marks (all such rows at once, up to a limit; or notes them with bad_rows = "skip"),
  /// a name that the first line lacks, an empty set.
  Records read(std::span<const InputText> files, const std::string& what) const override;
  /// Without quotation marks, delimiters and line breaks within a text become blanks. A record
  /// without text becomes an empty line.
  std::string write(const Records& records, FilePart part) const override;
  /// Reads the text alone, of files with and without the column of the label, which may be empty. A column
  /// behind the others becomes the answer, with a heading such as predicted_label. Invalid rows are refused,
  /// also with bad_rows = "skip": every row gets an answer.
  std::optional<Records> read_questions(const InputText& file) const override;
  std::string write_answers(const InputText& file, const Records& answers) const override;

 private:
  struct Label;
  struct Taken;
  /// The columns that are read: all, or those that exist if the truth is not known.
  enum class Sight : std::uint8_t { everything, questions };
  std::string delimiter_text() const;
  std::string problem_of(const std::vector<std::string_view>& values, const std::vector<std::size_t>& places,
                         Label& label) const;
  std::string problem_of_heading(const std::vector<std::string_view>& values,
                                 const std::vector<std::size_t>& places) const;
  std::string take_label(std::string_view value, const std::string& column, Label& label) const;
  void read_file(const InputText& file, Sight sight, Taken& taken) const;
  std::size_t question_columns() const;
  std::string answer_text(const Records::Field& field, std::size_t record) const;
  std::string joined(const std::vector<std::string>& names) const;
  const char* truth_field() const;
  std::string row_of(const std::vector<std::string>& values, const std::vector<std::size_t>& places) const;
  std::string label_text(const Records& records, std::size_t record) const;
  const char* text_field() const { return pairs_ ? "source" : "text"; }
  const char* second_field() const { return pairs_ ? "target" : "text2"; }

  bool header_, skips_, marked_;
  char delimiter_;
  std::string separator_;
  bool pairs_;  ///< whether records are a source and its target
  LabelType type_;
  /// The text, then the second text and the label if there are any; or the source, then the target.
  std::vector<Column> columns_;
  std::optional<std::size_t> second_, label_;  ///< places in columns_
};

}  // namespace encore::tsv
