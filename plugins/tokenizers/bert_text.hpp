// BertText: text to words as BERT's BasicTokenizer splits it. Characters are cleaned, ideographs stand alone;
// a lower-casing model decomposes (NFD), drops accents and lowers, unless its options say otherwise; then
// white space parts words and each punctuation mark is one. Place in the flow: wordpiece.cpp cuts the words
// that come out into tokens; wordpiece_trainer.cpp counts them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <encore/tokenizer.hpp>

namespace encore::wordpiece {

/// Words of one text; reused from call to call so that splitting allocates nothing once it is warm.
class SplitText {
 public:
  std::size_t size() const { return words_.size(); }
  /// UTF-8, valid until the text is split into again.
  std::string_view word(std::size_t i) const {
    return std::string_view(text_).substr(words_[i].first, words_[i].last - words_[i].first);
  }
  /// Where the bytes [begin, end) of a word, whole characters, come from in the text that was split with
  /// ranges.
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
  /// One character of the normalized text.
  template <bool Ranged>
  void place(std::int32_t c, ByteRange source);

  std::string text_;
  std::vector<Word> words_;
  std::size_t open_ = 0;  // where the word being written began
  std::vector<std::int32_t> code_points_;
  // With ranges only:
  std::vector<ByteRange> sources_;        // by byte of text_
  std::vector<ByteRange> point_sources_;  // by code point
};

/// What a text goes through before it is split.
struct BertCleaning {
  bool lowercase = false;
  bool strip_accents = false;
  bool part_ideographs = true;
};

/// A text as it is before white space and punctuation part it, and where each of its bytes comes from.
struct NormalizedText {
  std::string text;
  std::vector<ByteRange> sources;
};

class BertText {
 public:
  explicit BertText(BertCleaning cleaning) : cleaning_(cleaning) {}
  /// Bytes that are not UTF-8 are dropped, as U+FFFD is. `ranged`: SplitText::range is asked for.
  void split(std::string_view text, SplitText& out, bool ranged = false) const;
  /// The two halves of `split`, with ranges: what is looked for in the normalized text stands between them.
  void normalize(std::string_view text, NormalizedText& out) const;
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
