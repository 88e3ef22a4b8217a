// SPDX-License-Identifier: BSD-3-Clause
// Terminal: finds the properties of a terminal, wraps text to its width, and draws live lines that are
// replaced. Console has one for each stream; binder.cpp and help_verb.cpp wrap help here. A file or a pipe
// must get no escape codes. Read next: terminal.hpp.
#include "cli/terminal.hpp"

#include <langinfo.h>
#include <locale.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ostream>

#include "base/terminal_filter.hpp"

namespace encore::cli {

namespace {

bool has_text(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

/// Returns whether the user's locale is UTF-8. The process keeps its own locale, so that numbers keep their
/// point.
bool locale_is_utf8() {
  locale_t locale = ::newlocale(LC_CTYPE_MASK, "", nullptr);
  if (locale == nullptr) return false;
  const bool utf8 = std::strcmp(::nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
  ::freelocale(locale);
  return utf8;
}

/// Returns columns and rows; 80 and 24 if they are unknown.
winsize size_of_terminal(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
    size.ws_col = 80, size.ws_row = 24;
  const auto override_with = [](const char* name, unsigned short& value) {
    const char* text = std::getenv(name);
    if (text != nullptr && std::atoi(text) > 0) value = static_cast<unsigned short>(std::atoi(text));
  };
  override_with("COLUMNS", size.ws_col);
  override_with("LINES", size.ws_row);
  return size;
}

struct Character {
  std::size_t bytes;
  int width;
};

Character character_at(std::string_view text) {
  utf8proc_int32_t code = 0;
  const auto bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                      static_cast<utf8proc_ssize_t>(text.size()), &code);
  if (bytes <= 0) return {1, 1};
  return {static_cast<std::size_t>(bytes), utf8proc_charwidth(code)};
}

const char* code_of(Style style) {
  switch (style) {
    case Style::bold:
      return "1";
    case Style::dim:
      return "2";
    case Style::red:
      return "31";
    case Style::green:
      return "32";
    case Style::yellow:
      return "33";
    case Style::cyan:
      return "36";
  }
  return "0";
}

/// Wraps one line of the text, without its line break.
std::string wrapped_line(std::string_view line, int width, int hanging) {
  const std::size_t own = std::min(line.find_first_not_of(' '), line.size());
  const std::string indent(own + static_cast<std::size_t>(hanging), ' ');
  std::string text(line.substr(0, own));
  int used = static_cast<int>(own);
  bool first = true;
  for (std::size_t at = own; at < line.size();) {
    // A word with the spaces in front of it, which are kept within a line.
    const std::size_t begin = std::min(line.find_first_not_of(' ', at), line.size());
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    const int needed = static_cast<int>(begin - at) + display_width(word);
    if (!first && used + needed > width) {
      text += "\n" + indent + std::string(word);
      used = static_cast<int>(indent.size()) + display_width(word);
    } else {
      text += line.substr(at, end - at);
      used += needed;
    }
    first = false;
    at = end;
  }
  return text;
}

}  // namespace

Terminal terminal_of(std::FILE* stream) {
  const int descriptor = ::fileno(stream);
  const char* kind = std::getenv("TERM");
  Terminal terminal;
  terminal.live = ::isatty(descriptor) != 0 && kind != nullptr && std::strcmp(kind, "dumb") != 0;
  terminal.color = terminal.live && !has_text("NO_COLOR");
  terminal.utf8 = locale_is_utf8();
  const winsize size = size_of_terminal(descriptor);
  terminal.width = size.ws_col;
  terminal.height = size.ws_row;
  return terminal;
}

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const Character character = character_at(text);
    width += character.width;
    text.remove_prefix(character.bytes);
  }
  return width;
}

std::string cut_to_width(std::string_view text, int width, bool utf8) {
  if (display_width(text) <= width) return std::string(text);
  if (width <= 0) return "";
  std::string cut;
  int used = 0;
  while (!text.empty()) {
    const Character character = character_at(text);
    if (used + character.width > width - 1) break;
    cut.append(text.substr(0, character.bytes));
    used += character.width;
    text.remove_prefix(character.bytes);
  }
  return cut + (utf8 ? "…" : ".");
}

std::string styled(const Terminal& terminal, Style style, std::string_view text) {
  if (!terminal.color) return std::string(text);
  return std::string("\033[") + code_of(style) + "m" + std::string(text) + "\033[0m";
}

void print_heading(std::ostream& out, const Terminal& terminal, std::string_view text) {
  out << '\n' << styled(terminal, Style::bold, text) << '\n';
}

void LiveLines::set(int key, const std::string& text) {
  if (terminal_.live) lines_[key] = printable(text);
}

void LiveLines::remove(int key) {
  lines_.erase(key);
}

/// Returns the lines that fit, each cut to the width.
std::vector<std::string> LiveLines::wanted() const {
  const std::size_t room = static_cast<std::size_t>(terminal_.height > 3 ? terminal_.height - 2 : 1);
  std::vector<std::string> texts;
  for (const auto& [key, text] : lines_) {
    if (texts.size() + 1 == room && lines_.size() > room) {
      texts.push_back("and " + std::to_string(lines_.size() - texts.size()) + " more");
      break;
    }
    texts.push_back(text);
  }
  // One column is left free: a line that fills the last one wraps on some terminals.
  for (std::string& text : texts) text = cut_to_width(text, terminal_.width - 1, terminal_.utf8);
  return texts;
}

void LiveLines::refresh() {
  std::vector<std::string> texts = wanted();
  if (texts == shown_) return;
  hide();
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : "\n") + text;
  write_control(stream_, all);
  stream_.flush();
  shown_ = std::move(texts);
}

void LiveLines::print(const std::string& text) {
  hide();
  write_control(stream_, printable_lines(text) + "\n");
  stream_.flush();
}

void LiveLines::hide() {
  if (shown_.empty()) return;
  const std::size_t above = shown_.size() - 1;
  write_control(stream_, "\r" + (above > 0 ? "\033[" + std::to_string(above) + "A" : "") + "\033[J");
  stream_.flush();
  shown_.clear();
}

int help_width(const Terminal& terminal) {
  constexpr int narrowest = 40, widest = 100;
  const bool is_known = terminal.live || std::getenv("COLUMNS") != nullptr;
  return is_known ? std::clamp(terminal.width, narrowest, widest) : widest;
}

std::string wrapped(std::string_view text, int width, int hanging) {
  std::string lines;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines += (at == 0 ? "" : "\n") + wrapped_line(text.substr(at, end - at), width, hanging);
    at = end + 1;
  }
  return lines;
}

}  // namespace encore::cli
