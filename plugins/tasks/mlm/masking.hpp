// Which rows of a sequence a masked language model has to guess, and what stands there instead (Devlin et al.
// 2019, section 3.1 and appendix A.1). Pure functions of the sequence and of a key, so that an epoch's masks
// are the same for any number of threads and after a resume.
// Place in the flow: Mlm::encode and Mlm::redraw -> mask -> ids, picked rows, targets. Read next:
// whole_words.hpp, mlm.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace encore::mlm {

/// Random words by counter: word(stream, n) is the finaliser of SplitMix64 (Steele, Lea and Flood 2014) over
/// a chain of the key's numbers. Host code without Kokkos cannot use encore/random.hpp.
class Draw {
 public:
  /// What the words are for; one number in different streams gives unrelated words.
  enum Stream : std::uint64_t { order, replacement, token, pair };

  Draw(std::uint64_t seed, std::int64_t epoch, std::uint64_t example, std::size_t sequence);

  std::uint64_t word(Stream stream, std::uint64_t number) const;
  /// In [0, 1).
  double uniform(Stream stream, std::uint64_t number) const;
  /// In [0, below).
  std::int64_t integer(Stream stream, std::uint64_t number, std::int64_t below) const;

 private:
  std::uint64_t key_;
};

/// What has to be known of a vocabulary to mask.
struct Tokens {
  std::int32_t count = 0;                       ///< V
  std::int32_t mask = 0;                        ///< number of the mask token
  std::span<const std::int32_t> specials = {};  ///< numbers of all tokens without text, ascending
};

/// Of rows that are never masked: markers and other special tokens.
inline constexpr std::int32_t no_word = -1;

/// The word of each row (T): the row's own number, so that tokens are masked one by one; no_word for special
/// tokens.
std::vector<std::int32_t> single_tokens(std::span<const std::int32_t> ids, const Tokens& tokens);

/// How many rows of `words` (T) are masked: max(1, round(probability * rows that can be)), 0 where none can.
/// It depends on the sequence alone, so every epoch picks equally many.
std::size_t count_picks(std::span<const std::int32_t> words, double probability);

/// Picks as many rows as `picked` (M) has place for, ascending; neighbouring rows with one number in `words`
/// (T) are one word. Words are taken in a drawn order as long as they fit; where places are left that no word
/// fills exactly, the next word in that order gives its first rows. So at most one word of a sequence is
/// masked in part, and M never varies.
void pick_rows(std::span<const std::int32_t> words, const Draw& draw, std::span<std::int32_t> picked);

/// targets (M) = the ids (T) of the picked rows, which become the mask token (80 %), a random ordinary token
/// (10 %), or stay as they are (10 %).
void mask_rows(std::span<const std::int32_t> picked, const Tokens& tokens, const Draw& draw,
               std::span<std::int32_t> ids, std::span<std::int32_t> targets);

/// Undoes mask_rows.
void restore_rows(std::span<const std::int32_t> picked, std::span<const std::int32_t> targets,
                  std::span<std::int32_t> ids);

}  // namespace encore::mlm
