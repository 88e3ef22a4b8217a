// SPDX-License-Identifier: BSD-3-Clause
// Bytes as text for byte_bpe: the printable alphabet in which vocabularies are stored, and the splitting of
// text into words, both as in GPT-2 (Radford et al. 2019). Vocabularies depend on both, so neither may
// change. Read next: byte_bpe.cpp.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace encore::byte_bpe {

/// Returns each byte as a printable character: printable characters of Latin-1 stand for themselves; the
/// other bytes, in their order, become U+0100 onward.
std::string printable(std::string_view bytes);
/// Returns the bytes of a token, or nothing if one of its characters stands for no byte.
std::optional<std::string> bytes_of(std::string_view printable);
/// Returns all bytes in the order of their printable characters.
const std::array<unsigned char, 256>& alphabet();

/// Returns the length of the word that `text`, which is not empty, begins with, by the pattern
///   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// Bytes that are not UTF-8 are not letters, numbers or white space.
std::size_t first_word(std::string_view text);

}  // namespace encore::byte_bpe
