// SPDX-License-Identifier: BSD-3-Clause
// Chooses which rows of a sequence a masked language model must predict, and which tokens replace them
// (Devlin et al. 2019, section 3.1 and appendix A.1). All functions depend only on the sequence and a key, so
// the masks of an epoch are the same for any number of threads and after a resume. Mlm::encode and
// Mlm::redraw call them. A change of a draw changes the results of all runs of the task. Read next:
// whole_words.cpp, mlm.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <encore/tokenizer.hpp>

namespace encore::mlm {

/// Random numbers by counter: word(stream, n) is the finalizer of SplitMix64 (Steele, Lea and Flood 2014)
/// over a chain of the key's numbers. Host code without Kokkos cannot use encore/random.hpp, so it has its
/// own.
class Draw {
 public:
  /// The uses of random numbers; one counter in different streams gives unrelated numbers.
  enum Stream : std::uint64_t { order, replacement, token, pair };

  Draw(std::uint64_t seed, std::int64_t epoch, std::uint64_t example, std::size_t sequence);

  std::uint64_t word(Stream stream, std::uint64_t number) const;
  /// Returns a number in [0, 1).
  double uniform(Stream stream, std::uint64_t number) const;
  /// Returns a number in [0, below).
  std::int64_t integer(Stream stream, std::uint64_t number, std::int64_t below) const;

 private:
  std::uint64_t key_;
};

/// The properties of a vocabulary that masking needs.
struct Tokens {
  std::int32_t count = 0;                       ///< V
  std::int32_t mask = 0;                        ///< number of the mask token
  std::span<const std::int32_t> specials = {};  ///< numbers of all tokens without text, ascending
};

/// The word of rows that are never masked: markers and other special tokens.
inline constexpr std::int32_t no_word = -1;

/// Returns the word of each row (T): the row's own number, so that tokens are masked one by one, and no_word
/// for special tokens.
std::vector<std::int32_t> single_tokens(std::span<const std::int32_t> ids, const Tokens& tokens);

/// Returns how many rows of `words` (T) to mask: max(1, round(probability * rows that can be masked)), or 0
/// if none can be. It depends only on the sequence, so every epoch masks the same number.
std::size_t count_picks(std::span<const std::int32_t> words, double probability);

/// Fills `picked` (M) with ascending rows to mask. Adjacent rows with one number in `words` (T) are one word.
/// Words are taken in random order as long as they fit. If places are left that no word fills exactly, the
/// next word in that order gives its first rows. So at most one word of a sequence is masked in part, and M
/// never varies.
void pick_rows(std::span<const std::int32_t> words, const Draw& draw, std::span<std::int32_t> picked);

/// Sets targets (M) to the ids (T) of the picked rows; these rows become the mask token (80 %), a random
/// ordinary token (10 %), or stay as they are (10 %).
void mask_rows(std::span<const std::int32_t> picked, const Tokens& tokens, const Draw& draw,
               std::span<std::int32_t> ids, std::span<std::int32_t> targets);

/// Restores the ids that mask_rows changed.
void restore_rows(std::span<const std::int32_t> picked, std::span<const std::int32_t> targets,
                  std::span<std::int32_t> ids);

/// Finds which tokens form one word, for masking whole words (whole_words.cpp). It uses the byte ranges that
/// a tokenizer returns with its tokens, so it works with every tokenizer. Mlm::encode stores the result in
/// the column "words". Returns a number for each token, ascending from 0, equal for adjacent tokens of one
/// word. Words are those of BERT's tokenizer: letters, marks and digits without anything between; punctuation
/// marks, symbols and ideographs are words of their own. `ranges`: the bytes of each token in `text`.
std::vector<std::int32_t> number_words(std::string_view text, std::span<const ByteRange> ranges);

}  // namespace encore::mlm
