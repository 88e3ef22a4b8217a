// BertText: text to words as BERT's BasicTokenizer splits it. Characters are cleaned, ideographs stand alone;
// a lower-casing model decomposes (NFD), drops accents and lowers; then white space parts words and each
// punctuation mark is one. Place in the flow: wordpiece.cpp cuts the words that come out into pieces;
// wordpiece_trainer.cpp counts them.
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

  std::string text_;
  std::vector<Word> words_;
  std::size_t open_ = 0;  // where the word being written began
  std::vector<std::int32_t> code_points_;
  // With ranges only:
  std::vector<ByteRange> sources_;        // by byte of text_
  std::vector<ByteRange> point_sources_;  // by code point
};

class BertText {
 public:
  explicit BertText(bool lowercase) : lowercase_(lowercase) {}
  /// Bytes that are not UTF-8 are dropped, as U+FFFD is. `ranged`: SplitText::range is asked for.
  void split(std::string_view text, SplitText& out, bool ranged = false) const;

 private:
  template <bool Ranged>
  void split_into(std::string_view text, SplitText& out) const;
  template <bool Ranged>
  void split_ascii(std::string_view text, SplitText& out) const;
  template <bool Ranged>
  void split_unicode(std::string_view text, SplitText& out) const;

  bool lowercase_;
};

}  // namespace encore::wordpiece
