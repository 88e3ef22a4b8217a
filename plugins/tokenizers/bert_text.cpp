// See bert_text.hpp.
#include "bert_text.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <span>

#include <encore/error.hpp>

#include "bert_categories.hpp"

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

/// Calls visit(code point) for each character that cleaning keeps, with ' ' for white space and around
/// ideographs.
template <class Visit>
void clean(std::string_view text, Visit visit) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  auto left = static_cast<utf8proc_ssize_t>(text.size());
  while (left > 0) {
    utf8proc_int32_t c = -1;
    const utf8proc_ssize_t length = utf8proc_iterate(bytes, left, &c);
    const utf8proc_ssize_t step = length > 0 ? length : 1;
    bytes += step;
    left -= step;
    if (length <= 0 || in(removed, c)) continue;
    if (in(white_space, c)) {
      visit(' ');
    } else if (in(ideographs, c)) {
      visit(' ');
      visit(c);
      visit(' ');
    } else {
      visit(c);
    }
  }
}

/// Canonical decomposition with marks in canonical order.
void decompose(const std::string& text, std::vector<std::int32_t>& code_points) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto size = static_cast<utf8proc_ssize_t>(text.size());
  code_points.resize(text.size() + 16);
  while (true) {
    const auto room = static_cast<utf8proc_ssize_t>(code_points.size());
    const auto count = utf8proc_decompose(bytes, size, code_points.data(), room, UTF8PROC_DECOMPOSE);
    if (count < 0) throw Error(std::string("cannot decompose text: ") + utf8proc_errmsg(count));
    code_points.resize(static_cast<std::size_t>(count));
    if (count <= room) return;
  }
}

}  // namespace

void SplitText::clear() {
  text_.clear();
  words_.clear();
  open_ = 0;
}

void SplitText::end_word() {
  if (text_.size() > open_)
    words_.push_back({static_cast<std::uint32_t>(open_), static_cast<std::uint32_t>(text_.size())});
  open_ = text_.size();
}

void BertText::split(std::string_view text, SplitText& out) const {
  out.clear();
  if (is_ascii(text))
    split_ascii(text, out);
  else
    split_unicode(text, out);
  out.end_word();
}

void BertText::split_ascii(std::string_view text, SplitText& out) const {
  for (const char c : text) {
    if (is_ascii_letter_or_digit(c)) {
      out.text_ += lowercase_ && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      out.end_word();
    } else if (c > ' ' && c < 0x7F) {
      out.end_word();
      out.text_ += c;
      out.end_word();
    }
  }
}

void BertText::split_unicode(std::string_view text, SplitText& out) const {
  const auto place = [&](std::int32_t c) {
    if (c == ' ') {
      out.end_word();
    } else if (in(punctuation, c)) {
      out.end_word();
      append(out.text_, c);
      out.end_word();
    } else {
      append(out.text_, c);
    }
  };
  if (!lowercase_) {
    clean(text, place);
    return;
  }
  out.cleaned_.clear();
  clean(text, [&](std::int32_t c) { append(out.cleaned_, c); });
  decompose(out.cleaned_, out.code_points_);
  for (const std::int32_t c : out.code_points_)
    if (!in(nonspacing_marks, c)) place(utf8proc_tolower(c));
}

}  // namespace encore::wordpiece
