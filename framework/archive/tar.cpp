// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes tar archives in blocks of 512 bytes, for unpack_bundle.cpp and bundle/pack_bundle.cpp. The
// offsets of the header fields are those of the manual page tar(5). Equal files must give equal bytes, and no
// check may be dropped. Read tar.hpp first.
#include "archive/tar.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include <encore/error.hpp>
#include <nlohmann/json.hpp>

namespace encore::archive {

namespace {

constexpr std::size_t longest_name = 240;
constexpr std::ptrdiff_t most_parts = 8;
/// The largest number of eleven octal digits. A larger size is written in binary, as GNU tar does.
constexpr std::uint64_t largest_octal = (std::uint64_t{1} << 33) - 1;

struct Field {
  std::size_t begin, size;
};
constexpr Field name_field{0, 100}, mode_field{100, 8}, owner_field{108, 8}, group_field{116, 8},
    size_field{124, 12}, time_field{136, 12}, sum_field{148, 8}, type_field{156, 1}, link_field{157, 100},
    magic_field{257, 8}, prefix_field{345, 155};
constexpr std::string_view ustar("ustar\00000", 8);

std::string_view field_of(const std::string& block, Field field) {
  return std::string_view(block).substr(field.begin, field.size);
}

void put(std::string& block, Field field, std::string_view text) {
  block.replace(field.begin, text.size(), text);
}

std::string octal(std::uint64_t number, std::size_t digits) {
  std::string text(digits, '0');
  for (std::size_t at = digits; at-- > 0; number >>= 3) text[at] = static_cast<char>('0' + (number & 7));
  return text;
}

/// Returns the checksum of a header: the sum of its bytes, with the checksum field read as blanks.
std::uint64_t sum_of(const std::string& block) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < block.size(); ++at) {
    const bool own = at >= sum_field.begin && at < sum_field.begin + sum_field.size;
    sum += own ? ' ' : static_cast<unsigned char>(block[at]);
  }
  return sum;
}

/// Reads octal digits up to a NUL, a blank or the end of the field.
std::optional<std::uint64_t> read_octal(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of("01234567"), text.size());
  if (end == 0 || text.find_first_not_of(std::string_view("\0 ", 2), end) != std::string_view::npos)
    return {};
  std::uint64_t number = 0;
  for (const char digit : text.substr(0, end)) number = number * 8 + static_cast<std::uint64_t>(digit - '0');
  return number;
}

std::optional<std::uint64_t> read_size(std::string_view text) {
  if (static_cast<unsigned char>(text[0]) != 0x80) return read_octal(text);
  std::uint64_t number = 0;
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (number >> 55 != 0) return {};
    number = number << 8 | static_cast<unsigned char>(text[at]);
  }
  return number;
}

/// Returns the text up to its first NUL, or nothing if anything follows that.
std::optional<std::string> read_text(std::string_view text) {
  const std::size_t end = std::min(text.find('\0'), text.size());
  if (text.find_first_not_of('\0', end) != std::string_view::npos) return {};
  return std::string(text.substr(0, end));
}

std::string kind_of(char type) {
  switch (type) {
    case '1':
      return "a hard link";
    case '2':
      return "a symbolic link";
    case '3':
    case '4':
      return "a device";
    case '5':
      return "a folder";
    case '6':
      return "a named pipe";
    case 'x':
    case 'g':
    case 'L':
    case 'K':
      return "an extended header, which may hide a name";
    default:
      return "of a kind that is not known (" + shown_name(std::string(1, type)) + ")";
  }
}

bool is_plain(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '.' || letter == '_' || letter == '+' || letter == '-';
}

}  // namespace

std::string shown_name(const std::string& name) {
  constexpr std::size_t most = 80;
  return nlohmann::json(name.size() > most ? name.substr(0, most) + "..." : name)
      .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::string name_problem(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.size() > longest_name) return "is longer than " + std::to_string(longest_name) + " bytes";
  if (name.front() == '/') return "is absolute";
  if (std::ranges::count(name, '/') >= most_parts) return "lies too deep in folders";
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part == "..") return "leads out of its folder";
    if (part.empty() || part == ".") return "has an empty part";
    if (!std::ranges::all_of(part, is_plain)) return "holds other letters than A-Z a-z 0-9 . _ + -";
    begin = end + 1;
  }
  return "";
}

std::string tar_head(const TarEntry& entry) {
  if (const std::string problem = name_problem(entry.name); !problem.empty())
    throw Error("the file name " + shown_name(entry.name) + " cannot stand in a bundle: it " + problem);
  std::string name = entry.name, prefix;
  if (name.size() > name_field.size) {
    const std::size_t slash = name.find('/', name.size() - name_field.size - 1);
    if (slash == std::string::npos || slash > prefix_field.size)
      throw Error("the file name " + shown_name(entry.name) +
                  " cannot stand in a bundle: a part is too long");
    prefix = name.substr(0, slash);
    name = name.substr(slash + 1);
  }
  std::string block(tar_block, '\0');
  put(block, name_field, name);
  put(block, mode_field, "0000644");
  put(block, owner_field, "0000000");
  put(block, group_field, "0000000");
  if (entry.bytes <= largest_octal) {
    put(block, size_field, octal(entry.bytes, 11));
  } else {
    std::array<char, 12> binary{'\x80'};
    for (std::size_t at = 0; at < 8; ++at) binary[11 - at] = static_cast<char>(entry.bytes >> (8 * at) & 255);
    put(block, size_field, std::string_view(binary.data(), binary.size()));
  }
  put(block, time_field, octal(0, 11));
  put(block, type_field, "0");
  put(block, magic_field, ustar);
  put(block, prefix_field, prefix);
  put(block, sum_field, octal(sum_of(block), 6) + std::string("\0 ", 2));
  return block;
}

std::string tar_padding(std::uint64_t bytes) {
  return std::string((tar_block - bytes % tar_block) % tar_block, '\0');
}

std::string tar_end() {
  return std::string(2 * tar_block, '\0');
}

TarReader::TarReader(std::function<std::size_t(std::span<char>)> source, std::string origin)
    : source_(std::move(source)), origin_(std::move(origin)) {}

std::optional<std::string> TarReader::read_block() {
  std::string block(tar_block, '\0');
  const std::size_t count = source_(block);
  if (count != block.size()) throw Error(origin_ + " is cut off: its archive has no end");
  if (block.find_first_not_of('\0') == std::string::npos) return std::nullopt;
  return block;
}

void TarReader::pass_over() {
  std::array<char, 4096> piece;
  while (read(piece) > 0) {
  }
  if (padding_ > 0 && source_(std::span(piece).first(padding_)) != padding_)
    throw Error(origin_ + " is cut off: its archive has no end");
  padding_ = 0;
}

std::optional<TarEntry> TarReader::next() {
  pass_over();
  const std::optional<std::string> block = read_block();
  if (!block) {
    if (read_block()) throw Error(origin_ + " has entries behind the end of its archive");
    return std::nullopt;
  }
  if (read_octal(field_of(*block, sum_field)) != sum_of(*block))
    throw Error(origin_ + " is damaged: the head of an entry does not have its checksum");
  const std::optional<std::string> name = read_text(field_of(*block, name_field));
  const std::optional<std::string> prefix = read_text(field_of(*block, prefix_field));
  if (!name || !prefix) throw Error(origin_ + ": a file name holds a NUL");
  TarEntry entry{.name = prefix->empty() ? *name : *prefix + "/" + *name};
  const std::string what = origin_ + ": " + shown_name(entry.name);
  const char type = (*block)[type_field.begin];
  if (type != '0') throw Error(what + " is " + kind_of(type) + "; a bundle holds plain files alone");
  if (field_of(*block, magic_field) != ustar)
    throw Error(what + " is not written in the ustar form of tar, which a bundle has");
  if (const std::string problem = name_problem(entry.name); !problem.empty())
    throw Error(what + " " + problem + "; nothing of that name is written");
  const std::optional<std::uint64_t> bytes = read_size(field_of(*block, size_field));
  if (!bytes) throw Error(what + " has no size that can be read");
  entry.bytes = left_ = *bytes;
  padding_ = tar_padding(*bytes).size();
  return entry;
}

std::size_t TarReader::read(std::span<char> to) {
  const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), left_));
  if (wanted == 0) return 0;
  const std::size_t count = source_(to.first(wanted));
  if (count != wanted) throw Error(origin_ + " is cut off: its archive has no end");
  left_ -= count;
  return count;
}

}  // namespace encore::archive
