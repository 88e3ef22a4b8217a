// SPDX-License-Identifier: BSD-3-Clause
// The sample files for the checks of readers: small sets in many formats (sample_sets), and the same sets as
// other editors and systems write them (rewritten). reader_checks.cpp lets a reader read all of them. Formats
// may be added: a reader needs to read only one of them.
#pragma once

#include <string>
#include <vector>

#include <encore/records.hpp>

#include "contract/suite.hpp"

namespace encore::contract {

/// The argument of one `read`: one file, or several that belong together, as the two sides of a parallel
/// corpus.
struct FileSet {
  std::string name;  ///< for messages
  std::vector<CheckFile> files;
};

/// Returns small sets in many formats. A reader must understand at least one of them.
const std::vector<FileSet>& sample_sets();

/// A set as another editor or system writes it.
struct Rewritten {
  std::string how;  ///< "with CRLF line ends"
  FileSet set;
  bool same_records = true;  ///< false: it may be refused, with the name of its file
};

/// Returns the set with CRLF line ends, with a byte order mark, without a newline at the end, and with NUL,
/// without those forms that change no byte.
std::vector<Rewritten> rewritten(const FileSet& set);

/// Returns whether both have equal fields. Line ends within values may differ.
bool equal_apart_from_line_ends(const Records& a, const Records& b);

}  // namespace encore::contract
