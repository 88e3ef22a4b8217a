// SPDX-License-Identifier: BSD-3-Clause
// Reads whole text files for both programs, and refuses bytes that are not UTF-8 with the line that has them.
// Read load_file.hpp first.
#include "base/load_file.hpp"

#include <optional>

#include <encore/error.hpp>
#include <encore/lines.hpp>

#include "base/utf8.hpp"

namespace encore {

namespace {

template <class Read>
auto named(const std::filesystem::path& path, const std::string& what, const Read& read) {
  try {
    return read();
  } catch (const UnreadableFile& error) {
    throw Error("cannot read the " + what + " " + path.string() + ": " + error.why());
  }
}

/// Returns the number of the line that contains this byte.
std::string line_of(std::string_view text, std::size_t byte, std::int64_t first_line) {
  return std::to_string(first_line + count_line_ends(text.substr(0, byte)));
}

/// Throws Error for characters that UTF-8 allows but text files do not have: NUL bytes, and byte order marks
/// at the start of a later line.
void require_plain(std::string_view text, const std::filesystem::path& path, const std::string& what,
                   std::int64_t first_line) {
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    throw Error(path.string() + ":" + line_of(text, nul, first_line) + ": the " + what +
                " has a NUL byte, which no text file has; take it out, or convert the file if it is UTF-16 "
                "without a byte order mark, for example with iconv -f UTF-16LE -t UTF-8");
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  for (std::size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1))
    if (at == 0 ? first_line > 1 : text[at - 1] == '\n' || text[at - 1] == '\r')
      throw Error(path.string() + ":" + line_of(text, at, first_line) + ": this line of the " + what +
                  " begins with a byte order mark, which belongs in front of a file only; files were put one "
                  "behind the other, most likely: take it out");
}

}  // namespace

std::string load_file(const std::filesystem::path& path, const std::string& what) {
  return named(path, what, [&] { return read_file(path); });
}

InputFile open_file(const std::filesystem::path& path, const std::string& what) {
  return named(path, what, [&] { return InputFile(path); });
}

std::string load_text(const std::filesystem::path& path, const std::string& what) {
  std::string text = load_file(path, what);
  require_utf8(text, path, what);
  return text;
}

void require_utf8(std::string_view text, const std::filesystem::path& path, const std::string& what,
                  std::int64_t first_line) {
  const std::optional<std::size_t> bad = find_invalid_utf8(text);
  if (!bad) return require_plain(text, path, what, first_line);
  if (text.starts_with("\x1F\x8B"))
    throw Error(path.string() + ": the " + what + " is packed by gzip; unpack it, for example with gunzip");
  const bool utf16 = text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
  throw Error(path.string() + ":" + line_of(text, *bad, first_line) + ": the " + what + " is not UTF-8" +
              (utf16 ? " but looks like UTF-16; convert it, for example with iconv -f UTF-16 -t UTF-8"
                     : "; find its encoding and convert it, for example with iconv -f LATIN1 -t UTF-8"));
}

}  // namespace encore
