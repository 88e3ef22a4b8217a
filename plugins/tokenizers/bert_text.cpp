// SPDX-License-Identifier: BSD-3-Clause
// BertText: splits text into words as BERT does. ASCII takes a shorter path; other text is split by the
// properties of its code points. Both must give the same words. wordpiece.cpp and its trainer call it; a
// change of the words changes the tokens of trained models. Read bert_text.hpp first.
#include "bert_text.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <span>

#include <encore/error.hpp>

#include "bert_categories.hpp"
#include "canonical_order.hpp"
#include "code_points.hpp"
#include "lookalikes.hpp"

namespace encore::wordpiece {
namespace {

bool in(std::span<const CodePointRange> ranges, std::int32_t code_point) {
  const auto c = static_cast<std::uint32_t>(code_point);
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), c,
                       [](std::uint32_t value, const CodePointRange& range) { return value < range.first; });
  return after != ranges.begin() && c <= std::prev(after)->last;
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool is_ascii_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

void append(std::string& text, std::int32_t code_point) {
  utf8proc_uint8_t bytes[4];
  const auto length = utf8proc_encode_char(code_point, bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
}

/// Calls visit(code point, its bytes in the text) for each character that cleaning keeps: ' ' for white space
/// and, if ideographs are words, before and after each of them.
template <class Visit>
void clean(std::string_view text, bool separate_ideographs, Visit visit) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto size = static_cast<utf8proc_ssize_t>(text.size());
  utf8proc_ssize_t at = 0;
  while (at < size) {
    utf8proc_int32_t c = -1;
    const utf8proc_ssize_t length = utf8proc_iterate(bytes + at, size - at, &c);
    const ByteRange source{static_cast<std::size_t>(at),
                           static_cast<std::size_t>(at + (length > 0 ? length : 1))};
    at = static_cast<utf8proc_ssize_t>(source.end);
    if (length <= 0 || in(removed, c)) continue;
    if (in(white_space, c)) {
      visit(' ', source);
    } else if (separate_ideographs && in(ideographs, c)) {
      visit(' ', source);
      visit(c, source);
      visit(' ', source);
    } else {
      visit(c, source);
    }
  }
}

/// Appends the canonical decomposition of one character; the caller sorts the marks.
void decompose(std::int32_t c, std::vector<std::int32_t>& code_points) {
  utf8proc_int32_t points[32];  // Unicode needs at most 18
  int bound_class = 0;
  const auto count = utf8proc_decompose_char(c, points, 32, UTF8PROC_DECOMPOSE, &bound_class);
  if (count < 0) throw Error(std::string("cannot decompose text: ") + utf8proc_errmsg(count));
  code_points.insert(code_points.end(), points, points + count);
}

}  // namespace

void SplitText::clear() {
  text_.clear();
  words_.clear();
  open_ = 0;
  sources_.clear();
}

void SplitText::end_word() {
  if (text_.size() > open_)
    words_.push_back({static_cast<std::uint32_t>(open_), static_cast<std::uint32_t>(text_.size())});
  open_ = text_.size();
}

void BertText::split(std::string_view text, SplitText& out, bool ranged) const {
  if (ranged)
    split_into<true>(text, out);
  else
    split_into<false>(text, out);
}

template <bool Ranged>
void BertText::split_into(std::string_view text, SplitText& out) const {
  out.clear();
  if (is_ascii(text))
    split_ascii<Ranged>(text, out);
  else
    split_unicode<Ranged>(text, out);
  out.end_word();
}

template <bool Ranged>
void BertText::split_ascii(std::string_view text, SplitText& out) const {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (is_ascii_letter_or_digit(c)) {
      out.text_ += cleaning_.lowercase && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      out.end_word();
    } else if (c > ' ' && c < 0x7F) {
      out.end_word();
      out.text_ += c;
      out.end_word();
    }
    if constexpr (Ranged) out.sources_.resize(out.text_.size(), {at, at + 1});
  }
}

template <bool Ranged>
void SplitText::place(std::int32_t c, ByteRange source) {
  if (c == ' ') {
    end_word();
  } else if (in(punctuation, c)) {
    end_word();
    append(text_, c);
    end_word();
  } else {
    append(text_, c);
  }
  if constexpr (Ranged) sources_.resize(text_.size(), source);
}

template <bool Ranged>
void BertText::split_unicode(std::string_view text, SplitText& out) const {
  normalize_into<Ranged>(text, out, [&](std::int32_t c, ByteRange source) { out.place<Ranged>(c, source); });
}

template <bool Ranged, class Place>
void BertText::normalize_into(std::string_view text, SplitText& out, const Place& place) const {
  const bool parts = cleaning_.separate_ideographs;
  const auto place_lowered = [&](std::int32_t c, ByteRange source) {
    constexpr std::int32_t capital_i_with_dot = 0x130, dot_above = 0x307;
    if (cleaning_.fold_lookalikes) c = tokenizers::without_disguise(c);
    if (!cleaning_.lowercase) return place(c, source);
    if (c != capital_i_with_dot) return place(utf8proc_tolower(c), source);
    place('i', source);  // the only character whose lower case has two
    place(dot_above, source);
  };
  if (!cleaning_.strip_accents) {
    clean(text, parts, place_lowered);
    return;
  }
  out.code_points_.clear();
  out.point_sources_.clear();
  clean(text, parts, [&](std::int32_t c, ByteRange source) {
    decompose(c, out.code_points_);
    if constexpr (Ranged) out.point_sources_.resize(out.code_points_.size(), source);
  });
  tokenizers::order_marks(out.code_points_, [&](std::size_t begin, std::size_t end) {
    if constexpr (Ranged) {  // reordered marks come from all of their bytes
      const ByteRange all{out.point_sources_[begin].begin, out.point_sources_[end - 1].end};
      std::fill(out.point_sources_.begin() + static_cast<std::ptrdiff_t>(begin),
                out.point_sources_.begin() + static_cast<std::ptrdiff_t>(end), all);
    }
  });
  for (std::size_t i = 0; i < out.code_points_.size(); ++i) {
    const std::int32_t c = out.code_points_[i];
    const ByteRange source = Ranged ? out.point_sources_[i] : ByteRange{};
    if (!in(nonspacing_marks, c)) {
      place_lowered(c, source);
    } else if (Ranged && !out.sources_.empty() && out.sources_.back().end == source.begin) {
      out.sources_.back().end = source.end;  // a removed mark belongs to the letter before it
    }
  }
}

void BertText::normalize(std::string_view text, NormalizedText& out) const {
  SplitText scratch;
  out.text.clear();
  out.sources.clear();
  normalize_into<true>(text, scratch, [&](std::int32_t c, ByteRange source) {
    append(out.text, c);
    out.sources.resize(out.text.size(), source);
  });
}

void BertText::split_normalized(const NormalizedText& text, std::size_t begin, std::size_t end,
                                SplitText& out) const {
  out.clear();
  for (std::size_t at = begin; at < end;) {
    const tokenizers::CodePoint c = tokenizers::first_code_point(std::string_view(text.text).substr(at));
    out.place<true>(c.value, text.sources[at]);
    at += c.bytes;
  }
  out.end_word();
}

}  // namespace encore::wordpiece
