// The reader "tsv": one example per line, columns parted by tabs, one of them the text, one its label.
// Place in the flow: the text of a file -> Records with `text` and `label`, of which a task makes examples.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/reader.hpp>

namespace encore::tsv {

/// A column as the experiment file names it: by its number, or by its name in the first line.
struct Column {
  std::string name;                   ///< as the user wrote it
  std::optional<std::size_t> number;  ///< counted from 0; nothing: to be looked up in the first line
};

class TsvReader final : public Reader {
 public:
  static constexpr const char* summary =
      "one example per line, columns parted by tabs, one with the text and one with its label";
  static Schema options();
  static std::vector<std::string> fields() { return {"text", "label"}; }

  /// Throws OptionError: a number below 1, a name without `header`, one column for both.
  TsvReader(const Options& options, const ReaderContext& context);

  /// Accepts a byte order mark, CRLF and empty lines; white space around a value is dropped, a quotation mark
  /// is a character like any other. With `header` the first line of each file names the columns; where that
  /// line stands once more it is skipped, so that files may be put one behind the other. Throws Error naming
  /// file and line: a row with another number of columns than the first or too few, an empty text or label
  /// (all such rows at once, up to a limit), a name that the first line lacks, an empty set.
  Records read(std::span<const InputText> files, const std::string& what) const override;
  /// Tabs and line breaks within a text become blanks. A record without text becomes an empty line.
  std::string write(const Records& records, FilePart part) const override;

 private:
  bool header_;
  Column text_, label_;
};

}  // namespace encore::tsv
