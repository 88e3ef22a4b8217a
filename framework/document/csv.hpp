// SPDX-License-Identifier: BSD-3-Clause
// The tables of a document as CSV (RFC 4180). Numbers in full precision, independent of how the table shows
// them. Place in the flow: `exp report -o FILE.csv`.
#pragma once

#include <string>

#include "document/document.hpp"
#include "document/output_file.hpp"

namespace encore {

/// CSV can hold one table in one file. With `id`, returns that table as the file `name`; without, the only
/// table of the document, or, if there are several, each as `ID.csv` in a folder called like `name` without
/// the ending `.csv`. Throws Error for an id that is not a table's, and for a document without tables.
std::vector<OutputFile> csv_files(const Document& document, const std::string& name,
                                  const std::string& id = "");

}  // namespace encore
