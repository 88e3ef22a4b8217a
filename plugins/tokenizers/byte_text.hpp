// Bytes as text for byte_bpe: the printable alphabet that vocabularies are written in, and the cutting of
// text into words, both as GPT-2 has them (Radford et al. 2019). Read next: byte_bpe.cpp.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace encore::byte_bpe {

/// Each byte as a printable character: the printable ones of Latin-1 stand for themselves, the others, in
/// their order, for U+0100 onward.
std::string printable(std::string_view bytes);
/// The bytes of a token; nothing when one of its characters stands for no byte.
std::optional<std::string> bytes_of(std::string_view printable);
/// All bytes in the order of their characters.
const std::array<unsigned char, 256>& alphabet();

/// The length of the word that `text`, which is not empty, begins with, by the pattern
///   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// Bytes that are not UTF-8 count as neither letter nor number nor white space.
std::size_t first_word(std::string_view text);

}  // namespace encore::byte_bpe
