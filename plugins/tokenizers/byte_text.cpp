// SPDX-License-Identifier: BSD-3-Clause
// Bytes as printable text, in two tables, and first_word(), a matcher of GPT-2's regular expression written
// by hand. byte_bpe.cpp and its trainer call it. Both must stay those of GPT-2. Read byte_bpe.hpp first.
#include "byte_bpe.hpp"

#include <algorithm>
#include <cstdint>

#include "code_points.hpp"

namespace encore::byte_bpe {
namespace {

using tokenizers::CodePoint;
using tokenizers::first_code_point;

constexpr bool stands_for_itself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xFF && byte != 0xAD);
}

constexpr std::array<std::int32_t, 256> make_characters() {
  std::array<std::int32_t, 256> characters{};
  std::int32_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte)
    characters[static_cast<std::size_t>(byte)] = stands_for_itself(byte) ? byte : next++;
  return characters;
}

/// Returns the code point of each byte.
constexpr std::array<std::int32_t, 256> characters = make_characters();

enum class Sort { letter, number, white_space, other };

Sort sort_of(std::int32_t code_point) {
  if (tokenizers::is_letter(code_point)) return Sort::letter;
  if (tokenizers::is_number(code_point)) return Sort::number;
  return tokenizers::is_white_space(code_point) ? Sort::white_space : Sort::other;
}

/// The length of a run of characters of one kind from `begin` on, and the position of its last character.
struct Run {
  std::size_t end;
  std::size_t last;
};
Run run_of(Sort sort, std::string_view text, std::size_t begin) {
  Run run{begin, begin};
  while (run.end < text.size()) {
    const CodePoint c = first_code_point(text.substr(run.end));
    if (sort_of(c.value) != sort) break;
    run.last = run.end;
    run.end += c.bytes;
  }
  return run;
}

}  // namespace

std::string printable(std::string_view bytes) {
  std::string result;
  for (const char byte : bytes)
    tokenizers::append(result, characters[static_cast<std::size_t>(static_cast<unsigned char>(byte))]);
  return result;
}

std::optional<std::string> bytes_of(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    const auto found = std::find(characters.begin(), characters.end(), c.value);
    if (found == characters.end()) return std::nullopt;
    bytes += static_cast<char>(found - characters.begin());
    text.remove_prefix(c.bytes);
  }
  return bytes;
}

const std::array<unsigned char, 256>& alphabet() {
  static const std::array<unsigned char, 256> bytes = [] {
    std::array<unsigned char, 256> result{};
    for (std::size_t byte = 0; byte < result.size(); ++byte) result[byte] = static_cast<unsigned char>(byte);
    std::sort(result.begin(), result.end(),
              [](unsigned char a, unsigned char b) { return characters[a] < characters[b]; });
    return result;
  }();
  return bytes;
}

std::size_t first_word(std::string_view text) {
  if (text.front() == '\'')
    for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
      if (text.starts_with(ending)) return ending.size();
  const std::size_t blank = text.front() == ' ' && text.size() > 1 ? 1 : 0;
  const Sort sort = sort_of(first_code_point(text.substr(blank)).value);
  if (sort != Sort::white_space) return run_of(sort, text, blank).end;
  const Run spaces = run_of(Sort::white_space, text, 0);
  return spaces.end == text.size() || spaces.last == 0 ? spaces.end : spaces.last;
}

}  // namespace encore::byte_bpe
