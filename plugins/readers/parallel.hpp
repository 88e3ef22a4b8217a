// The reader "parallel": the two sides of a parallel corpus in two files, line i of one belonging to line i
// of the other, as in Moses, WMT and Multi30k. Place in the flow: the files -> Records with `source` and
// `target`, of which a task such as translation makes examples. Read next: tsv.hpp, which reads both sides
// from one file.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <encore/reader.hpp>

namespace encore::parallel {

class Parallel final : public Reader {
 public:
  static constexpr const char* summary =
      "two files per set, [source, target]: line i of one belongs to line i of the other";
  static Schema options();
  static std::vector<std::string> fields() { return {"source", "target"}; }

  Parallel(const Options& options, const ReaderContext& context);

  /// The files of a set come in pairs: source, target, perhaps another source and its target. Accepts a byte
  /// order mark and CRLF; white space at both ends of a line is dropped. Throws Error naming the files where
  /// one has no partner or two have different numbers of lines, and naming file and line of every line that
  /// is empty (all at once, up to a limit; or leaves these pairs out and notes them with bad_rows = "skip"),
  /// and for a set without any pair.
  Records read(std::span<const InputText> files, const std::string& what) const override;
  /// Writes the targets, line by line, because a file holds one side and the tools of this format score that.
  /// Line breaks within a text become blanks.
  std::string write(const Records& records, FilePart part) const override;
  /// Reads a file of sources alone, which becomes the file of their targets: line i belongs to line i of the
  /// other, and a line without text has an empty target.
  std::optional<Records> read_questions(const InputText& file) const override;
  std::string write_answers(const InputText& file, const Records& answers) const override;

 private:
  bool skips_;
};

}  // namespace encore::parallel
