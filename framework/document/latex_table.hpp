// Text and tables in LaTeX. Place in the flow: latex.cpp.
#pragma once

#include <string>

#include "document/document.hpp"
#include "document/outline.hpp"

namespace encore {

std::string latex_line(const Text& text, const Outline& outline);

/// A longtable with booktabs' rules. Columns are as wide as their text where the page has room; else the
/// text gets smaller, then the widest columns break their lines.
std::string latex_table(const TableBlock& table, const Outline& outline);

}  // namespace encore
