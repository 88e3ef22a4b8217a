// SPDX-License-Identifier: BSD-3-Clause
// Terminal: the properties of a stream (width, height, colour, UTF-8); wrapped(): text in lines that fit;
// LiveLines: lines that are redrawn. Console has a Terminal for each stream; tables, help and progress use it
// for width and colour. Files and pipes must get no escape codes. binder.cpp and help_verb.cpp wrap all help
// with wrapped(), so sources write a paragraph as one line.
#pragma once

#include <cstdio>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/terminal_text.hpp"

namespace encore::cli {

struct Terminal {
  bool live = false;   ///< a terminal that can move its cursor; otherwise a file or a pipe
  bool color = false;  ///< off with $NO_COLOR
  bool utf8 = false;   ///< the user's locale is UTF-8
  int width = 80;      ///< in columns
  int height = 24;     ///< in lines
};

/// Returns the terminal of stdout or stderr. $COLUMNS and $LINES replace the terminal's own size.
Terminal terminal_of(std::FILE* stream);

/// Returns the number of columns that the text takes: wide characters take two, combining accents none.
int display_width(std::string_view text);
/// Returns the beginning that fits, with "…" (or ".") at the cut.
std::string cut_to_width(std::string_view text, int width, bool utf8);

enum class Style { bold, dim, red, green, yellow, cyan };
/// Returns the text in this style, or unchanged without colour.
std::string styled(const Terminal& terminal, Style style, std::string_view text);
/// Prints a bold line after an empty line.
void print_heading(std::ostream& out, const Terminal& terminal, std::string_view text);

/// Lines at the bottom of a terminal, one for each thing in progress, that are replaced again and again;
/// finished lines scroll above them. If they do not fit, the last line shows how many are hidden. Without a
/// terminal, only print() has an effect.
class LiveLines {
 public:
  LiveLines(std::ostream& stream, const Terminal& terminal) : stream_(stream), terminal_(terminal) {}
  ~LiveLines() { hide(); }
  LiveLines(const LiveLines&) = delete;
  LiveLines& operator=(const LiveLines&) = delete;

  const Terminal& terminal() const { return terminal_; }
  /// Sets the text that line `key` shows from the next refresh() on. Lines stand in the order of their keys.
  void set(int key, const std::string& text);
  void remove(int key);
  /// Redraws the live lines.
  void refresh();
  /// Prints a line that stays, above the live lines.
  void print(const std::string& text);
  /// Removes the live lines until the next refresh(), so that others can print.
  void hide();

 private:
  std::vector<std::string> wanted() const;

  std::ostream& stream_;
  Terminal terminal_;
  std::map<int, std::string> lines_;
  std::vector<std::string> shown_;
};

/// Returns the width of help on a stream, 40 to 100 columns: $COLUMNS, else the width of the terminal, else
/// 100.
int help_width(const Terminal& terminal);

/// Breaks the lines of the text at spaces, so that no line is wider than `width`, except for a wider word.
/// Line breaks of the text stay. A continued line is indented like its beginning plus `hanging` columns.
/// Columns are counted as display_width() does.
std::string wrapped(std::string_view text, int width, int hanging = 0);

}  // namespace encore::cli
