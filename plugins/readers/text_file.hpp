// The reader "text_file": plain text without labels, one record per line or per paragraph.
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
  static constexpr const char* summary = "plain text: one record per line, or per paragraph";
  static Schema options();
  static std::vector<std::string> fields() { return {"text"}; }

  TextFile(const Options& options, const ReaderContext& context);

  /// Accepts a byte order mark and CRLF; white space at both ends of a line is dropped. Lines of white space
  /// alone are no records; a note says how many there were. A paragraph is what stands between such lines,
  /// its lines joined by blanks. Throws Error for a set without any text.
  Records read(std::span<const InputText> files, const std::string& what) const override;
  /// Line breaks within a text become blanks.
  std::string write(const Records& records, FilePart part) const override;
  Cut cut() const override { return paragraphs_ ? Cut::blank_lines : Cut::lines; }

 private:
  bool paragraphs_;
};

}  // namespace encore::text_file
