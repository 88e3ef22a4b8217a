// SPDX-License-Identifier: BSD-3-Clause
// The reader "parallel": a parallel corpus in two files, where line i of one is the translation of line i of
// the other, as in Moses, WMT and Multi30k. The flow is: files -> Records with `source` and `target`, of
// which a task such as translate makes examples. The worker calls it through Reader (encore/reader.hpp).
// Equal files must give equal records, or runs do not repeat. Read next: tsv.hpp, which reads both sides from
// one file.
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
      "two files for each set, [source, target]: line i of the target file belongs to line i of the source "
      "file";
  static Schema options();
  static std::vector<std::string> fields() { return {"source", "target"}; }

  Parallel(const Options& options, const ReaderContext& context);

  /// The files of a set come in pairs: a source, its target, perhaps another source and its target. Accepts a
  /// byte order mark and CRLF; drops white space at both ends of a line. Throws an Error that names the files
  /// if one has no partner or two have different numbers of lines. Throws an Error that names file and line
  /// of the empty lines, all at once up to a limit; with bad_rows = "skip" their pairs are left out and noted
  /// instead. Throws Error for a set without a pair.
  Records read(std::span<const InputText> files, const std::string& what) const override;
  /// Returns the targets, one per line: a file holds one side, and scoring tools read the file of targets
  /// alone. Line breaks within a text become blanks.
  std::string write(const Records& records, FilePart part) const override;
  /// Reads a file of sources alone, for `exp predict --format parallel`. The result always has a value: empty
  /// is for readers that cannot read a file without targets.
  std::optional<Records> read_questions(const InputText& file) const override;
  /// Returns the answers as the file of their targets: line i answers line i of `file`, with an empty line
  /// for a line without text.
  std::string write_answers(const InputText& file, const Records& answers) const override;

 private:
  bool skips_;
};

}  // namespace encore::parallel
