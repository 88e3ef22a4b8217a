// SPDX-License-Identifier: BSD-3-Clause
// Writes text and tables of a document as LaTeX. latex.cpp calls it for each TableBlock of a document
// (document.hpp). Read next: latex_table.cpp, which chooses the widths of the columns.
#pragma once

#include <string>

#include "document/document.hpp"
#include "document/outline.hpp"

namespace encore::document {

std::string latex_line(const Text& text, const Outline& outline);

/// Returns a longtable with booktabs' rules. Columns are as wide as their text if the page has room;
/// otherwise the text gets smaller, then the widest columns break their lines.
std::string latex_table(const TableBlock& table, const Outline& outline);

}  // namespace encore::document
