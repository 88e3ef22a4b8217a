// Spans of words from labels that stand one at each word: "B-PER I-PER O" is one span PER of two words. Place
// in the flow: reports draw them; what older versions predicted is counted by them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encore {

/// Words [begin, end) under one label.
struct LabelSpan {
  std::string label;
  std::int64_t begin = 0;
  std::int64_t end = 0;

  auto operator<=>(const LabelSpan&) const = default;
};

/// "PER" of "B-PER", split at the first hyphen only ("creative-work" is a label); "_" for a mark alone, empty
/// for O.
std::string_view label_of_tag(std::string_view tag);

/// In the order of the words, by the rules of the conlleval script (IOB1, IOB2 or BIOES; malformed tags too:
/// an I- after O or after another label starts a span).
std::vector<LabelSpan> label_spans(std::span<const std::string> tags);

}  // namespace encore
