// The reader "text_file": plain text without labels, one record per line, per paragraph or per file.
// Place in the flow: the text of a file -> Records with `text`, of which a task such as masked language
// modelling makes examples.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <encore/reader.hpp>

namespace encore::text_file {

class TextFile final : public Reader {
 public:
  static constexpr const char* summary = "plain text: one record per line, per paragraph, or per file";
  static Schema options();
  static std::vector<std::string> fields() { return {"text"}; }

  TextFile(const Options& options, const ReaderContext& context);

  /// Accepts a byte order mark and CRLF; white space at both ends of a line is dropped. Lines of white space
  /// alone are not records; a note counts them. A paragraph is the lines between such lines, joined by
  /// blanks. Throws Error if a set has no text. A whole file keeps its white space, apart from the carriage
  /// returns of CRLF.
  Records read(std::span<const InputText> files, const std::string& what) const override;
  /// Line breaks within a text become blanks. Throws Error if a record is a whole file.
  std::string write(const Records& records, FilePart part) const override;
  Cut cut() const override { return files_ ? Cut::nowhere : paragraphs_ ? Cut::blank_lines : Cut::lines; }

 private:
  static Records read_whole(std::span<const InputText> files, const std::string& what);
  Records read_lines(std::span<const InputText> files, const std::string& what) const;

  bool paragraphs_, files_;
};

}  // namespace encore::text_file
