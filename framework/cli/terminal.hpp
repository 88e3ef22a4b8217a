// Terminal: what may be drawn on a stream (width, colour, UTF-8), and the live line that is written over
// again and again.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace encore {

struct Terminal {
  bool live = false;   ///< a terminal that can move its cursor; otherwise a file or a pipe
  bool color = false;  ///< off with $NO_COLOR
  bool utf8 = false;
  int width = 80;
};

/// Of a stream of this process: stdout or stderr. $COLUMNS wins over what the terminal says.
Terminal terminal_of(std::FILE* stream);

/// Columns the text takes on a terminal: wide characters count twice, accents that join nothing.
int display_width(std::string_view text);
/// The beginning that fits, with "…" (or ".") in place of what was cut.
std::string cut_to_width(std::string_view text, int width, bool utf8);
/// Control characters replaced by "?": what comes from files and names must not move the cursor.
std::string printable(std::string_view text);
/// The same for text of several lines, whose line ends stay.
std::string printable_lines(std::string_view text);

enum class Style { bold, dim, red, green, yellow, cyan };
/// The text in that style, or as it is where there is no colour.
std::string styled(const Terminal& terminal, Style style, std::string_view text);

/// One line at the bottom of a terminal that is replaced by each draw(); finished lines scroll above it.
/// Without a terminal draw() does nothing.
class LiveLine {
 public:
  LiveLine(std::FILE* stream, const Terminal& terminal) : stream_(stream), terminal_(terminal) {}
  ~LiveLine() { clear(); }
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

  void draw(const std::string& text);
  /// A line that stays.
  void print(const std::string& text);
  void clear();

 private:
  std::FILE* stream_;
  Terminal terminal_;
  std::string shown_;
};

}  // namespace encore
