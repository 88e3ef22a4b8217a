// SPDX-License-Identifier: BSD-3-Clause
// Escapes text for HTML, Markdown, LaTeX and CSV. Every function takes any bytes, cleans them first
// (text.hpp), and returns text without special meaning in its format. The writers (html.cpp, markdown.cpp,
// latex.cpp, csv.cpp) and svg.cpp, tikz.cpp put text of a Document into a file only through these functions;
// this protects readers of reports from hostile names, so no writer may bypass them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace encore::document {

/// Escapes for text and quoted attributes of HTML and XML. Line feeds stay.
std::string html_text(std::string_view text);

/// Escapes for a paragraph or a cell of Markdown (CommonMark with tables): one line, isolated if it runs from
/// right to left.
std::string markdown_text(std::string_view text);
/// Returns a code span, with as many backticks as it needs, or HTML if the text has a <; `in_table`: a | in
/// it is escaped.
std::string markdown_code(std::string_view text, bool in_table);
/// Returns a fence longer than any run of backticks in the text, at least three.
std::string markdown_fence(std::string_view text);

/// Escapes for LaTeX' text mode, pdflatex with any font encoding: one line. Characters without a glyph become
/// \codepoint{1F600}, long words get places to break, \wbr{}; reports/report.tex defines these two.
std::string latex_text(std::string_view text);

/// Returns a field of RFC 4180. Text that a spreadsheet would take for a formula, because it begins with = +
/// - @, a tab or a carriage return and is not a number, gets a ' in front.
std::string csv_field(std::string_view text);
/// Returns one record of RFC 4180, with its line end; each field is as csv_field writes it.
std::string csv_record(const std::vector<std::string>& fields);
/// Returns csv_field of text of a document, without its control characters.
std::string csv_text(std::string_view text);

/// Returns an id, file name or label: letters, digits, - and _; other bytes become "-".
std::string anchor_text(std::string_view text);

}  // namespace encore::document
