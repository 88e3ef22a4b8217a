// Text broken into lines that fit a terminal: the one place in which help is wrapped. Sources write a
// paragraph as one line.
#pragma once

#include <string>
#include <string_view>

#include "cli/terminal.hpp"

namespace encore {

/// The width of help on a stream, 40 to 100 columns: that of the terminal ($COLUMNS wins over it); 100
/// without a terminal.
int help_width(const Terminal& terminal);

/// The text with its lines broken at spaces, so that none is wider than `width`; a word that is wider stays
/// whole. A line break of the text stays. What a broken line continues is indented like its beginning, and by
/// `hanging` columns more. Columns are counted as terminals do (cli/terminal.hpp).
std::string wrapped(std::string_view text, int width, int hanging = 0);

}  // namespace encore
