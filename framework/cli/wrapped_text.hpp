// SPDX-License-Identifier: BSD-3-Clause
// Breaks text into lines that fit a terminal. binder.cpp and help_verb.cpp wrap all help here, so sources
// write a paragraph as one line.
#pragma once

#include <string>
#include <string_view>

#include "cli/terminal.hpp"

namespace encore::cli {

/// Returns the width of help on a stream, 40 to 100 columns: $COLUMNS, else the width of the terminal, else
/// 100.
int help_width(const Terminal& terminal);

/// Breaks the lines of the text at spaces, so that no line is wider than `width`, except for a wider word.
/// Line breaks of the text stay. A continued line is indented like its beginning plus `hanging` columns.
/// Columns are counted as on terminals (cli/terminal.hpp).
std::string wrapped(std::string_view text, int width, int hanging = 0);

}  // namespace encore::cli
