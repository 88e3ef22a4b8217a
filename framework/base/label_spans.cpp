// SPDX-License-Identifier: BSD-3-Clause
// Finds spans in the labels of single words (label_spans). The rules of starts and ends are those of the
// conlleval script (Tjong Kim Sang, CoNLL-2000) as seqeval 1.2 restates them; published scores depend on
// them. Read label_spans.hpp first.
#include "base/label_spans.hpp"

namespace encore {
namespace {

char mark_of(std::string_view tag) {
  return tag.empty() ? 'O' : tag[0];
}

bool ends(char previous, std::string_view previous_label, char mark, std::string_view label) {
  if (previous == 'O') return false;
  if (previous == 'E' || previous == 'S') return true;
  return mark == 'B' || mark == 'S' || mark == 'O' || previous_label != label;
}

bool starts(char previous, std::string_view previous_label, char mark, std::string_view label) {
  if (mark == 'O') return false;
  if (mark == 'B' || mark == 'S') return true;
  return previous == 'O' || previous == 'E' || previous == 'S' || previous_label != label;
}

}  // namespace

std::string_view label_of_tag(std::string_view tag) {
  if (mark_of(tag) == 'O') return {};
  const std::size_t hyphen = tag.find('-', 1);
  const std::string_view label = hyphen == std::string_view::npos ? tag.substr(1) : tag.substr(hyphen + 1);
  return label.empty() ? std::string_view("_") : label;
}

std::vector<LabelSpan> label_spans(std::span<const std::string> tags) {
  std::vector<LabelSpan> spans;
  char previous = 'O';
  std::string_view previous_label;
  std::int64_t begin = 0;
  const auto count = static_cast<std::int64_t>(tags.size());
  for (std::int64_t i = 0; i <= count; ++i) {
    const std::string_view tag = i < count ? std::string_view(tags[static_cast<std::size_t>(i)]) : "O";
    const char mark = mark_of(tag);
    const std::string_view label = label_of_tag(tag);
    if (ends(previous, previous_label, mark, label)) spans.push_back({std::string(previous_label), begin, i});
    if (starts(previous, previous_label, mark, label)) begin = i;
    previous = mark;
    previous_label = label;
  }
  return spans;
}

}  // namespace encore
