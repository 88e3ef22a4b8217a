// See file.hpp.
#include "data/file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <encore/error.hpp>

#include "data/utf8.hpp"

namespace encore {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& what, const std::string& why) {
  throw Error("cannot read the " + what + " " + path.string() + ": " + why);
}

}  // namespace

std::string load_file(const std::filesystem::path& path, const std::string& what) {
  std::error_code failure;
  const std::filesystem::file_status status = std::filesystem::status(path, failure);
  if (status.type() == std::filesystem::file_type::not_found)
    refuse(path, what, "there is no such file; check the path and the folder it is relative to");
  if (status.type() == std::filesystem::file_type::directory)
    refuse(path, what, "it is a folder; name a file");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, what, errno != 0 ? std::strerror(errno) : "it cannot be opened");
  std::string bytes;
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  if (!failure) bytes.reserve(size);
  bytes.assign(std::istreambuf_iterator<char>(file), {});
  if (file.bad()) refuse(path, what, errno != 0 ? std::strerror(errno) : "reading stopped before its end");
  return bytes;
}

std::string load_text(const std::filesystem::path& path, const std::string& what) {
  std::string text = load_file(path, what);
  const std::optional<std::size_t> bad = find_invalid_utf8(text);
  if (!bad) return text;
  const auto at = text.begin() + static_cast<std::ptrdiff_t>(*bad);
  const auto line = 1 + std::count(text.begin(), at, '\n');
  const bool utf16 = text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
  throw Error(path.string() + ":" + std::to_string(line) + ": the " + what + " is not UTF-8" +
              (utf16 ? " but looks like UTF-16; convert it, for example with iconv -f UTF-16 -t UTF-8"
                     : "; find its encoding and convert it, for example with iconv -f LATIN1 -t UTF-8"));
}

}  // namespace encore
