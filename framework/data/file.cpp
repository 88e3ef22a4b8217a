// See file.hpp.
#include "data/file.hpp"

#include <algorithm>
#include <optional>

#include <encore/error.hpp>

#include "data/utf8.hpp"

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
  if (!bad) return;
  if (text.starts_with("\x1F\x8B"))
    throw Error(path.string() + ": the " + what + " is packed by gzip; unpack it, for example with gunzip");
  const auto at = text.begin() + static_cast<std::ptrdiff_t>(*bad);
  const auto line = first_line + std::count(text.begin(), at, '\n');
  const bool utf16 = text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
  throw Error(path.string() + ":" + std::to_string(line) + ": the " + what + " is not UTF-8" +
              (utf16 ? " but looks like UTF-16; convert it, for example with iconv -f UTF-16 -t UTF-8"
                     : "; find its encoding and convert it, for example with iconv -f LATIN1 -t UTF-8"));
}

}  // namespace encore
