// SPDX-License-Identifier: BSD-3-Clause
// BertText splits text into words like BERT's BasicTokenizer. It cleans the characters and separates
// ideographs. If an option says so, letters that look like Latin ones become these. For a lower-casing model
// it also decomposes characters (NFD), drops accents and converts to lower case, unless options say
// otherwise. White space and punctuation marks separate words. wordpiece.cpp cuts the words into tokens;
// wordpiece_trainer.cpp counts them. Models were trained with these words, so they must not change.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <encore/tokenizer.hpp>

namespace encore::wordpiece {

/// The words of one text. If it is reused for the next text, splitting allocates no memory.
class SplitText {
 public:
  std::size_t size() const { return words_.size(); }
  /// Returns a word as UTF-8, valid until the next split.
  std::string_view word(std::size_t i) const {
    return std::string_view(text_).substr(words_[i].first, words_[i].last - words_[i].first);
  }
  /// Returns where the bytes [begin, end) of a word (whole characters) come from in the text, which must have
  /// been split with ranges.
  ByteRange range(std::size_t i, std::size_t begin, std::size_t end) const {
    return {sources_[words_[i].first + begin].begin, sources_[words_[i].first + end - 1].end};
  }

 private:
  friend class BertText;
  struct Word {
    std::uint32_t first;
    std::uint32_t last;
  };
  void clear();
  void end_word();
  /// Appends one character of the normalized text, or ends the current word before it.
  template <bool Ranged>
  void place(std::int32_t c, ByteRange source);

  std::string text_;
  std::vector<Word> words_;
  std::size_t open_ = 0;  // where the current word begins
  std::vector<std::int32_t> code_points_;
  // With ranges only:
  std::vector<ByteRange> sources_;        // for each byte of text_
  std::vector<ByteRange> point_sources_;  // for each code point
};

/// The steps applied to a text before it is split.
struct BertCleaning {
  bool lowercase = false;
  bool strip_accents = false;
  bool separate_ideographs = true;
  bool fold_lookalikes = false;  ///< Letters that look like Latin ones become these (lookalikes.hpp).
};

/// A text before it is split at white space and punctuation, and the origin of each of its bytes.
struct NormalizedText {
  std::string text;
  std::vector<ByteRange> sources;
};

class BertText {
 public:
  explicit BertText(BertCleaning cleaning) : cleaning_(cleaning) {}
  /// Splits a text. Drops invalid bytes and U+FFFD. `ranged`: also fills what SplitText::range needs.
  void split(std::string_view text, SplitText& out, bool ranged = false) const;
  /// The first half of `split`, with ranges, for callers that search the normalized text before they split
  /// it.
  void normalize(std::string_view text, NormalizedText& out) const;
  /// The second half: splits the bytes [begin, end) of a normalized text, which begin and end with whole
  /// characters.
  void split_normalized(const NormalizedText& text, std::size_t begin, std::size_t end, SplitText& out) const;

 private:
  template <bool Ranged>
  void split_into(std::string_view text, SplitText& out) const;
  template <bool Ranged>
  void split_ascii(std::string_view text, SplitText& out) const;
  template <bool Ranged>
  void split_unicode(std::string_view text, SplitText& out) const;
  /// Calls place(code point, its bytes in the text) for each character of the normalized text.
  template <bool Ranged, class Place>
  void normalize_into(std::string_view text, SplitText& scratch, const Place& place) const;

  BertCleaning cleaning_;
};

}  // namespace encore::wordpiece
