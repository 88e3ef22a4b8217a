// SPDX-License-Identifier: BSD-3-Clause
// Writes text and tables of a document as LaTeX. latex.cpp calls latex_table() for each TableBlock of a
// document (document.hpp), and latex_line() for other text. The packages it needs are loaded by
// reports/report.tex.
#pragma once

#include <string>

#include "document/document.hpp"
#include "document/outline.hpp"

namespace encore::document {

/// Returns a text on one line, escaped and with its marks. `outline` has the labels of references.
std::string latex_line(const Text& text, const Outline& outline);

/// Returns a longtable with booktabs' rules. Columns are as wide as their text if the page has room;
/// otherwise the text gets smaller, then the widest columns break their lines.
std::string latex_table(const TableBlock& table, const Outline& outline);

}  // namespace encore::document
