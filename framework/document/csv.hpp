// SPDX-License-Identifier: BSD-3-Clause
// Writes the tables of a document as CSV (RFC 4180), with numbers in full precision even where the table
// shows rounded ones. `exp report -o FILE.csv` (cli/report_formats.cpp) calls it. Read document.hpp first.
#pragma once

#include <string>

#include "document/document.hpp"
#include "document/output_file.hpp"

namespace encore::document {

/// CSV can hold one table in one file. With `id`, returns that table as the file `name`; without, the only
/// table of the document, or, if there are several, each as `ID.csv` in a folder called like `name` without
/// the ending `.csv`. Throws Error for an id that is not a table's, and for a document without tables.
std::vector<OutputFile> csv_files(const Document& document, const std::string& name,
                                  const std::string& id = "");

}  // namespace encore::document
