// SPDX-License-Identifier: BSD-3-Clause
// Marked spans: two parts of a text between <e1> and </e1>, <e2> and </e2>, as in the data of SemEval 2010,
// task 8. Readers (tsv, jsonl) remove the marks from each text and fill the field `spans`; the task relation
// reads typed input the same way. Spans are ordered e1, e2, whatever their order in the text. The marks are a
// format of data files, so they must not change.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <encore/records.hpp>

#include "text_places.hpp"

namespace encore {

struct MarkedText {
  std::string text;             ///< without the marks
  std::vector<TextSpan> spans;  ///< e1 and e2, in code points of `text`
};

namespace detail {

inline constexpr std::array<const char*, 2> span_names = {"e1", "e2"};

/// A mark with which a text begins.
struct Mark {
  std::size_t span = 0;
  bool closes = false;
  std::string text = {};
};

inline std::optional<Mark> mark_at(std::string_view text) {
  for (std::size_t span = 0; span < span_names.size(); ++span)
    for (const bool closes : {false, true}) {
      Mark mark{span, closes, std::string(closes ? "</" : "<") + span_names[span] + ">"};
      if (text.starts_with(mark.text)) return mark;
    }
  return std::nullopt;
}

}  // namespace detail

/// Removes the marks from a text. Returns what is wrong with them, or "".
inline std::string take_marked(std::string_view marked, MarkedText& to) {
  constexpr std::string_view white_space = " \t\r\n\v\f";
  std::array<std::optional<std::size_t>, 2> begins, ends;  // positions in to.text, in bytes
  std::optional<std::size_t> open;
  to = {};
  while (!marked.empty()) {
    const std::optional<detail::Mark> mark = detail::mark_at(marked);
    if (!mark) {
      to.text += marked.front();
      marked.remove_prefix(1);
      continue;
    }
    marked.remove_prefix(mark->text.size());
    if (!mark->closes && begins[mark->span]) return mark->text + " occurs twice in the text";
    if (!mark->closes && open)
      return mark->text + " is within <" + detail::span_names[*open] + ">; the two spans must not overlap";
    if (mark->closes && open != mark->span)
      return open ? mark->text + " is within <" + detail::span_names[*open] +
                        ">; the two spans must not overlap"
                  : mark->text + " occurs without a " + "<" + detail::span_names[mark->span] + "> before it";
    (mark->closes ? ends : begins)[mark->span] = to.text.size();
    open = mark->closes ? std::nullopt : std::optional(mark->span);
  }
  for (std::size_t span = 0; span < begins.size(); ++span) {
    const std::string name = detail::span_names[span], opens = "<" + name + ">", closes = "</" + name + ">";
    if (!begins[span])
      return "the text has no " + opens + ": expected two spans, between <e1> and </e1>, <e2> and </e2>";
    if (!ends[span]) return opens + " is not closed by " + closes;
    std::string part = to.text.substr(*begins[span], *ends[span] - *begins[span]);
    if (part.find_first_not_of(white_space) == std::string::npos)
      return "nothing is between " + opens + " and " + closes;
    to.spans.push_back({.label = name,
                        .text = std::move(part),
                        .start = code_points_before(to.text, *begins[span]),
                        .end = code_points_before(to.text, *ends[span])});
  }
  return "";
}

/// Returns the text with marks that take_marked() reads. `spans` are those of the text.
inline std::string marked_text(const std::string& text, const std::vector<TextSpan>& spans) {
  struct Insertion {
    std::size_t at = 0;
    std::string mark;
  };
  std::vector<Insertion> insertions;
  for (const TextSpan& span : spans) {
    insertions.push_back(
        {byte_of_code_point(text, span.start).value_or(text.size()), "<" + span.label + ">"});
    insertions.push_back({byte_of_code_point(text, span.end).value_or(text.size()), "</" + span.label + ">"});
  }
  // If two spans touch, the end mark of the first comes before the begin mark of the second.
  std::stable_sort(insertions.begin(), insertions.end(), [](const Insertion& a, const Insertion& b) {
    return a.at != b.at ? a.at < b.at : a.mark.starts_with("</") && !b.mark.starts_with("</");
  });
  std::string marked;
  std::size_t done = 0;
  for (const Insertion& insertion : insertions) {
    marked += text.substr(done, insertion.at - done) + insertion.mark;
    done = insertion.at;
  }
  return marked + text.substr(done);
}

}  // namespace encore
