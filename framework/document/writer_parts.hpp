// SPDX-License-Identifier: BSD-3-Clause
// The parts from which writers (writers.hpp) make their files: lines, blocks and tables of a document as HTML
// or LaTeX, and the policy of HTML pages. html.cpp, report/attention_page.cpp (`exp attention`) and latex.cpp
// call them, serve/page.cpp the policy. html_blocks.cpp, latex_table.cpp and content_policy.cpp implement
// them. Every text passes through escape.hpp, so no name can become part of the format.
#pragma once

#include <string>
#include <vector>

#include "document/document.hpp"
#include "document/outline.hpp"

namespace encore::document {

/// Returns the text, escaped, on one line of HTML; isolated from its neighbours if it runs from right to
/// left.
std::string html_line(const std::string& text);

/// Returns the blocks as HTML, one after the other. `outline` has the ids and numbers of the document that
/// holds them. Throws Error for a reference to a missing id.
std::string html_blocks(const std::vector<Block>& blocks, const Outline& outline);

/// Returns the Content-Security-Policy of a page that loads nothing and whose only <style> and <script> hold
/// exactly these strings: the policy names them by hash, so a page must contain the strings unchanged.
std::string content_policy(const std::string& style, const std::string& script);

/// Returns a text on one line of LaTeX, escaped and with its marks. `outline` has the labels of references.
std::string latex_line(const Text& text, const Outline& outline);

/// Returns a longtable with booktabs' rules; reports/report.tex loads the packages. Columns are as wide as
/// their text if the page has room; otherwise the text gets smaller, then the widest columns break their
/// lines.
std::string latex_table(const TableBlock& table, const Outline& outline);

}  // namespace encore::document
