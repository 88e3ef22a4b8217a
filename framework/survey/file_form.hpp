// SPDX-License-Identifier: BSD-3-Clause
// FileForm: the form of a user's file, a table with a delimiter or JSON lines, recognized from its name and
// its first rows. survey.cpp calls form_of(); columns.hpp reads the file by the form, and `exp app new`
// writes it into the experiment. More forms may be recognized; read columns.hpp next.
#pragma once

#include <string>

#include <encore/reader.hpp>

namespace encore::survey {

struct FileForm {
  bool is_json = false;
  char delimiter = '\t';  ///< of a table
  bool header = true;     ///< the first row of a table names its columns

  /// Returns the type of the reader: "tsv" or "jsonl".
  const char* reader() const { return is_json ? "jsonl" : "tsv"; }
  /// Returns the value of data.delimiter: "tab" or ",". Empty for JSON lines.
  std::string delimiter_text() const;
  /// Quotation marks of a table have a meaning, as in RFC 4180. The reader "tsv" has the same rule.
  bool has_quotes() const { return delimiter != '\t'; }
};

/// Returns the form of a text file. `header` says whether a table has a line of names. Throws Error that
/// names the file if it is empty, a JSON array, or has one column only.
FileForm form_of(const InputText& file, bool header);

}  // namespace encore::survey
