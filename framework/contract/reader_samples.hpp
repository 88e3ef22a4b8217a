// SPDX-License-Identifier: BSD-3-Clause
// The sample files for the checks of readers: small sets in many formats (sample_sets), and the same sets as
// other editors and systems write them (rewritten). reader_checks.cpp lets a reader read all of them.
#pragma once

#include <string>
#include <vector>

#include <encore/records.hpp>

#include "contract/suite.hpp"

namespace encore {

/// The argument of one `read`: one file, or several that belong together, as the two sides of a parallel
/// corpus.
struct FileSet {
  std::string name;  ///< for messages
  std::vector<CheckFile> files;
};

/// Many formats; a reader must understand one of them.
const std::vector<FileSet>& sample_sets();

/// A set in another form.
struct Rewritten {
  std::string how;  ///< "with CRLF line ends"
  FileSet set;
  bool same_records = true;  ///< false: it may be refused, with the name of its file
};

/// With CRLF line ends, with a byte order mark, without a newline at the end, with NUL: those forms that
/// change the bytes.
std::vector<Rewritten> rewritten(const FileSet& set);

/// Whether both have equal fields; line ends within a value may be of any kind.
bool equal_apart_from_line_ends(const Records& a, const Records& b);

}  // namespace encore
