// SPDX-License-Identifier: BSD-3-Clause
// Finds the parts of a text that a translation must repeat unchanged: tags, placeholders, addresses and
// numbers. The step takes them out of a source (without_spans) and placing.hpp puts them into the
// translation. Pure functions. Answers of stored runs depend on the rules, so a change needs a new version of
// the step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace encore::translate_with_terms {

enum class SpanKind : std::uint8_t {
  opening,  ///< <b>
  closing,  ///< </b>
  empty,    ///< <br/>: a tag without content
  value,    ///< a placeholder, an address, or a number: it stands in place of words
};

struct Span {
  std::size_t begin = 0, end = 0;  ///< bytes of the text
  SpanKind kind = SpanKind::value;
  std::string name = {};  ///< of a tag

  bool is_tag() const { return kind != SpanKind::value; }
  std::string_view in(std::string_view text) const { return text.substr(begin, end - begin); }
};

/// Returns the spans of a text in UTF-8 in their order, none inside another:
///   tags            <b>, </b>, <br/>, <a href="...">
///   placeholders    {name}, {{name}}, ${name}, %s, %1$d, %(name)s, &amp;
///   addresses       http://..., https://..., ftp://..., www...., name@host.domain
///   numbers         digits with . , : / - between them, with a sign of a currency, % or # directly beside
///                   them; not those beside a letter, as in "3rd"
std::vector<Span> spans_in(std::string_view text);

/// A text without some of its spans.
struct Stripped {
  std::string text;
  std::vector<std::size_t> places;  ///< of each removed span the byte of `text` before which it stood
};
/// Removes the spans. Of blanks on both sides of a span one is removed too, and one between a removed value
/// and punctuation.
Stripped without_spans(std::string_view text, const std::vector<Span>& removed);

/// Returns how often the text has this span as a span of its own.
std::size_t count_span(std::string_view text, std::string_view span);

}  // namespace encore::translate_with_terms
