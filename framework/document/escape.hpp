// Escaping: the one place that knows which characters mean something in which format. Every function takes
// any bytes, cleans them first (text.hpp), and returns text that means only itself there. Place in the flow:
// the writers (html.cpp, markdown.cpp, latex.cpp, csv.cpp) and svg.cpp, tikz.cpp put nothing of a Document
// into a file but through these.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace encore {

/// For text and for attributes in quotes of HTML and XML. Line feeds stay.
std::string html_text(std::string_view text);

/// For a paragraph or a cell of Markdown (CommonMark with tables): one line; isolated where it runs from
/// right to left.
std::string markdown_text(std::string_view text);
/// A code span, with as many backticks as it needs, or as HTML where the text has a <; `in_table`: a | in it
/// is escaped.
std::string markdown_code(std::string_view text, bool in_table);
/// Longer than any run of backticks in the text, at least three.
std::string markdown_fence(std::string_view text);

/// For LaTeX' text mode, pdflatex with any font encoding: one line. Characters without a glyph become
/// \codepoint{1F600}, long words get places to break, \wbr{}; reports/report.tex says what these two are.
std::string latex_text(std::string_view text);

/// A field of RFC 4180. Text that a spreadsheet would take for a formula, which begins with = + - @, a tab or
/// a carriage return and is no number, gets a ' in front.
std::string csv_field(std::string_view text);
/// One record of RFC 4180, with its line end; each field as csv_field writes it.
std::string csv_record(const std::vector<std::string>& fields);
/// csv_field of text of a document, whose control characters are taken out.
std::string csv_text(std::string_view text);

/// What may stand in an id, a file name and a label: letters, digits, - and _; other bytes are "-".
std::string anchor_text(std::string_view text);

}  // namespace encore
