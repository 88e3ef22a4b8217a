// SPDX-License-Identifier: BSD-3-Clause
// The reader "text_file": plain text without labels, one record per line, per paragraph or per file. The flow
// is: text of a file -> Records with `text`, of which a task such as masked language modelling
// (plugins/tasks/mlm) makes examples. The worker calls it through Reader (encore/reader.hpp). Equal files
// must give equal records, or runs do not repeat.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <encore/reader.hpp>

namespace encore::text_file {

class TextFile final : public Reader {
 public:
  static constexpr const char* summary =
      "plain text without labels: one record per line, per paragraph, or per file";
  static Schema options();
  static std::vector<std::string> fields() { return {"text"}; }

  TextFile(const Options& options, const ReaderContext& context);

  /// Accepts a byte order mark and CRLF; drops white space at both ends of a line. Lines of white space are
  /// not records; if records are lines, a note says how many were skipped. A paragraph consists of the lines
  /// between such lines, joined by blanks. A whole file keeps its white space, except the carriage returns of
  /// CRLF. Throws Error if a set has no text.
  Records read(std::span<const InputText> files, const std::string& what) const override;
  /// Writes one text per line, with an empty line after each if records are paragraphs; line breaks within a
  /// text become blanks. Throws Error if a record is a whole file.
  std::string write(const Records& records, FilePart part) const override;
  Cut cut() const override { return files_ ? Cut::nowhere : paragraphs_ ? Cut::blank_lines : Cut::lines; }

 private:
  static Records read_whole(std::span<const InputText> files, const std::string& what);
  Records read_lines(std::span<const InputText> files, const std::string& what) const;

  bool paragraphs_, files_;
};

}  // namespace encore::text_file
