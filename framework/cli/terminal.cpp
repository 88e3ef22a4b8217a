// See terminal.hpp.
#include "cli/terminal.hpp"

#include <langinfo.h>
#include <locale.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utf8proc.h>

#include <cstdlib>
#include <cstring>

namespace encore {

namespace {

bool has_text(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

/// The character set of the user's locale, without changing that of the process: numbers keep their point.
bool locale_is_utf8() {
  locale_t locale = ::newlocale(LC_CTYPE_MASK, "", nullptr);
  if (locale == nullptr) return false;
  const bool utf8 = std::strcmp(::nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
  ::freelocale(locale);
  return utf8;
}

int width_of_terminal(int descriptor) {
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr && std::atoi(columns) > 0)
    return std::atoi(columns);
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
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

}  // namespace

Terminal terminal_of(std::FILE* stream) {
  const int descriptor = ::fileno(stream);
  const char* kind = std::getenv("TERM");
  Terminal terminal;
  terminal.live = ::isatty(descriptor) != 0 && kind != nullptr && std::strcmp(kind, "dumb") != 0;
  terminal.color = terminal.live && !has_text("NO_COLOR");
  terminal.utf8 = locale_is_utf8();
  terminal.width = width_of_terminal(descriptor);
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

std::string printable(std::string_view text) {
  std::string clean(text);
  for (char& character : clean)
    if ((static_cast<unsigned char>(character) < 0x20 && character != '\t') || character == 0x7f)
      character = '?';
  return clean;
}

std::string printable_lines(std::string_view text) {
  std::string clean;
  for (;;) {
    const std::size_t end = text.find('\n');
    clean += printable(text.substr(0, end));
    if (end == std::string_view::npos) return clean;
    clean += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string styled(const Terminal& terminal, Style style, std::string_view text) {
  if (!terminal.color) return std::string(text);
  return std::string("\033[") + code_of(style) + "m" + std::string(text) + "\033[0m";
}

void LiveLine::draw(const std::string& text) {
  if (!terminal_.live) return;
  // One column is left free: a line that fills the last one wraps on some terminals.
  const std::string line = cut_to_width(text, terminal_.width - 1, terminal_.utf8);
  if (line == shown_) return;
  std::fprintf(stream_, "\r\033[K%s", line.c_str());
  std::fflush(stream_);
  shown_ = line;
}

void LiveLine::print(const std::string& text) {
  clear();
  std::fprintf(stream_, "%s\n", text.c_str());
  std::fflush(stream_);
}

void LiveLine::clear() {
  if (shown_.empty()) return;
  std::fputs("\r\033[K", stream_);
  std::fflush(stream_);
  shown_.clear();
}

}  // namespace encore
