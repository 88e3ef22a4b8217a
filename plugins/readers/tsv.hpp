// SPDX-License-Identifier: BSD-3-Clause
// The reader "tsv": a table with one example per row, columns separated by tabs or another character (CSV)
// and selected by number or heading: a text, perhaps a second one, and a label, a list of labels or a number;
// or a source and its target. The flow is: text of a file -> Records, of which a task makes examples. The
// worker calls it through Reader (encore/reader.hpp). Equal files must give equal records, or runs do not
// repeat. Read next: encore/separated_rows.hpp, tsv_columns.hpp.
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

/// The kind of label, which determines the field of the records.
enum class LabelType : std::uint8_t { text, list, number };

class TsvReader final : public Reader {
 public:
  static constexpr const char* summary =
      "one example per row, with columns separated by tabs or by another character (CSV): a text or a text "
      "pair, with a label, several labels or a number; or a source and its target, as `translate` and "
      "`summarize` need them";
  static Schema options();
  static std::vector<std::string> fields() { return {"text", "label"}; }
  static std::vector<OptionalField> optional_fields() {
    return {{"text2", "text2_column"}, {"labels", "label_type", "list"}, {"number", "label_type", "number"},
            {"spans", "marked_spans"}, {"source", "source_column"},      {"target", "target_column"}};
  }

  /// Throws OptionError for: a number below 1, a name without `header`, one column with two roles, an invalid
  /// delimiter, a source without a target, or a source with options of a single text.
  TsvReader(const Options& options, const ReaderContext& context);

  /// Accepts a byte order mark, CRLF and empty lines; drops white space around values. If tabs separate
  /// columns, quotation marks are ordinary characters, else those of RFC 4180. With `header` the first line
  /// of each file contains headings; it is skipped where it repeats, so that files may be concatenated.
  /// Throws an Error with file and line for: a row with too few columns or another number than the first, an
  /// empty text or label, invalid span marks (all such rows at once, up to a limit; with bad_rows = "skip"
  /// they become a note), a missing heading, an empty set.
  Records read(std::span<const InputText> files, const std::string& what) const override;
  /// Without quotation marks, delimiters and line breaks within a text become blanks. A record without text
  /// becomes an empty line.
  std::string write(const Records& records, FilePart part) const override;
  /// Reads only the text, of files with or without the label column, which may be empty. Answers become a new
  /// last column, with a heading such as predicted_label. Refuses invalid rows also with bad_rows = "skip",
  /// because every row must get an answer.
  std::optional<Records> read_questions(const InputText& file) const override;
  std::string write_answers(const InputText& file, const Records& answers) const override;

 private:
  struct Label;
  struct Taken;
  /// Which columns are read: all, or those that exist if the truth is unknown.
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
  bool pairs_;  ///< records are a source and its target
  LabelType type_;
  /// The text, then the second text and the label, if any; or the source, then the target.
  std::vector<Column> columns_;
  std::optional<std::size_t> second_, label_;  ///< indices in columns_
};

}  // namespace encore::tsv
